#include "cli/sweep_facts.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_figures.h"
#include "base/text.h"
#include "cli/gpus.h"
#include "cli/guarding.h"
#include "conduct/patience.h"

namespace rubato::cli {
namespace {

using nlohmann::json;

predict::KnobPoint point_of(const Setting& setting) {
  predict::KnobPoint point;
  point.power_limit = setting.power_limit;
  if (setting.sm_clock) point.sm_clock = setting.sm_clock->max;
  if (setting.memory_clock) point.memory_clock = setting.memory_clock->max;
  return point;
}

std::string names_of(const std::vector<std::unique_ptr<device::Gpu>>& gpus) {
  std::vector<std::pair<std::string, int>> counted;
  for (const auto& gpu : gpus) {
    const std::string& name = gpu->identity().name;
    const auto known =
        std::find_if(counted.begin(), counted.end(), [&](const auto& c) { return c.first == name; });
    if (known == counted.end())
      counted.emplace_back(name, 1);
    else
      ++known->second;
  }
  std::string out;
  for (const auto& [name, count] : counted)
    out += cat(out.empty() ? "" : " + ", count > 1 ? cat(count, " x ") : std::string(), name);
  return out;
}

/// Requested, not enforced: what somebody set, and what is put back after each run.
void read_found(const std::vector<std::unique_ptr<device::Gpu>>& gpus, bool simulated, SweepFacts& facts) {
  constexpr int kMilliwatts = 3;  // the driver's own unit: every limit is written whole
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const GpuIdentity& identity = gpus[i]->identity();
    const std::string gpu =
        cat("GPU ", i, " (", identity.name, simulated ? "" : ", ", simulated ? "" : identity.id.uuid, ")");
    if (const auto limits = gpus[i]->power_limits())
      facts.found[cat("power limit of ", gpu)] = cat(number(limits->requested.value(), kMilliwatts), " W");
    if (const auto clocks = gpus[i]->application_clocks())
      facts.found[cat("application clocks of ", gpu)] =
          cat(clocks->requested.memory, " memory, ", clocks->requested.sm, " SM");
  }
}

void read_limits(const std::vector<std::unique_ptr<device::Gpu>>& gpus, SweepFacts& facts) {
  bool same = true;
  for (const auto& gpu : gpus) {
    if (const auto limits = gpu->power_limits()) {
      same = same && (!facts.found_limit || *facts.found_limit == limits->requested);
      facts.found_limit = limits->requested;
    }
    if (const auto clocks = gpu->supported_clocks(); clocks && !clocks->sm.empty())
      facts.highest_sm_clock = clocks->sm.back();
  }
  if (!same) facts.found_limit.reset();
}

void add(SweepFacts& facts, const predict::KnobPoint& point) {
  if (facts.found_limit && point == predict::KnobPoint{.power_limit = facts.found_limit}) {
    facts.notes.push_back(
        cat(*facts.found_limit, " is the limit that was found: the control runs are at it"));
    return;
  }
  if (std::find(facts.points.begin(), facts.points.end(), point) == facts.points.end())
    facts.points.push_back(point);
}

Result<SweepFacts> look(const std::string& gpu_list, const RunOptions& options,
                        const std::vector<predict::KnobPoint>& grid, bool may_lack_rights) {
  const auto open = open_gpus(gpu_list);
  if (!open) return fail(open.error());
  if (open->gpus.empty())
    return fail(ErrorCode::unavailable, "there is no GPU to sweep",
                "rubato devices; a simulated one: --gpu sim:v100");
  SweepFacts facts;
  for (const auto& gpu : open->gpus) facts.uuids.push_back(gpu->identity().id.uuid);
  facts.gpu = names_of(open->gpus);
  const std::string& first = open->gpus.front()->identity().name;
  if (std::all_of(open->gpus.begin(), open->gpus.end(),
                  [&first](const auto& gpu) { return gpu->identity().name == first; }))
    facts.board = first;
  facts.clock_rate = 1.0 / open->selection.backend->clock()->wall(Seconds(1.0)).value();
  read_limits(open->gpus, facts);
  read_found(open->gpus, open->selection.backend->simulated(), facts);
  std::optional<Error> lacking;
  for (const auto& point : grid) {
    auto wanted = parse_wanted(options_at(options, point).wanted);
    if (!wanted) return fail(wanted.error());
    if (const Status fits = fit_to_gpus(*wanted, open->gpus); !fits) return fail(fits.error());
    for (const auto& note : wanted->notes)
      if (std::find(facts.notes.begin(), facts.notes.end(), note) == facts.notes.end())
        facts.notes.push_back(note);
    if (!lacking && !options.sudo) lacking = missing_right_of(*wanted, *open);
    add(facts, point_of(wanted->setting));
  }
  if (!lacking && !options.accept_unrestored) lacking = nothing_outlives(*open->selection.backend, {});
  if (lacking && !may_lack_rights) return fail(*lacking);
  if (lacking) facts.notes.push_back(cat("it would be refused here: ", lacking->what));
  if (facts.points.empty())
    return fail(ErrorCode::invalid_argument,
                "the only setting named is the one that was found: nothing to sweep",
                "name other values after --knob");
  return facts;
}

json point_json(const predict::KnobPoint& point) {
  const auto value = [](const auto& quantity) { return quantity ? json(quantity->value()) : json(); };
  return {value(point.power_limit), value(point.sm_clock), value(point.memory_clock)};
}

template <class Unit>
std::optional<Unit> quantity(const json& value) {
  if (value.is_null()) return std::nullopt;
  return Unit(value.get<double>());
}

std::string written(const Result<SweepFacts>& facts) {
  if (!facts) {
    const Error& error = facts.error();
    return json{{"code", static_cast<int>(error.code)}, {"what", error.what}, {"hint", error.hint}}.dump(
        -1, ' ', false, json::error_handler_t::replace);
  }
  json points = json::array();
  for (const auto& point : facts->points) points.push_back(point_json(point));
  const json out = {
      {"uuids", facts->uuids},
      {"gpu", facts->gpu},
      {"board", facts->board},
      {"found_limit", facts->found_limit ? json(facts->found_limit->value()) : json()},
      {"found", facts->found},
      {"highest_sm_clock", facts->highest_sm_clock ? json(facts->highest_sm_clock->value()) : json()},
      {"clock_rate", facts->clock_rate},
      {"points", std::move(points)},
      {"notes", facts->notes}};
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<SweepFacts> read_back(const std::string& text) {
  const json from = json::parse(text, nullptr, false);
  if (from.is_discarded())
    return fail(ErrorCode::timeout, "the GPUs could not be asked: a driver call did not come back",
                "rubato doctor");
  try {
    if (from.contains("what"))
      return fail(Error{static_cast<ErrorCode>(whole_of<int>(from.at("code"))),
                        from.at("what").get<std::string>(), from.at("hint").get<std::string>()});
    SweepFacts facts;
    facts.uuids = from.at("uuids").get<std::vector<std::string>>();
    facts.gpu = from.at("gpu").get<std::string>();
    facts.board = from.at("board").get<std::string>();
    facts.found_limit = quantity<Watts>(from.at("found_limit"));
    facts.found = from.at("found").get<std::map<std::string, std::string>>();
    facts.highest_sm_clock = quantity<Megahertz>(from.at("highest_sm_clock"));
    facts.clock_rate = from.at("clock_rate").get<double>();
    for (const json& p : from.at("points"))
      facts.points.push_back(
          {quantity<Watts>(p.at(0)), quantity<Megahertz>(p.at(1)), quantity<Megahertz>(p.at(2))});
    facts.notes = from.at("notes").get<std::vector<std::string>>();
    return facts;
  } catch (const json::exception& error) {
    return fail(ErrorCode::internal, error.what());
  }
}

}  // namespace

RunOptions options_at(RunOptions options, const predict::KnobPoint& point) {
  const auto value = [](const auto& quantity) {
    return quantity ? std::optional(quantity->value()) : std::optional<double>();
  };
  options.wanted.power_limit_w = value(point.power_limit);
  options.wanted.sm_clock_mhz = value(point.sm_clock);
  options.wanted.memory_clock_mhz = value(point.memory_clock);
  return options;
}

Result<SweepFacts> ask_facts(Interrupts& interrupts, const std::string& gpu_list, const RunOptions& options,
                             const std::vector<predict::KnobPoint>& grid, bool may_lack_rights) {
  const ChildEnd child = in_child(interrupts, [&](int say) {
    auto facts = conduct::patiently<Result<SweepFacts>>([gpu_list, options, grid, may_lack_rights] {
      return look(gpu_list, options, grid, may_lack_rights);
    });
    if (facts) say_all(say, written(*facts));
    conduct::leave_now(0);
    return 0;
  });
  return read_back(child.said);
}

}  // namespace rubato::cli
