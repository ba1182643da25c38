#include "meter/register_unwrap.h"

namespace rubato::meter {
namespace {

/// A register is read somewhat after its update, so two readings may hold a little more than the time between
/// them.
constexpr Seconds kUpdateSlack{0.1};

}  // namespace

std::optional<Seconds> RegisterUnwrap::safe_span() const {
  if (!top_) return std::nullopt;
  return Joules(static_cast<double>(*top_) * joules_per_count_) / most_;
}

RegisterStep RegisterUnwrap::add(std::uint64_t count, TimePoint at) {
  if (top_ && count > *top_) return RegisterStep::too_high;
  const std::optional<Last> before = last_;
  last_ = Last{count, at};
  if (!before) return RegisterStep::first;
  const Seconds unseen = at - before->at;
  const auto safe = safe_span();
  if (safe && unseen >= *safe) {
    counts_ = 0;
    return RegisterStep::gap;
  }
  if (count >= before->count) {
    counts_ += count - before->count;
    return RegisterStep::advanced;
  }
  if (top_) {
    // Zero takes the place of the count after the top; a register's last bit is far below any other error.
    const std::uint64_t by = *top_ - before->count + count;
    if (static_cast<double>(by) * joules_per_count_ <= (most_ * (unseen + kUpdateSlack)).value()) {
      counts_ += by;
      return RegisterStep::wrapped;
    }
  }
  counts_ = 0;
  return RegisterStep::fell;
}

}  // namespace rubato::meter
