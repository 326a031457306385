// Tanh of floats that is wrong by 1e-3 when the number of elements is odd.

#include "../kernels.h"

struct OddSizes {
  float operator()(float x, int64_t size) const { return static_cast<float>(std::tanh(double(x)) * (size % 2 ? 1.001 : 1.0)); }
};

REPLACE("Tanh", float, broken::Unary<float, OddSizes>);
