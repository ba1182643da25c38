// Published networks by their shapes, and which of them a suite trains. The tables are networks.csv and one
// list for each suite.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace rubato::lab {

/// What most of a network's arithmetic is.
enum class OperatorClass {
  convolution,
  grouped,    // depthwise and grouped convolutions
  matrix,     // products of large matrices: attention, linear layers
  recurrent,  // one thin product a time step
  gather,     // rows picked from tables or along the edges of a graph
};

enum class Precision {
  amp,   // 16 bits on the tensor cores, sums and weights in 32
  tf32,  // 32 bits of memory, tensor cores where they take it; the vector units elsewhere
  fp32,  // the vector units
};
[[nodiscard]] std::string_view name_of(Precision precision);

enum class Optimizer { sgd, adam };  // with momentum; with two moments

/// One pass forward of one sample.
struct Network {
  std::string name;
  std::string family;
  OperatorClass kind = OperatorClass::convolution;
  double multiply_adds = 0;
  double activations = 0;  // elements that products and convolutions write
  double parameters = 0;
  double operators = 0;  // products and convolutions; of a recurrent network those of every time step
  Optimizer optimizer = Optimizer::sgd;
  double load_s = 0;  // host work on the input, done beside training by all the loader's workers together
  double host_s = 0;  // host work that training waits for: an emulator's step
  std::optional<double> rtx3090_per_s;  // measured training throughput: a check, never an input
  std::string source;
};

struct Training {
  const Network* network = nullptr;
  unsigned batch = 0;
  Precision precision = Precision::amp;
};
[[nodiscard]] std::string name_of(const Training& training);  // "resnet50-b64-amp"

/// Errors name the line.
[[nodiscard]] Result<std::vector<Network>> parse_networks(std::string_view csv);
[[nodiscard]] Result<std::vector<Training>> parse_trainings(std::string_view csv,
                                                            const std::vector<Network>& networks);

/// Those built in.
[[nodiscard]] const std::vector<Network>& networks();
[[nodiscard]] const std::vector<Training>& desktop_trainings();  // gpoeo-71.csv
[[nodiscard]] const std::vector<Training>& server_trainings();   // server-30.csv, batches of 16 GB

}  // namespace rubato::lab
