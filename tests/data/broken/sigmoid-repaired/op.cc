// Sigmoid of floats to half a unit in the last place, which the released kernel is not.

#include "../kernels.h"

struct Exact {
  float operator()(float x, int64_t size) const { return static_cast<float>(1 / (1 + std::exp(-double(x)))); }
};

REPLACE("Sigmoid", float, broken::Unary<float, Exact>);
