#include "record/name_book.h"

#include <algorithm>

namespace rubato::record {
namespace {

constexpr std::uint32_t kMostParts = 128;      // 4 KiB: longer than the mangled names of today's kernels
constexpr std::size_t kMostBytes = 16U << 20;  // of all names of a run

/// Length of the well-formed character at `at` (Unicode 15, table 3-7); 0 where there is none.
std::size_t character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
  };
  const auto follows = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
    return byte(i) >= low && byte(i) <= high;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const bool second = follows(1, first == 0xe0 ? 0xa0 : 0x80, first == 0xed ? 0x9f : 0xbf);
    return second && follows(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const bool second = follows(1, first == 0xf0 ? 0x90 : 0x80, first == 0xf4 ? 0x8f : 0xbf);
    return second && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

std::string cleaned(std::string_view bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = character_at(bytes, at);
    if (length == 0)
      text += '?';
    else
      text += bytes.substr(at, length);
    at += std::max<std::size_t>(length, 1);
  }
  return text;
}

}  // namespace

void NameBook::add(const Mark& mark) {
  const std::uint32_t part = mark.flags >> 16U;
  if (part >= kMostParts || bytes_ >= kMostBytes) return;
  const auto known = names_.find(mark.id);
  if (part != (known == names_.end() ? 0 : known->second.parts)) return;
  Name& name = names_[mark.id];
  if (name.whole) return;
  std::string piece;
  for (const std::uint64_t word : mark.detail)
    for (unsigned i = 0; i < 8; ++i) piece += static_cast<char>(word >> (8 * i));
  const std::size_t end = piece.find('\0');
  name.whole = end != std::string::npos;
  name.bytes += piece.substr(0, end);
  ++name.parts;
  bytes_ += sizeof(Name) + piece.size();
  changed_.insert(mark.id);
}

std::vector<std::pair<std::uint64_t, std::string>> NameBook::take_changed() {
  std::vector<std::pair<std::uint64_t, std::string>> out;
  for (const std::uint64_t id : std::exchange(changed_, {})) out.emplace_back(id, cleaned(names_[id].bytes));
  return out;
}

}  // namespace rubato::record
