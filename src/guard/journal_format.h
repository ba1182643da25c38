// What one GPU's journal says, and its text form: one line a record, each behind the CRC-32 of its text, so
// that a file torn at any byte reads as its longest valid prefix. docs/formats.md#journal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "core/gpu_id.h"
#include "core/setting.h"

namespace rubato::guard {

/// Under which driver and boot the records hold; others make the journal void.
struct Header {
  GpuId gpu;
  std::string boot_id;
  std::string driver_version;
  std::optional<std::int64_t> energy_mj;  // absent where the GPU has no readable counter
  int version = 1;                        // kWithApplicationClocks where such records may follow
};

/// A rubato that knows version 1 only leaves such a journal to the one that wrote it.
inline constexpr int kWithApplicationClocks = 2;

/// Announces a write of the power limit.
struct LimitIntent {
  Watts found;
  Watts previous;
  Watts intended;
};
/// What the driver says is requested after it.
struct LimitDone {
  Watts read_back;
};

/// A clock range rubato locked; absent: not locked by rubato (the driver has no read-out).
using ClockLock = std::optional<ClockRange>;

struct LockIntent {
  Knob knob = Knob::sm_clock;  // or memory_clock
  ClockLock found;             // present only where the user stated it
  ClockLock previous;
  ClockLock intended;
};
/// What is in force after it: the intention, or the previous state where the driver refused.
struct LockDone {
  Knob knob = Knob::sm_clock;
  ClockLock state;
};

/// Announces a write of the application clocks.
struct ApplicationIntent {
  ApplicationClocks found;
  ApplicationClocks previous;
  ApplicationClocks intended;
};
/// What the driver says after it.
struct ApplicationDone {
  ApplicationClocks read_back;
};

using Record =
    std::variant<Header, LimitIntent, LimitDone, LockIntent, LockDone, ApplicationIntent, ApplicationDone>;

struct LimitEntry {
  LimitIntent last;
  std::optional<Watts> read_back;  // absent: announced, outcome unknown
  bool touched = false;            // a change was ever announced
};
struct LockEntry {
  LockIntent last;
  std::optional<ClockLock> state;  // outer absent: announced, outcome unknown
  bool touched = false;
};
struct ApplicationEntry {
  ApplicationIntent last;
  std::optional<ApplicationClocks> read_back;  // absent: announced, outcome unknown
  bool touched = false;
};

struct JournalContent {
  Header header;
  std::optional<LimitEntry> limit;
  std::optional<LockEntry> sm_clock;
  std::optional<LockEntry> memory_clock;
  std::optional<ApplicationEntry> application_clocks;
  std::size_t valid_bytes = 0;  // what follows in the file is a torn line

  [[nodiscard]] std::optional<LockEntry>& lock(Knob knob) {
    return knob == Knob::memory_clock ? memory_clock : sm_clock;
  }
  [[nodiscard]] const std::optional<LockEntry>& lock(Knob knob) const {
    return knob == Knob::memory_clock ? memory_clock : sm_clock;
  }
};

/// One line, with its check sum and line end.
[[nodiscard]] std::string print_record(const Record& record);

/// Adds a record to what is known; false where it answers an intention that was never announced.
[[nodiscard]] bool enter(JournalContent& content, const Record& record);

/// The shortest journal that says the same: for one that a long lease has made long.
[[nodiscard]] std::string print_content(const JournalContent& content);

/// Nothing: the file ends inside its header, so nothing was ever announced. Errors: corrupt where the file is
/// more than torn (a bad line with another after it, another GPU's header); not_supported for a newer format.
[[nodiscard]] Result<std::optional<JournalContent>> parse_journal(std::string_view bytes, const GpuId& gpu);

}  // namespace rubato::guard
