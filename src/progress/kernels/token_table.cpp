#include "progress/kernels/token_table.h"

#include <utility>

namespace rubato::progress::kernels {
namespace {

constexpr std::size_t kFirstSlots = 1024;

// Multiply and fold: every bit of the input reaches the low bits, which choose the slot.
std::uint64_t mix(std::uint64_t seed, std::uint64_t value) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15ULL;  // 2^64 over the golden ratio
  std::uint64_t x = (seed * kOdd + value + 1) * kOdd;
  x ^= x >> 32U;
  x *= kOdd;
  return x ^ (x >> 29U);
}

std::uint64_t pair_of(std::uint32_t a, std::uint32_t b) {
  return (std::uint64_t{a} << 32U) | b;
}

}  // namespace

TokenTable::TokenTable() : slots_(kFirstSlots), kinds_(1) {}

TokenTable::Slot& TokenTable::slot(std::uint64_t key) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = key & mask;
  while (slots_[at].token != kOther && slots_[at].key != key) at = (at + 1) & mask;
  return slots_[at];
}

void TokenTable::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  std::swap(old, slots_);
  for (const Slot& s : old)
    if (s.token != kOther) slot(s.key) = s;
}

Token TokenTable::add(std::uint64_t key, Kind kind) {
  if (kinds_.size() >= kMostTokens) return kOther;
  if (2 * kinds_.size() >= slots_.size()) grow();
  const auto token = static_cast<Token>(kinds_.size());
  slot(key) = {.key = key, .token = token};
  kinds_.push_back(kind);
  return token;
}

Token TokenTable::token(const KernelRecord& r) {
  const std::uint64_t name_key = mix(mix(1, r.name_hash), r.graph);
  std::uint64_t key = mix(name_key, pair_of(r.grid[0], r.grid[1]));
  key = mix(key, pair_of(r.grid[2], r.block[0]));
  key = mix(key, pair_of(r.block[1], r.block[2]));
  if (const Token known = slot(key).token; known != kOther) return known;
  Token name = slot(name_key).token;
  if (name == kOther) {
    name = add(name_key, {.name = 0, .graph = r.graph != 0});
    kinds_[name].name = name;
  }
  return add(key, {.name = name, .graph = r.graph != 0});
}

}  // namespace rubato::progress::kernels
