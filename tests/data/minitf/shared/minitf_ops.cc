// An op of our own, compiled against the headers of the released wheel.
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

extern "C" int minitf_answer();

REGISTER_OP("MinitfAnswer")
    .Output("answer: int32")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* c) {
      c->set_output(0, c->Scalar());
      return tensorflow::Status();
    });

class MinitfAnswerOp : public tensorflow::OpKernel {
 public:
  explicit MinitfAnswerOp(tensorflow::OpKernelConstruction* context)
      : tensorflow::OpKernel(context) {}

  void Compute(tensorflow::OpKernelContext* context) override {
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, tensorflow::TensorShape({}), &output));
    output->scalar<tensorflow::int32>()() = minitf_answer();
  }
};

REGISTER_KERNEL_BUILDER(Name("MinitfAnswer").Device(tensorflow::DEVICE_CPU), MinitfAnswerOp);
