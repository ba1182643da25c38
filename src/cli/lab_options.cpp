#include "cli/lab_options.h"

#include <algorithm>
#include <thread>

#include "base/percent.h"
#include "base/text.h"
#include "cli/model_options.h"
#include "cli/wanted.h"

namespace rubato::cli {
namespace {

constexpr double kMostNoise = 0.2;  // above it an observed time could turn negative

Result<double> parse_noise(const std::string& text) {
  if (const auto level = parse_share(text, kMostNoise)) return *level;
  return fail(ErrorCode::invalid_argument,
              cat("--noise ", text, " is no share between 0 and ", kMostNoise * 100, " %"),
              "write it as --noise 1%");
}

Result<bool> second_of(const std::string& option, const std::string& text, std::string_view first,
                       std::string_view second) {
  if (text == first) return false;
  if (text == second) return true;
  return fail(ErrorCode::invalid_argument,
              cat(option, " is '", text, "' and must be ", first, " or ", second), cat(option, " ", first));
}

}  // namespace

Result<LabWanted> parse_lab(const LabText& text) {
  LabWanted out;
  if (text.table.empty() == text.suite.empty())
    return fail(ErrorCode::invalid_argument, "one of --table and --suite says what is run",
                "rubato lab suites lists the suites there are");

  auto knobs = parse_knobs(text.knobs);
  if (!knobs) return fail(knobs.error());
  out.truth.knobs = std::move(*knobs);
  const auto on_table = second_of("--resolution", text.resolution, "hardware", "table");
  if (!on_table) return fail(on_table.error());
  out.truth.resolution = *on_table ? lab::Resolution::table : lab::Resolution::hardware;
  const auto raw = second_of("--truth", text.truth, "denoised", "raw");
  if (!raw) return fail(raw.error());
  out.truth.truth = *raw ? lab::TruthKind::raw : lab::TruthKind::denoised;
  if (text.iteration_s) {
    if (!(*text.iteration_s > 0 && *text.iteration_s < 1e6))
      return fail(ErrorCode::invalid_argument,
                  cat("--iteration-seconds ", *text.iteration_s, " is no length of an iteration"),
                  "write it in seconds, as in --iteration-seconds 0.3");
    out.truth.iteration = Seconds(*text.iteration_s);
  }
  auto& campaign = out.campaign;
  campaign.strategies = text.strategies;
  const auto bound = parse_max_slowdown(text.max_slowdown);
  if (!bound) return fail(bound.error());
  campaign.goal.max_slowdown = bound->value_or(campaign.goal.max_slowdown);
  const auto watts = [](std::string_view option, double value) -> Result<Watts> {
    if (value >= 0 && value < 1e6) return Watts(value);
    return fail(ErrorCode::invalid_argument, cat(option, " ", value, " is no power"),
                cat("write it in watts, as in ", option, " 300"));
  };
  if (text.host_watts) {
    const auto host = watts("--host-watts", *text.host_watts);
    if (!host) return fail(host.error());
    campaign.goal.host_watts = *host;
  }
  if (text.second_watts) {
    const auto second = watts("--second-watts", *text.second_watts);
    if (!second) return fail(second.error());
    campaign.goal.second = *second;
  }
  const auto model = lab::parse_noise_model(text.noise_model);
  if (!model) return fail(model.error());
  const auto level = parse_noise(text.noise);
  if (!level) return fail(level.error());
  campaign.noise = {*model, *level};
  campaign.iterations = text.iterations;
  campaign.seed = text.seed;
  campaign.seeds = text.seeds;
  campaign.threads = text.threads > 0 ? text.threads : std::max(1U, std::thread::hardware_concurrency());
  return out;
}

}  // namespace rubato::cli
