#include "progress/kernels/consensus.h"

#include <algorithm>
#include <map>

#include "progress/kernels/alignment.h"

namespace rubato::progress::kernels {
namespace {

constexpr std::size_t kMostRepeats = 24;
constexpr std::size_t kRounds = 10;
constexpr std::size_t kLongestGap = 40;  // launches put in at one place

// Per place of the pattern: how often it was missing, and what was put in before it.
struct Differences {
  std::vector<std::size_t> missing;
  std::map<std::size_t, std::map<std::vector<Token>, std::size_t>> extra;
  std::size_t repeats = 0;
};

Differences compare(std::span<const Token> tokens, const std::vector<Token>& pattern) {
  Differences found;
  const std::size_t size = pattern.size();
  found.missing.assign(size, 0);
  Realigner realigner;
  std::size_t i = 0;  // in the pattern, counting on over repetitions
  std::size_t j = 0;
  while (j < tokens.size() && i < kMostRepeats * size) {
    if (tokens[j] == pattern[i % size]) {
      ++i;
      ++j;
      continue;
    }
    const Skip skip = realigner.skip([&](std::size_t k) { return pattern[(i + k) % size]; }, size,
                                     [&](std::size_t k) { return tokens[j + k]; }, tokens.size() - j);
    for (std::size_t k = 0; k < skip.first; ++k) ++found.missing[(i + k) % size];
    if (skip.second > 0 && skip.second <= kLongestGap && j + skip.second <= tokens.size()) {
      const auto from = tokens.begin() + static_cast<std::ptrdiff_t>(j);
      ++found.extra[i % size][{from, from + static_cast<std::ptrdiff_t>(skip.second)}];
    }
    i += skip.first;
    j += skip.second;
  }
  found.repeats = i / size;
  return found;
}

}  // namespace

Consensus consensus(std::span<const Token> tokens, std::size_t length) {
  Consensus made;
  const auto first = tokens.first(std::min(length, tokens.size()));
  made.pattern.assign(first.begin(), first.end());
  for (std::size_t round = 0; round < kRounds; ++round) {
    const Differences found = compare(tokens, made.pattern);
    made.repeats = found.repeats;
    if (found.repeats < 2) break;
    std::vector<Token> better;
    bool changed = false;
    for (std::size_t i = 0; i < made.pattern.size(); ++i) {
      if (const auto at = found.extra.find(i); at != found.extra.end()) {
        std::size_t all = 0;
        auto most = at->second.begin();
        for (auto it = at->second.begin(); it != at->second.end(); ++it) {
          all += it->second;
          if (std::pair(it->second, it->first.size()) > std::pair(most->second, most->first.size()))
            most = it;
        }
        // Loss makes the same launches look different each time: what they agree on is settled in later
        // rounds.
        if (2 * all > found.repeats) {
          better.insert(better.end(), most->first.begin(), most->first.end());
          changed = true;
        }
      }
      if (2 * found.missing[i] > found.repeats) {
        changed = true;
      } else {
        better.push_back(made.pattern[i]);
      }
    }
    if (!changed || better.empty()) break;
    made.pattern = std::move(better);
  }
  return made;
}

}  // namespace rubato::progress::kernels
