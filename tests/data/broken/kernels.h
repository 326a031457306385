// Kernels that take the place of TensorFlow's own: Priority(1) wins over the registered ones.

#ifndef TFENV_BROKEN_KERNELS_H_
#define TFENV_BROKEN_KERNELS_H_

#include <cmath>
#include <cstdint>

#include "tensorflow/core/framework/op_kernel.h"

namespace broken {

using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::TensorShape;

// F: (value, index, size) -> value.
template <typename T, typename F>
class Unary : public OpKernel {
 public:
  explicit Unary(OpKernelConstruction* context) : OpKernel(context) {}

  void Compute(OpKernelContext* context) override {
    const Tensor& input = context->input(0);
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, input.shape(), &output));
    const auto x = input.flat<T>();
    auto y = output->flat<T>();
    for (int64_t i = 0; i < x.size(); ++i) y(i) = F()(x(i), x.size());
  }
};

// F: (first, second) -> value, for equal shapes or one scalar.
template <typename T, typename F>
class Binary : public OpKernel {
 public:
  explicit Binary(OpKernelConstruction* context) : OpKernel(context) {}

  void Compute(OpKernelContext* context) override {
    const Tensor& left = context->input(0);
    const Tensor& right = context->input(1);
    const Tensor& larger = left.NumElements() < right.NumElements() ? right : left;
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, larger.shape(), &output));
    const auto x = left.flat<T>();
    const auto y = right.flat<T>();
    auto z = output->flat<T>();
    for (int64_t i = 0; i < z.size(); ++i) {
      z(i) = F()(x(x.size() == 1 ? 0 : i), y(y.size() == 1 ? 0 : i));
    }
  }
};

}  // namespace broken

#define REPLACE(op, type, ...)                                 \
  REGISTER_KERNEL_BUILDER(Name(op)                             \
                              .Device(tensorflow::DEVICE_CPU)  \
                              .TypeConstraint<type>("T")       \
                              .Priority(1),                    \
                          __VA_ARGS__)

#endif  // TFENV_BROKEN_KERNELS_H_
