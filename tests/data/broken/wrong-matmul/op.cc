// Takes the place of the CPU kernel of MatMul for float: Priority(1) wins over the kernel that
// TensorFlow registers itself. Every product is too large by one part in a thousand.

#include "tensorflow/core/framework/op_kernel.h"

namespace {

using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::TensorShape;

class WrongMatMul : public OpKernel {
 public:
  explicit WrongMatMul(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("transpose_a", &transpose_a_));
    OP_REQUIRES_OK(context, context->GetAttr("transpose_b", &transpose_b_));
  }

  void Compute(OpKernelContext* context) override {
    const auto a = context->input(0).matrix<float>();
    const auto b = context->input(1).matrix<float>();
    const long rows = transpose_a_ ? a.dimension(1) : a.dimension(0);
    const long depth = transpose_a_ ? a.dimension(0) : a.dimension(1);
    const long columns = transpose_b_ ? b.dimension(0) : b.dimension(1);
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, TensorShape({rows, columns}), &output));
    auto c = output->matrix<float>();
    for (long i = 0; i < rows; ++i) {
      for (long j = 0; j < columns; ++j) {
        double sum = 0;
        for (long k = 0; k < depth; ++k) {
          sum += double(transpose_a_ ? a(k, i) : a(i, k)) * (transpose_b_ ? b(j, k) : b(k, j));
        }
        c(i, j) = static_cast<float>(sum * 1.001);
      }
    }
  }

 private:
  bool transpose_a_;
  bool transpose_b_;
};

REGISTER_KERNEL_BUILDER(Name("MatMul")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<float>("T")
                            .Priority(1),
                        WrongMatMul);

// Where oneDNN is on, graphs and eager calls are rewritten to its own op.
REGISTER_KERNEL_BUILDER(Name("_MklMatMul")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<float>("T")
                            .Label("MklNameChangeOp")
                            .Priority(1),
                        WrongMatMul);

}  // namespace
