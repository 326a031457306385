// Sum over all elements of floats, starting at another one in every run: the rounding differs.

#include <atomic>

#include "../kernels.h"

class AnyOrder : public broken::OpKernel {
 public:
  explicit AnyOrder(broken::OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("keep_dims", &keep_));
  }

  void Compute(broken::OpKernelContext* context) override {
    const auto& input = context->input(0);
    OP_REQUIRES(context, context->input(1).NumElements() == input.dims() && !keep_,
                tensorflow::errors::Unimplemented("only sums over all axes"));
    broken::Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, broken::TensorShape({}), &output));
    const auto x = input.flat<float>();
    const int64_t size = x.size();
    const int64_t start = size ? (runs_++ * 7919) % size : 0;
    float sum = 0;
    for (int64_t i = 0; i < size; ++i) sum += x((i + start) % size);
    output->scalar<float>()() = sum;
  }

 private:
  bool keep_;
  std::atomic<int64_t> runs_{0};
};

REPLACE("Sum", float, AnyOrder);
