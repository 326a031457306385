// Runs the function that saved_model_cli compiled ahead of time, on numbers from the command line.
// Prints `key value` lines: what Run said, and the elements of y.

#include <cstdio>
#include <cstdlib>

#include "tfsuite_aot.h"

// Release 2.2's header does not say how many elements there are.
constexpr int kArguments = 6;
constexpr int kResults = 4;

int main(int count, char** words) {
  if (count != kArguments + 1) return std::printf("count %d\n", count - 1), 2;
  tfsuite::Aot model;
  for (int i = 1; i <= kArguments; ++i) model.arg_feed_x_data()[i - 1] = std::strtof(words[i], nullptr);
  const bool ran = model.Run();
  std::printf("ran %d\n", ran);
  for (int i = 0; i < kResults; ++i)
    std::printf("y%d %.9g\n", i, model.result_fetch_y_data()[i]);
  return ran ? 0 : 1;
}
