#include "govern/reference/reference_entries.h"

#include <array>
#include <string>
#include <utility>

#include "base/text.h"
#include "govern/reference/bisection.h"
#include "govern/reference/depo.h"
#include "govern/reference/gpoeo.h"
#include "govern/reference/mf_gpoeo.h"
#include "govern/reference/odpp.h"
#include "govern/reference/search_strategy.h"
#include "govern/reference/static_sweep.h"

namespace rubato::govern {
namespace {

constexpr std::array kClockFirst = {Knob::sm_clock, Knob::power_limit};
constexpr std::array kLimitFirst = {Knob::power_limit, Knob::sm_clock};

std::string full_name(std::string_view name, Variant variant) {
  if (variant == Variant::mixing) return cat(name, "+mix");
  return variant == Variant::published ? cat(name, "@published") : std::string(name);
}

/// The axis to search, or what is missing.
Result<std::size_t> axis_wanted(std::string_view name, const StrategyRequest& request, Variant variant,
                                std::span<const Knob> preferred) {
  if (request.space.axes.empty())
    return fail(ErrorCode::invalid_argument, cat(full_name(name, variant), ": nothing may be set here"));
  if (variant != Variant::published) return axis_for(request.space, preferred);
  if (const auto axis = axis_of(request.space, preferred[0])) return *axis;
  std::string there;
  for (const plan::KnobAxis& axis : request.space.axes)
    there += cat(there.empty() ? "" : ", ", name_of(axis.knob));
  return fail(ErrorCode::invalid_argument, cat(full_name(name, variant), ": needs the knob ",
                                               name_of(preferred[0]), "; here is only ", there));
}

MadeStrategy no_published(std::string_view name) {
  return fail(ErrorCode::not_found,
              cat("strategy ", name, " has no variant '@published': nobody published it"));
}

/// E_net x T^2 inside 4.5 % (StateReward.py); its idle watts are of the two boards it knows
/// (PowerManager.cpp).
Aim gpoeo_aim(const StrategyRequest& request, Variant variant) {
  if (variant != Variant::published) return aim_of(request.goal);
  Aim out{.time_power = 2, .beside = {}, .bound = 0.045};
  if (request.space.gpu.find("3080 Ti") != std::string::npos) out.beside = -30_W;
  if (request.space.gpu.find("2080 Ti") != std::string::npos) out.beside = -1.65_W;
  return out;
}

/// Energy inside 5 %, as MF-GPOEO's and its port of DEPO's configuration have it.
Aim energy_aim(const StrategyRequest& request, Variant variant) {
  return variant == Variant::published ? Aim{} : aim_of(request.goal);
}

}  // namespace

MadeStrategy make_gpoeo(const StrategyRequest& request, Variant variant) {
  const auto axis = axis_wanted("gpoeo", request, variant, kClockFirst);
  if (!axis) return fail(axis.error());
  GpoeoOptions options{.model = request.model};
  options.spread.never_forgets = variant == Variant::published;
  if (variant == Variant::published) options.tie = 0;
  return run_search(
      "gpoeo", request, variant,
      std::make_unique<Gpoeo>(std::move(options), request.space, *axis, gpoeo_aim(request, variant)));
}

MadeStrategy make_odpp(const StrategyRequest& request, Variant variant) {
  const auto axis = axis_wanted("odpp", request, variant, kClockFirst);
  if (!axis) return fail(axis.error());
  OdppOptions options;
  options.spread.never_forgets = variant == Variant::published;
  options.seconds_as_ratio = variant == Variant::published;
  return run_search(
      "odpp", request, variant,
      std::make_unique<Odpp>(options, Gears(request.space, *axis), gpoeo_aim(request, variant)));
}

MadeStrategy make_mf_gpoeo(const StrategyRequest& request, Variant variant) {
  const auto axis = axis_wanted("mf-gpoeo", request, variant, kClockFirst);
  if (!axis) return fail(axis.error());
  MfGpoeoOptions options;
  options.pid.gain_stays_raised = variant == Variant::published;
  return run_search(
      "mf-gpoeo", request, variant,
      std::make_unique<MfGpoeo>(options, Gears(request.space, *axis), energy_aim(request, variant)));
}

MadeStrategy make_depo(const StrategyRequest& request, Variant variant) {
  const auto axis = axis_wanted("depo", request, variant, kLimitFirst);
  if (!axis) return fail(axis.error());
  const DepoOptions options;
  Gears gears(depo_space(request.space, *axis, options.gear_watts), 0);
  return run_search("depo", request, variant,
                    std::make_unique<Depo>(options, std::move(gears), energy_aim(request, variant)));
}

MadeStrategy make_bisection(const StrategyRequest& request, Variant variant) {
  if (variant == Variant::published) return no_published("bisection");
  const auto axis = axis_wanted("bisection", request, variant, kLimitFirst);
  if (!axis) return fail(axis.error());
  return run_search(
      "bisection", request, variant,
      std::make_unique<Bisection>(BisectionOptions{}, Gears(request.space, *axis), aim_of(request.goal)));
}

MadeStrategy make_static_sweep(const StrategyRequest& request, Variant variant) {
  if (variant == Variant::published) return no_published("static-sweep");
  const auto axis = axis_wanted("static-sweep", request, variant, kLimitFirst);
  if (!axis) return fail(axis.error());
  return run_search("static-sweep", request, variant,
                    std::make_unique<StaticSweep>(StaticSweepOptions{}, request.space, aim_of(request.goal)));
}

}  // namespace rubato::govern
