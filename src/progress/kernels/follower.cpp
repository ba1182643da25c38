#include "progress/kernels/follower.h"

#include <algorithm>
#include <span>

namespace rubato::progress::kernels {
namespace {

std::uint64_t hash_of(std::span<const Token> row) {
  std::uint64_t hash = row.size();
  for (const Token t : row) hash = (hash ^ t) * 0x9e3779b97f4a7c15ULL + (hash >> 29U);
  return hash;
}

}  // namespace

Follower::Follower(std::vector<Token> pattern)
    : pattern_(std::move(pattern)),
      row_(std::min(kRow, pattern_.size())),
      reach_(std::max<std::size_t>(40, pattern_.size() / 8)) {
  std::array<Token, kRow> row{};
  for (std::size_t i = 0; i < pattern_.size(); ++i) {
    for (std::size_t k = 0; k < row_; ++k)
      row[k] = pattern_[(i + pattern_.size() - (row_ - 1 - k)) % pattern_.size()];
    places_[hash_of(std::span(row).first(row_))].push_back(static_cast<std::uint32_t>(i));
  }
}

void Follower::lose() {
  known_ = 0;
  expected_.reset();
  misfits_ = 0;
}

// Of the places that the latest launches fit, the nearest to the expected one; without one only a single
// place counts.
std::optional<std::size_t> Follower::find() const {
  if (known_ < row_) return std::nullopt;
  const auto at = places_.find(hash_of(std::span(latest_).subspan(kRow - row_)));
  if (at == places_.end()) return std::nullopt;
  const std::vector<std::uint32_t>& places = at->second;
  if (!expected_) return places.size() == 1 ? std::optional<std::size_t>(places.front()) : std::nullopt;
  const auto distance = [&](std::uint32_t place) {
    const std::size_t ahead = (place + pattern_.size() - *expected_) % pattern_.size();
    return std::min(ahead, pattern_.size() - ahead);
  };
  const auto above = std::ranges::lower_bound(places, *expected_);
  const std::uint32_t up = above == places.end() ? places.front() : *above;
  const std::uint32_t down = above == places.begin() ? places.back() : *std::prev(above);
  const std::uint32_t nearest = distance(up) <= distance(down) ? up : down;
  if (places.size() > 1 && distance(nearest) > reach_) return std::nullopt;
  return nearest;
}

std::optional<Follower::Place> Follower::follow(Token symbol) {
  std::shift_left(latest_.begin(), latest_.end(), 1);
  latest_.back() = symbol;
  known_ = std::min(known_ + 1, kRow);
  std::optional<Place> place;
  if (expected_ && pattern_[*expected_] == symbol) {
    place = Place{.at = *expected_};
  } else if (const auto found = find()) {
    place = Place{.at = *found, .also = std::min(misfits_, row_ - 1)};
  }
  if (place) {
    expected_ = (place->at + 1) % pattern_.size();
    misfits_ = 0;
  } else if (++misfits_ > 2 * reach_) {
    expected_.reset();
  }
  return place;
}

}  // namespace rubato::progress::kernels
