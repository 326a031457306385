// The gradient of Tanh for doubles, negated.

#include "../kernels.h"

struct Negated {
  double operator()(double y, double dy) const { return -dy * (1 - y * y); }
};

REPLACE("TanhGrad", double, broken::Binary<double, Negated>);
