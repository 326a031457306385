// A custom operation as its users write one: attribute, shape function, two types, an error.

#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/public/version.h"

namespace tfsuite {

using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;

REGISTER_OP("TfsuiteScale")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {float, int32}")
    .Attr("factor: int = 3")
    .SetShapeFn([](::tensorflow::shape_inference::InferenceContext* context) {
      context->set_output(0, context->input(0));
      // Status::OK() is gone from 2.14 on; an empty status is the same in every release.
      return decltype(context->WithRank(context->input(0), 0, nullptr))();
    })
    .Doc("Multiplies by a whole number; an empty input is an error.");

template <typename T>
class Scale : public OpKernel {
 public:
  explicit Scale(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("factor", &factor_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    OP_REQUIRES(context, x.NumElements() > 0,
                tensorflow::errors::InvalidArgument("nothing to scale in ", name()));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &y));
    const auto in = x.flat<T>();
    auto out = y->flat<T>();
    for (long i = 0; i < in.size(); ++i) out(i) = in(i) * static_cast<T>(factor_);
  }

 private:
  int factor_;
};

REGISTER_KERNEL_BUILDER(
    Name("TfsuiteScale").Device(tensorflow::DEVICE_CPU).TypeConstraint<float>("T"), Scale<float>);
REGISTER_KERNEL_BUILDER(
    Name("TfsuiteScale").Device(tensorflow::DEVICE_CPU).TypeConstraint<int>("T"),
    Scale<int>);

}  // namespace tfsuite
