#include "conduct/run_space.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "base/text.h"

namespace rubato::conduct {
namespace {

using Gpus = std::vector<std::unique_ptr<device::Gpu>>;
using Values = std::vector<double>;

std::string title(const device::Gpu& gpu) {
  return cat(gpu.identity().id.uuid, " (", gpu.identity().name, ")");
}

/// Why this GPU's knob is left out; permission: whether a right is all that is missing.
struct Objection {
  std::string why;
  bool permission = false;
};

std::optional<Objection> objection(device::Gpu& gpu, Knob knob, bool more_rights) {
  const Capabilities& all = gpu.capabilities();
  const Capability* can = nullptr;
  if (knob == Knob::power_limit) can = &all.set_power_limit;
  if (knob == Knob::sm_clock) can = &all.set_sm_clock;
  if (knob == Knob::memory_clock) can = &all.set_memory_clock;
  if (can == nullptr) return Objection{"rubato does not search it", false};
  if (can->available || (can->needs_right && more_rights)) return std::nullopt;
  return Objection{can->why_not, can->needs_right};
}

Result<Values> limits(const Gpus& gpus) {
  double low = 0;
  double high = INFINITY;
  for (const auto& gpu : gpus) {
    const auto limits = gpu->power_limits();
    if (!limits) return fail(limits.error());
    low = std::max(low, limits->min.value());
    high = std::min(high, limits->requested.value());
  }
  Values out;
  const double first = std::ceil(low - 1e-9);
  for (int i = 0; first + i <= high + 1e-9; ++i) out.push_back(first + i);
  return out;
}

const std::vector<Megahertz>& sm_beside_fastest_memory(const device::ClockTable& table) {
  const auto fastest = std::max_element(
      table.pairs.begin(), table.pairs.end(),
      [](const device::LegalClocks& a, const device::LegalClocks& b) { return a.memory < b.memory; });
  return fastest == table.pairs.end() || fastest->sm.empty() ? table.sm : fastest->sm;
}

Result<Values> clocks(const Gpus& gpus, Knob knob) {
  std::set<double> common;
  bool first = true;
  for (const auto& gpu : gpus) {
    const auto table = gpu->supported_clocks();
    if (!table) return fail(table.error());
    std::set<double> here;
    for (const Megahertz clock : knob == Knob::sm_clock ? sm_beside_fastest_memory(*table) : table->memory)
      if (first || common.contains(clock.value())) here.insert(clock.value());
    common = std::move(here);
    first = false;
  }
  return Values(common.begin(), common.end());
}

/// Adds the axis, or the note that says why not.
class Builder {
 public:
  Builder(const Gpus& gpus, bool more_rights) : gpus_(gpus), more_rights_(more_rights) {}

  bool add(Knob knob) {
    for (const auto& gpu : gpus_) {
      if (const auto no = objection(*gpu, knob, more_rights_)) {
        permission_ = permission_ || no->permission;
        return leave_out(knob, cat(title(*gpu), ": ", no->why));
      }
    }
    auto values = knob == Knob::power_limit ? limits(gpus_) : clocks(gpus_, knob);
    if (!values) return leave_out(knob, values.error().what);
    if (values->size() < 2)
      return leave_out(
          knob, cat(gpus_.size() == 1 ? title(*gpus_.front()) : std::string("these GPUs together"), " ",
                    values->empty() ? "accepts no value" : "accepts one value only"));
    out_.space.axes.push_back({knob, std::move(*values)});
    out_.knobs.push_back(knob);
    return true;
  }

  [[nodiscard]] bool permission() const { return permission_; }
  RunSpace take() { return std::move(out_); }

 private:
  bool leave_out(Knob knob, const std::string& why) {
    out_.notes.push_back(cat("the ", name_of(knob), " is left out: ", why));
    return false;
  }

  const Gpus& gpus_;
  bool more_rights_;
  bool permission_ = false;
  RunSpace out_;
};

/// Of the axes alone: what is not searched is not moved either.
void place_ends(RunSpace& out, const Gpus& gpus, const SpaceWish& wish) {
  predict::KnobPoint& found = out.space.found;
  for (const plan::KnobAxis& axis : out.space.axes) {
    const double highest = axis.values.back();
    if (axis.knob == Knob::power_limit) out.space.highest.power_limit = Watts(highest);
    if (axis.knob == Knob::sm_clock) out.space.highest.sm_clock = Megahertz(highest);
    if (axis.knob == Knob::memory_clock) out.space.highest.memory_clock = Megahertz(highest);
    if (axis.knob == Knob::sm_clock && wish.found_sm_clock) found.sm_clock = wish.found_sm_clock->max;
    if (axis.knob != Knob::power_limit) continue;
    for (const auto& gpu : gpus)
      if (const auto limits = gpu->power_limits())
        found.power_limit = std::min(found.power_limit.value_or(limits->requested), limits->requested);
  }
}

std::string joined(const std::vector<std::string>& parts, std::string_view between) {
  std::string out;
  for (const auto& part : parts) out += cat(out.empty() ? "" : between, part);
  return out;
}

}  // namespace

Result<RunSpace> run_space(const Gpus& gpus, const SpaceWish& wish) {
  if (gpus.empty()) return fail(ErrorCode::not_found, "there is no GPU to set");
  Builder builder(gpus, wish.more_rights_than_us);
  if (!wish.knobs.empty()) {
    for (const Knob knob : {Knob::power_limit, Knob::sm_clock, Knob::memory_clock})
      if (std::find(wish.knobs.begin(), wish.knobs.end(), knob) != wish.knobs.end()) builder.add(knob);
  } else if (gpus.size() == 1 && !wish.in_step) {
    builder.add(Knob::power_limit);
    builder.add(Knob::sm_clock);
  } else if (!builder.add(Knob::sm_clock)) {
    builder.add(Knob::power_limit);
  }
  const bool permission = builder.permission();
  RunSpace out = builder.take();
  if (out.space.axes.empty())
    return fail(permission ? ErrorCode::no_permission : ErrorCode::not_supported,
                cat("there is nothing to choose: ", joined(out.notes, "; ")),
                permission ? "`rubato doctor` says how to get the right"
                           : "`rubato devices` shows what these GPUs can do");
  out.space.gpu = gpus.front()->identity().name;
  place_ends(out, gpus, wish);
  return out;
}

plan::KnobSpace without_clocks(plan::KnobSpace space) {
  std::erase_if(space.axes, [](const plan::KnobAxis& axis) { return axis.knob != Knob::power_limit; });
  for (predict::KnobPoint* point : {&space.found, &space.highest}) {
    point->sm_clock.reset();
    point->memory_clock.reset();
  }
  return space;
}

std::string describe(const plan::KnobSpace& space) {
  std::vector<std::string> parts;
  for (const plan::KnobAxis& axis : space.axes) {
    const std::string_view what = axis.knob == Knob::power_limit ? "a power limit of "
                                  : axis.knob == Knob::sm_clock  ? "an SM clock of "
                                                                 : "a memory clock of ";
    parts.push_back(cat(what, number(axis.values.front(), 1), " to ", number(axis.values.back(), 1),
                        axis.knob == Knob::power_limit ? " W" : " MHz", " (", axis.values.size(),
                        " values)"));
  }
  return joined(parts, " and ");
}

}  // namespace rubato::conduct
