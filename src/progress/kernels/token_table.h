// What ran, as small numbers: the same kernel at the same grid and block is the same token, the same kernel
// at any grid the same name, and a CUDA graph's launch is a token by its graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/kernel_record.h"

namespace rubato::progress::kernels {

using Token = std::uint32_t;

/// Bounded: once kMostTokens are known, all further ones are kOther.
class TokenTable {
 public:
  static constexpr Token kOther = 0;
  static constexpr std::size_t kMostTokens = 1U << 16;

  TokenTable();
  [[nodiscard]] Token token(const KernelRecord& record);
  /// The token's name, whatever its grid: numbers of their own, below size().
  [[nodiscard]] Token name(Token token) const { return kinds_[token].name; }
  [[nodiscard]] bool is_graph(Token token) const { return kinds_[token].graph; }
  [[nodiscard]] std::size_t size() const { return kinds_.size(); }

 private:
  struct Kind {
    Token name = 0;
    bool graph = false;
  };
  struct Slot {
    std::uint64_t key = 0;
    Token token = kOther;  // kOther: empty
  };

  [[nodiscard]] Slot& slot(std::uint64_t key);
  Token add(std::uint64_t key, Kind kind);
  void grow();

  std::vector<Slot> slots_;  // open addressing, a power of two
  std::vector<Kind> kinds_;  // by token
};

}  // namespace rubato::progress::kernels
