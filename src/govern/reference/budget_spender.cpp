#include "govern/reference/budget_spender.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "govern/rubato/pace.h"
#include "govern/rubato/spending_rules.h"
#include "predict/draws.h"

namespace rubato::govern {
namespace {

constexpr std::size_t kCurves = 64;
constexpr double kUsualScatter = 0.005 * 0.005;

}  // namespace

BudgetSpender::BudgetSpender(const Goal& goal, plan::KnobSpace space, Random random)
    : goal_(goal), space_(std::move(space)), random_(random), settings_{space_.found} {}

std::size_t BudgetSpender::name(const predict::KnobPoint& at, bool found) {
  if (found) return 0;
  const auto known = std::find(settings_.begin() + 1, settings_.end(), at);
  const auto setting = static_cast<std::size_t>(known - settings_.begin());
  if (known == settings_.end()) settings_.push_back(at);
  return setting;
}

void BudgetSpender::ran(std::size_t setting, Seconds time, double work) {
  if (program_) {
    program_->ran(setting, time);
  } else {
    search_time_ += time;
    search_work_ += work;
  }
}

void BudgetSpender::measured(std::size_t setting, const StretchMean& mean) {
  if (program_) {
    program_->add(setting, mean);
  } else {
    measured_.push_back({setting, mean});
  }
}

double BudgetSpender::cell() const {
  if (program_) return program_->baseline().cell;
  return measured_.empty() ? 0 : measured_.front().mean.cell;
}

bool BudgetSpender::learn() {
  if (program_) return true;
  if (measured_.empty() || measured_.front().setting != 0) return false;
  const StretchMean& baseline = measured_.front().mean;
  board_ = Watts(std::exp(baseline.log_power));
  unit_ = Seconds(std::exp(baseline.log_time));
  const predict::Known known{.gpu = space_.gpu,
                             .at_default = {.at = space_.found, .time = unit_, .energy = board_ * unit_},
                             .highest = space_.highest,
                             .features = {},
                             .probes = {}};
  auto draws = predict::draw_physical(known, settings_, kCurves, random_);
  if (!draws) return false;
  program_.emplace(plan::CurveBelief(settings_, 0, std::move(*draws)), baseline);
  for (const Measured& m : measured_) program_->add(m.setting, m.mean);
  // What the search lost is counted, not believed: some go where no curve is to be trusted.
  const double at_found = unit_.value() * search_work_;
  const double error = std::sqrt(baseline.time_scatter.value_or(kUsualScatter) / baseline.work);
  before_.work += at_found;
  before_.lost += search_time_.value() - at_found + rules().caution * error * at_found;
  return true;
}

void BudgetSpender::charge(plan::Account& account) const {
  const Program::Slowdown all = program_->slowdown(Errors::of_the_sum);
  account.work += all.seconds;
  account.lost += all.lost + rules().caution * all.lost_error;
}

void BudgetSpender::restart() {
  if (program_) charge(before_);
  program_.reset();
  measured_.clear();
  settings_.resize(1);
  search_time_ = Seconds(0);
  search_work_ = 0;
}

std::optional<BudgetSpender::Turn> BudgetSpender::control(TimePoint now, TimePoint run_begin) {
  const Seconds length = pace::length_of(pace::kControl, unit_);
  if (!controls_) controls_.emplace().plan(now, length, random_);
  if (!controls_->due(now, run_begin, true)) return std::nullopt;
  controls_->begin(now);
  controls_->end(now + length);
  controls_->plan(now + length, length, random_);
  return Turn{0, BlockRole::control, pace::kControl.time, static_cast<double>(pace::kControl.iterations)};
}

BudgetSpender::Turn BudgetSpender::next(std::size_t held, TimePoint now, TimePoint run_begin) {
  if (!learn()) return {held, BlockRole::hold, kTurn, 0};
  if (const auto block = control(now, run_begin)) return *block;
  program_->fit();
  plan::Account account = before_;
  account.bound = goal_.max_slowdown;
  charge(account);
  account.ahead = pace::ahead(account.work);
  const plan::Spending best = plan::spend(program_->belief(), goal_, board_, account, rules());
  std::size_t setting = best.setting;
  if (best.share && best.share->gain > kShareErrors * best.share->gain_error) {
    // The slower of the two whenever one turn of it can be paid: in the long run that is its part.
    const std::size_t slower = best.share->slower;
    setting = pays_turn(program_->belief(), account, slower, rules()) ? slower : best.share->faster;
  }
  return {setting, BlockRole::hold, kTurn, 0};
}

}  // namespace rubato::govern
