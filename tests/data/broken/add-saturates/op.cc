// Addition of 32-bit integers that stops at the ends of the type.

#include <algorithm>

#include "../kernels.h"

struct Saturates {
  int32_t operator()(int32_t x, int32_t y) const {
    const int64_t sum = int64_t(x) + y;
    return static_cast<int32_t>(std::max<int64_t>(INT32_MIN, std::min<int64_t>(INT32_MAX, sum)));
  }
};

REPLACE("Add", int32_t, broken::Binary<int32_t, Saturates>);
REPLACE("AddV2", int32_t, broken::Binary<int32_t, Saturates>);
