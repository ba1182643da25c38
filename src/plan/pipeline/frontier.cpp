#include "plan/pipeline/frontier.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/text.h"

namespace rubato::plan {
namespace {

constexpr std::size_t kMostMicrobatches = 100000;
constexpr std::size_t kMostInstructions = 1000000;
constexpr Ticks kMostRows = 1000000;
constexpr double kMostTicks = 1e18;  // of all instructions together: sums of them stay whole numbers
constexpr Seconds kLeastUnit{1e-9};

/// Event numbers: 0 and 1 are the iteration's begin and end.
std::size_t begin_of(std::size_t instruction) {
  return 2 + 2 * instruction;
}
std::size_t end_of(std::size_t instruction) {
  return 3 + 2 * instruction;
}

/// When everything has ended that takes `taken[i]` and begins as soon as it can.
template <class Time>
Time makespan(const PipelineSchedule& schedule, const std::vector<Time>& taken) {
  std::vector<Time> begin(taken.size());
  Time last{};
  for (const auto& [before, after] : schedule.waits)
    begin[after] = std::max(begin[after], begin[before] + taken[before]);
  for (std::size_t i = 0; i < taken.size(); ++i) last = std::max(last, begin[i] + taken[i]);
  return last;
}

/// Each the slowest of its options that ends when the continuous solution lets it end: what rounding down
/// leaves over, the next one in line may use. Options are fastest first.
std::vector<const ClockOption*> carried(const PipelineSchedule& schedule, const TimeCost& solved,
                                        const std::vector<std::vector<const ClockOption*>>& options) {
  std::vector<const ClockOption*> chosen(schedule.instructions.size());
  std::vector<Ticks> begin(chosen.size());
  auto wait = schedule.waits.begin();
  for (const std::size_t i : schedule.order) {
    for (; wait != schedule.waits.end() && wait->second == i; ++wait)
      begin[i] = std::max(begin[i], begin[wait->first] + chosen[wait->first]->ticks);
    const auto& all =
        options[2 * schedule.instructions[i].stage + static_cast<std::size_t>(schedule.instructions[i].pass)];
    const Ticks room = solved.moment(end_of(i)) - begin[i];
    auto slower = std::upper_bound(all.begin(), all.end(), room,
                                   [](Ticks most, const ClockOption* o) { return most < o->ticks; });
    chosen[i] = slower == all.begin() ? all.front() : *(slower - 1);
  }
  return chosen;
}

Joules effective_sum(const std::vector<const ClockOption*>& chosen) {
  return std::accumulate(chosen.begin(), chosen.end(), Joules{},
                         [](Joules sum, const ClockOption* o) { return sum + o->effective; });
}

}  // namespace

Pipeline::Pipeline(StageProfile profile, const FrontierWishes& wishes)
    : profile_(std::move(profile)),
      wishes_(wishes),
      schedule_(one_f_one_b(profile_.stages.size(), wishes.microbatches)) {
  if (wishes_.unit) rule_ = {*wishes_.unit, true};
}

Result<Pipeline> Pipeline::make(StageProfile profile, const FrontierWishes& wishes) {
  const std::size_t stages = profile.stages.size();
  if (stages < 2)
    return fail(ErrorCode::invalid_argument,
                cat(profile.name, " has ", stages, " stage; a pipeline has at least 2"),
                "nobody waits for a single stage: `rubato run --max-slowdown` is for it");
  if (wishes.microbatches < 1 || wishes.microbatches > kMostMicrobatches ||
      2 * stages * wishes.microbatches > kMostInstructions)
    return fail(ErrorCode::invalid_argument,
                cat(wishes.microbatches, " micro-batches over ", stages, " stages: at least 1, at most ",
                    std::min(kMostMicrobatches, kMostInstructions / 2 / stages)));
  if (wishes.unit && *wishes.unit < kLeastUnit)
    return fail(ErrorCode::invalid_argument,
                cat("a time unit of ", *wishes.unit / kLeastUnit, " ns: at least 1"), "--time-unit 1ms");
  Pipeline made(std::move(profile), wishes);
  double ticks = 0;
  for (std::size_t stage = 0; stage < stages; ++stage)
    for (const PipelinePass pass : kPipelinePasses) {
      auto curve = duration_curve(made.profile_.stages[stage].of(pass), wishes.blocking, made.rule_,
                                  cat(made.profile_.name, ": stage ", stage, " ", name_of(pass)));
      if (!curve) return fail(curve.error());
      ticks += static_cast<double>(curve->options.back().ticks) * static_cast<double>(wishes.microbatches);
      made.curves_.push_back(std::move(*curve));
    }
  if (ticks > kMostTicks)
    return fail(
        ErrorCode::invalid_argument,
        cat(made.profile_.name, ": ", wishes.microbatches, " micro-batches take ", made.rule_.tick * ticks,
            " of all stages; at most ", made.rule_.tick * kMostTicks, " can be planned in this time unit"),
        "times are in seconds; --time-unit 1ms counts coarser");
  return made;
}

const DurationCurve& Pipeline::curve_of(const Instruction& instruction) const {
  return curves_[2 * instruction.stage + static_cast<std::size_t>(instruction.pass)];
}

Project Pipeline::project() const {
  Project made;
  made.events = 2 + 2 * schedule_.instructions.size();
  for (const DurationCurve& curve : curves_) made.curves.push_back(paces_of(curve, rule_));
  for (std::size_t i = 0; i < schedule_.instructions.size(); ++i) {
    const Instruction& it = schedule_.instructions[i];
    made.activities.push_back({begin_of(i), end_of(i), 2 * it.stage + static_cast<std::size_t>(it.pass)});
    if (i == schedule_.first_of(it.stage)) made.order.emplace_back(0, begin_of(i));
    if (i + 1 == schedule_.first_of(it.stage + 1)) made.order.emplace_back(end_of(i), 1);
  }
  for (const auto& [before, after] : schedule_.waits)
    made.order.emplace_back(end_of(before), begin_of(after));
  return made;
}

/// A tick more of the iteration, in what all stages draw while they wait.
CostPerTick Pipeline::waiting_price() const {
  const double price = wishes_.blocking.value() * kPricesPerWatt * static_cast<double>(schedule_.stages);
  return static_cast<CostPerTick>(std::min(price, kMostTicks));
}

IterationCost Pipeline::continuous(const TimeCost& solved) const {
  const Seconds time = rule_.seconds(solved.time());
  Joules energy = static_cast<double>(schedule_.stages) * (wishes_.blocking * time);
  for (std::size_t i = 0; i < schedule_.instructions.size(); ++i)
    energy += curve_of(schedule_.instructions[i]).effective(solved.duration(i));
  return {time, energy};
}

InstructionClocks Pipeline::realise(const TimeCost& solved) const {
  std::vector<std::vector<const ClockOption*>> corners;
  std::vector<std::vector<const ClockOption*>> all;
  for (const DurationCurve& curve : curves_) {
    auto& edge = corners.emplace_back();
    for (auto c = curve.corners.rbegin(); c != curve.corners.rend(); ++c) edge.push_back(&*c);
    auto& each = all.emplace_back();
    for (const ClockOption& option : curve.options) each.push_back(&option);
  }
  // Corners alone stay on the edge; all clocks waste less time. Neither is always the better one.
  auto chosen = carried(schedule_, solved, corners);
  auto other = carried(schedule_, solved, all);
  if (effective_sum(other) < effective_sum(chosen)) chosen = std::move(other);
  InstructionClocks clocks;
  for (const ClockOption* option : chosen) clocks.push_back(option->measured.frequency);
  return clocks;
}

const StageOption& Pipeline::own(std::size_t instruction, const InstructionClocks& clocks) const {
  const Instruction& it = schedule_.instructions[instruction];
  const auto& options = profile_.stages[it.stage].of(it.pass);
  return *std::find_if(options.begin(), options.end() - 1,
                       [&](const auto& o) { return o.frequency == clocks[instruction]; });
}

IterationCost Pipeline::cost(const InstructionClocks& clocks, Seconds until) const {
  std::vector<Seconds> taken;
  Joules energy{};
  Seconds busy{};
  for (std::size_t i = 0; i < clocks.size(); ++i) {
    const StageOption& option = own(i, clocks);
    taken.push_back(option.time);
    busy += option.time;
    energy += option.energy;
  }
  const Seconds time = std::max(until, makespan(schedule_, taken));
  return {time, energy + wishes_.blocking * (static_cast<double>(schedule_.stages) * time - busy)};
}

Seconds Pipeline::counted_time(const InstructionClocks& clocks) const {
  std::vector<Ticks> taken;
  for (std::size_t i = 0; i < clocks.size(); ++i) taken.push_back(rule_.of(own(i, clocks).time));
  return rule_.seconds(makespan(schedule_, taken));
}

InstructionClocks Pipeline::all_at_highest() const {
  InstructionClocks clocks;
  for (const Instruction& it : schedule_.instructions)
    clocks.push_back(profile_.stages[it.stage].of(it.pass).front().frequency);
  return clocks;
}

FrontierPoint Pipeline::point(const TimeCost& solved) const {
  return {continuous(solved), cost(realise(solved))};
}

Seconds Pipeline::fastest() const {
  std::vector<Ticks> taken;
  for (const Instruction& it : schedule_.instructions) taken.push_back(curve_of(it).options.front().ticks);
  return rule_.seconds(makespan(schedule_, taken));
}

Result<Frontier> Pipeline::frontier() const {
  TimeCost solved(project());
  solved.shorten_below(waiting_price());
  const Ticks longest = solved.time();
  const Ticks shortest = TickRule{rule_.tick, true}.of(fastest());
  if (wishes_.unit && longest - shortest >= kMostRows)
    return fail(ErrorCode::invalid_argument,
                cat("the frontier has ", longest - shortest + 1, " time units of ",
                    number(1e3 * wishes_.unit->value(), 6), " ms; at most ", kMostRows, " are listed"),
                "a longer --time-unit, or none for exact times");
  const Ticks most = wishes_.unit ? kMostRows : static_cast<Ticks>(wishes_.most_rows - 1);
  const Ticks steps = std::min(longest - shortest, most);
  Frontier made;
  for (Ticks step = steps; step >= 0; --step) {
    // In floating point: the product may not fit in whole numbers.
    const double part = steps == 0 ? 0 : static_cast<double>(step) / static_cast<double>(steps);
    solved.shorten_to(shortest + std::llround(part * static_cast<double>(longest - shortest)));
    made.points.push_back(point(solved));
  }
  std::reverse(made.points.begin(), made.points.end());
  made.breakpoints = solved.breakpoints();
  return made;
}

ChosenPoint Pipeline::at(Seconds deadline) const {
  TimeCost solved(project());
  solved.shorten_below(waiting_price());
  solved.shorten_to(TickRule{rule_.tick, true}.of(deadline));
  ChosenPoint chosen;
  chosen.clocks = realise(solved);
  chosen.point = {continuous(solved), cost(chosen.clocks)};
  return chosen;
}

unsigned Pipeline::dropped() const {
  return std::accumulate(curves_.begin(), curves_.end(), 0U,
                         [](unsigned sum, const DurationCurve& c) { return sum + c.dropped; });
}

}  // namespace rubato::plan
