// Follows a known pattern launch by launch: finds its place in it, keeps it through launches lost or put in,
// finds it again after a break.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "progress/kernels/token_table.h"

namespace rubato::progress::kernels {

class Follower {
 public:
  static constexpr std::size_t kRow = 4;  // launches in a row that tell a place

  explicit Follower(std::vector<Token> pattern);

  struct Place {
    std::size_t at = 0;    // in the pattern
    std::size_t also = 0;  // launches just before it that did not fit when they came, but do now
  };

  /// Where this launch stands; absent: it does not fit.
  std::optional<Place> follow(Token symbol);
  /// Nothing is known of what lies before the next launch.
  void lose();

  [[nodiscard]] const std::vector<Token>& pattern() const { return pattern_; }

 private:
  [[nodiscard]] std::optional<std::size_t> find() const;

  std::vector<Token> pattern_;
  std::size_t row_;    // kRow, fewer in short patterns
  std::size_t reach_;  // how far a place may be from where it was expected
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> places_;  // of the last launch of each row
  std::array<Token, kRow> latest_{};
  std::size_t known_ = 0;  // launches in latest_
  std::optional<std::size_t> expected_;
  std::size_t misfits_ = 0;  // since the last that fitted
};

}  // namespace rubato::progress::kernels
