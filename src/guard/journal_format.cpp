#include "guard/journal_format.h"

#include <cmath>
#include <map>

#include "base/text.h"
#include "guard/crc32.h"
#include "wire/escape.h"

namespace rubato::guard {
namespace {

using Words = std::map<std::string, std::string, std::less<>>;
constexpr std::size_t kCheckSum = 8;
constexpr std::string_view kHeaderStart = "header version=";
constexpr int kNewestVersion = kWithApplicationClocks;
constexpr std::string_view kApplication = "application-clocks";

std::string word(std::string_view text) {
  return wire::escape(text, wire::Spaces::escaped);
}

std::string lock_word(const ClockLock& lock) {
  return lock ? cat(number(lock->min.value()), ":", number(lock->max.value())) : "-";
}

std::string pair_word(const ApplicationClocks& clocks) {
  return cat(number(clocks.memory.value()), ":", number(clocks.sm.value()));
}

std::string text_of(const Header& h) {
  return cat(kHeaderStart, h.version, " uuid=", word(h.gpu.uuid), " boot=", word(h.boot_id),
             " driver=", word(h.driver_version),
             " energy-mj=", h.energy_mj ? std::to_string(*h.energy_mj) : "-");
}
std::string text_of(const LimitIntent& r) {
  return cat("limit found=", number(r.found.value()), " previous=", number(r.previous.value()),
             " intended=", number(r.intended.value()));
}
std::string text_of(const LimitDone& r) {
  return "limit-done read-back=" + number(r.read_back.value());
}
std::string text_of(const LockIntent& r) {
  return cat(name_of(r.knob), " found=", lock_word(r.found), " previous=", lock_word(r.previous),
             " intended=", lock_word(r.intended));
}
std::string text_of(const LockDone& r) {
  return cat(name_of(r.knob), "-done state=", lock_word(r.state));
}
std::string text_of(const ApplicationIntent& r) {
  return cat(kApplication, " found=", pair_word(r.found), " previous=", pair_word(r.previous),
             " intended=", pair_word(r.intended));
}
std::string text_of(const ApplicationDone& r) {
  return cat(kApplication, "-done read-back=", pair_word(r.read_back));
}

std::optional<double> finite(const Words& words, std::string_view key) {
  const auto it = words.find(key);
  const auto value = it == words.end() ? std::nullopt : parse_number(it->second);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

/// Memory, then SM.
std::optional<ApplicationClocks> pair_of(const Words& words, std::string_view key) {
  const auto it = words.find(key);
  if (it == words.end()) return std::nullopt;
  const auto parts = split(it->second, ':');
  if (parts.size() != 2) return std::nullopt;
  const auto memory = parse_number(parts[0]);
  const auto sm = parse_number(parts[1]);
  if (!memory || !sm || !std::isfinite(*memory) || !std::isfinite(*sm)) return std::nullopt;
  return ApplicationClocks{Megahertz(*memory), Megahertz(*sm)};
}

/// Outer absent: malformed.
std::optional<ClockLock> lock_of(const Words& words, std::string_view key) {
  const auto it = words.find(key);
  if (it == words.end()) return std::nullopt;
  if (it->second == "-") return ClockLock();
  const auto parts = split(it->second, ':');
  if (parts.size() != 2) return std::nullopt;
  const auto low = parse_number(parts[0]);
  const auto high = parse_number(parts[1]);
  if (!low || !high) return std::nullopt;
  return ClockLock(ClockRange{Megahertz(*low), Megahertz(*high)});
}

std::optional<Record> header_of(const Words& words) {
  const auto uuid = words.find("uuid");
  const auto boot = words.find("boot");
  const auto driver = words.find("driver");
  const auto energy = words.find("energy-mj");
  const auto version = words.find("version");
  const auto end = words.end();
  if (uuid == end || boot == end || driver == end || energy == end || version == end) return std::nullopt;
  return Header{GpuId{uuid->second}, boot->second, driver->second, parse_integer(energy->second),
                static_cast<int>(parse_integer(version->second).value_or(0))};
}

std::optional<Record> record_of(std::string_view text) {
  const auto parts = split(text, ' ');
  Words words;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::size_t equals = parts[i].find('=');
    auto value = wire::unescape(equals == std::string::npos ? "" : parts[i].substr(equals + 1));
    if (equals == std::string::npos || !value) return std::nullopt;
    words.emplace(parts[i].substr(0, equals), std::move(*value));
  }
  if (parts[0] == "header") return header_of(words);
  if (parts[0] == "limit") {
    const auto found = finite(words, "found");
    const auto previous = finite(words, "previous");
    const auto intended = finite(words, "intended");
    if (!found || !previous || !intended) return std::nullopt;
    return LimitIntent{Watts(*found), Watts(*previous), Watts(*intended)};
  }
  if (parts[0] == "limit-done") {
    const auto read_back = finite(words, "read-back");
    if (!read_back) return std::nullopt;
    return LimitDone{Watts(*read_back)};
  }
  if (parts[0] == kApplication) {
    const auto found = pair_of(words, "found");
    const auto previous = pair_of(words, "previous");
    const auto intended = pair_of(words, "intended");
    if (!found || !previous || !intended) return std::nullopt;
    return ApplicationIntent{*found, *previous, *intended};
  }
  if (parts[0] == cat(kApplication, "-done")) {
    const auto read_back = pair_of(words, "read-back");
    if (!read_back) return std::nullopt;
    return ApplicationDone{*read_back};
  }
  for (const Knob knob : {Knob::sm_clock, Knob::memory_clock}) {
    if (parts[0] == name_of(knob)) {
      const auto found = lock_of(words, "found");
      const auto previous = lock_of(words, "previous");
      const auto intended = lock_of(words, "intended");
      if (!found || !previous || !intended) return std::nullopt;
      return LockIntent{knob, *found, *previous, *intended};
    }
    if (parts[0] == cat(name_of(knob), "-done")) {
      const auto state = lock_of(words, "state");
      if (!state) return std::nullopt;
      return LockDone{knob, *state};
    }
  }
  return std::nullopt;
}

/// The text of a whole line whose check sum holds.
std::optional<std::string_view> checked_text(std::string_view line) {
  if (line.size() <= kCheckSum || line[kCheckSum] != ' ') return std::nullopt;
  const std::string_view text = line.substr(kCheckSum + 1);
  if (line.substr(0, kCheckSum) != hex(crc32(text), kCheckSum)) return std::nullopt;
  return text;
}

bool known_version(std::string_view behind_key) {
  const auto version = parse_integer(behind_key.substr(0, behind_key.find(' ')));
  return version && *version >= 1 && *version <= kNewestVersion;
}

/// Whether bytes without a line end can be the beginning of a header of ours.
bool may_be_torn_header(std::string_view bytes) {
  constexpr std::size_t kLongestHeader = 4096;
  if (bytes.size() > kLongestHeader) return false;
  if (bytes.substr(0, kCheckSum).find_first_not_of("0123456789abcdef") != std::string_view::npos)
    return false;
  if (bytes.size() <= kCheckSum) return true;
  const std::string_view text = bytes.substr(kCheckSum + 1);
  return bytes[kCheckSum] == ' ' &&
         text.substr(0, kHeaderStart.size()) == kHeaderStart.substr(0, text.size());
}

tl::unexpected<Error> corrupt(const GpuId& gpu, std::string_view why) {
  return fail(ErrorCode::corrupt, cat("the journal of ", gpu.uuid, " is damaged: ", why));
}

template <class... Cases>
struct Match : Cases... {
  using Cases::operator()...;
};
// clang 14 does not deduce the arguments of an aggregate.
template <class... Cases>
Match(Cases...) -> Match<Cases...>;

}  // namespace

std::string print_record(const Record& record) {
  const std::string text = std::visit([](const auto& r) { return text_of(r); }, record);
  return cat(hex(crc32(text), kCheckSum), " ", text, "\n");
}

bool enter(JournalContent& content, const Record& record) {
  return std::visit(Match{[&](const Header& r) {
                            content.header = r;
                            return true;
                          },
                          [&](const LimitIntent& r) {
                            const bool before = content.limit && content.limit->touched;
                            content.limit = LimitEntry{r, std::nullopt, before || r.intended != r.previous};
                            return true;
                          },
                          [&](const LimitDone& r) {
                            if (!content.limit) return false;
                            content.limit->read_back = r.read_back;
                            return true;
                          },
                          [&](const LockIntent& r) {
                            auto& entry = content.lock(r.knob);
                            const bool before = entry && entry->touched;
                            entry = LockEntry{r, std::nullopt, before || r.intended != r.previous};
                            return true;
                          },
                          [&](const LockDone& r) {
                            auto& entry = content.lock(r.knob);
                            if (!entry) return false;
                            entry->state = r.state;
                            return true;
                          },
                          [&](const ApplicationIntent& r) {
                            auto& entry = content.application_clocks;
                            const bool before = entry && entry->touched;
                            entry = ApplicationEntry{r, std::nullopt, before || r.intended != r.previous};
                            return true;
                          },
                          [&](const ApplicationDone& r) {
                            if (!content.application_clocks) return false;
                            content.application_clocks->read_back = r.read_back;
                            return true;
                          }},
                    record);
}

std::string print_content(const JournalContent& content) {
  std::string lines = print_record(content.header);
  // That a knob was ever changed must not be forgotten with the record that said so.
  const auto put = [&lines](bool touched, auto intent, const auto& done) {
    if (touched && intent.intended == intent.previous) {
      auto first = intent;
      first.previous = intent.found;
      lines += print_record(first);
    }
    lines += print_record(intent);
    if (done) lines += print_record(*done);
  };
  if (const auto& limit = content.limit)
    put(limit->touched, limit->last,
        limit->read_back ? std::optional(LimitDone{*limit->read_back}) : std::nullopt);
  for (const Knob knob : {Knob::sm_clock, Knob::memory_clock})
    if (const auto& lock = content.lock(knob))
      put(lock->touched, lock->last,
          lock->state ? std::optional(LockDone{knob, *lock->state}) : std::nullopt);
  if (const auto& clocks = content.application_clocks)
    put(clocks->touched, clocks->last,
        clocks->read_back ? std::optional(ApplicationDone{*clocks->read_back}) : std::nullopt);
  return lines;
}

Result<std::optional<JournalContent>> parse_journal(std::string_view bytes, const GpuId& gpu) {
  if (bytes.find('\n') == std::string_view::npos) {
    if (may_be_torn_header(bytes)) return std::nullopt;
    return corrupt(gpu, "it does not begin with a header");
  }
  JournalContent content;
  std::size_t begin = 0;
  while (begin < bytes.size()) {
    const std::size_t end = bytes.find('\n', begin);
    if (end == std::string_view::npos) break;
    const auto text = checked_text(bytes.substr(begin, end - begin));
    if (!text) return corrupt(gpu, cat("the check sum of the line at byte ", begin, " does not hold"));
    const bool first = begin == 0;
    const bool header = text->starts_with(kHeaderStart);
    if (first && header && !known_version(text->substr(kHeaderStart.size()))) {
      return fail(ErrorCode::not_supported,
                  cat("the journal of ", gpu.uuid,
                      " was written by a newer rubato; this one reads version 1 to ", kNewestVersion),
                  "run `rubato restore` of that newer version");
    }
    const auto record = record_of(*text);
    if (!record || first != header || !enter(content, *record)) {
      return corrupt(gpu, cat("the line at byte ", begin, " does not belong there"));
    }
    begin = end + 1;
  }
  content.valid_bytes = begin;
  if (content.header.gpu != gpu) return corrupt(gpu, "it is about " + content.header.gpu.uuid);
  return content;
}

}  // namespace rubato::guard
