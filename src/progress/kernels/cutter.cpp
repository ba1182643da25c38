#include "progress/kernels/cutter.h"

#include <algorithm>

namespace rubato::progress::kernels {
namespace {

constexpr double kMost = 0.7;        // of the pattern has to be there
constexpr double kNotTwice = 1.15;   // more: parts of it ran again, as in an evaluation
constexpr std::size_t kSlack = 4;    // launches, in short patterns
constexpr double kFewForeign = 0.3;  // of the pattern's length

}  // namespace

void Cutter::lose() {
  follower_.lose();
  place_.reset();
  border_.reset();
}

bool Cutter::whole() const {
  const auto size = static_cast<double>(pattern().size());
  const auto own = static_cast<double>(own_);
  return own >= kMost * size && own <= kNotTwice * size + 1 &&
         static_cast<double>(foreign_) <= std::max(static_cast<double>(kSlack), kFewForeign * size);
}

// A small step back is a correction, a large one the begin of the next iteration.
bool Cutter::wraps(std::size_t at) const {
  if (pattern().size() == 1) return true;
  return place_ && at < *place_ && (*place_ - at) * 2 >= pattern().size();
}

std::optional<Cut> Cutter::add(Token symbol, TimePoint begin) {
  std::shift_left(begins_.begin(), begins_.end(), 1);
  begins_.back() = begin;
  ++seen_;
  ++launches_;
  const auto place = follower_.follow(symbol);
  if (!place) {
    ++foreign_;
    return std::nullopt;
  }
  fitted_ += 1 + place->also;
  foreign_ -= std::min(foreign_, place->also);
  const bool in_sight = place->at <= place->also;  // the pattern's first launch is this one or just before it
  const std::size_t after = in_sight ? place->at : 0;
  std::optional<Cut> cut;
  if (!place_ || wraps(place->at)) {
    std::optional<TimePoint> border;
    if (in_sight) border = begins_[begins_.size() - 1 - after];
    if (place_) {
      own_ += place->also - after;
      ++ended_;
      if (border_ && border && *border > *border_ && whole())
        cut = Cut{.begin = *border_, .end = *border, .launches = launches_ - 1 - after};
    }
    border_ = border;
    own_ = after + 1;
    foreign_ = 0;
    launches_ = after + 1;
  } else {
    own_ += 1 + place->also;
  }
  place_ = place->at;
  return cut;
}

}  // namespace rubato::progress::kernels
