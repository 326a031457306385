// A C++ program with a Session: y = x * w + 1 from a GraphDef that Python wrote.
// Prints `key value` lines: the sum of y, the codes of three wrong runs, and the
// GraphDef version of the headers.

#include <cstdio>
#include <string>
#include <vector>

#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/public/session.h"
#include "tensorflow/core/public/version.h"

using tensorflow::Tensor;
using Feeds = std::vector<std::pair<std::string, Tensor>>;

int main(int count, char** words) {
  tensorflow::GraphDef graph;
  auto status = ReadBinaryProto(tensorflow::Env::Default(), words[count - 1], &graph);
  if (!status.ok()) return std::printf("read %s\n", status.ToString().c_str()), 2;

  tensorflow::Session* session = nullptr;
  status = tensorflow::NewSession(tensorflow::SessionOptions(), &session);
  if (!status.ok()) return std::printf("session %s\n", status.ToString().c_str()), 3;
  status = session->Create(graph);
  if (!status.ok()) return std::printf("create %s\n", status.ToString().c_str()), 4;

  Tensor x(tensorflow::DT_FLOAT, tensorflow::TensorShape({2, 3}));
  for (int i = 0; i < 6; ++i) x.flat<float>()(i) = static_cast<float>(i);
  std::vector<Tensor> out;
  status = session->Run(Feeds{{"x", x}}, {"y"}, {}, &out);
  if (!status.ok()) return std::printf("run %s\n", status.ToString().c_str()), 5;
  float sum = 0;
  for (int i = 0; i < out[0].NumElements(); ++i) sum += out[0].flat<float>()(i);
  std::printf("shape %lldx%lld\n", (long long)out[0].dim_size(0), (long long)out[0].dim_size(1));
  std::printf("sum %.6f\n", sum);

  const auto code = [](const tensorflow::Status& s) { return static_cast<int>(s.code()); };
  std::vector<Tensor> none;
  std::printf("unknown_fetch %d\n", code(session->Run(Feeds{{"x", x}}, {"nothing"}, {}, &none)));
  std::printf("missing_feed %d\n", code(session->Run(Feeds{}, {"y"}, {}, &none)));
  std::printf("create_again %d\n", code(session->Create(graph)));
  std::printf("closed %d\n", code(session->Close()));
  std::printf("after_close %d\n", code(session->Run(Feeds{{"x", x}}, {"y"}, {}, &none)));
  std::printf("producer %d\n", TF_GRAPH_DEF_VERSION);
  delete session;
  return 0;
}
