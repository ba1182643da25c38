// The text that `rubato doctor --request` prints: what a user who may not set GPUs can mail to whoever runs
// the machine.
#pragma once

#include <string>
#include <vector>

#include "cli/place.h"

namespace rubato::cli {

struct RequestFacts {
  std::string host;
  std::string user;
  std::vector<std::string> gpus;  // names, one for each kind: "8 x Tesla V100-SXM2-32GB"
  std::string driver_version;     // empty: no driver answered
};

/// Ready to be mailed; for Right::here a line that says that nothing has to be asked for.
[[nodiscard]] std::string request_text(const Place& place, const RequestFacts& facts);

}  // namespace rubato::cli
