// What the subcommands of `rubato model` share on the command line.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "predict/curve.h"

namespace rubato::cli {

/// Names of knobs without repeats, in the order typed.
[[nodiscard]] Result<std::vector<Knob>> parse_knobs(const std::vector<std::string>& names);
/// "power-limit=150,sm-clock=1200,time=12.5,power=140": a measured setting; W, MHz, s, W.
[[nodiscard]] Result<predict::Observed> parse_probe(const std::string& text);
/// "dram_active=0.4"
[[nodiscard]] Result<std::pair<std::string, double>> parse_feature(const std::string& text);
[[nodiscard]] Result<double> parse_positive(const std::string& option, const std::string& text);

}  // namespace rubato::cli
