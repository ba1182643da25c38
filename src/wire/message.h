// The lease protocol: what `conduct` and a guard (or rubatod) say to each other. docs/protocol.md.
//
// One message is one datagram of a SOCK_SEQPACKET Unix socket, so there are no half messages:
// first line "rubato-lease/1 VERB SEQUENCE", then one "key value" a line, at most kLargestMessage bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "core/gpu_id.h"
#include "core/restoration.h"
#include "core/setting.h"

namespace rubato::wire {

inline constexpr std::size_t kLargestMessage = 16384;
inline constexpr std::size_t kMostGpus = 64;

// ---- client to guard ----
struct Hello {
  std::string client;  // "rubato 0.1.0 run 20261121-…", for display and the audit log
  std::string token;   // one-time, where the guard was started through sudo; else empty
};
/// Takes the GPUs; nothing is written yet. All or none.
struct Acquire {
  std::vector<GpuId> gpus;
  std::vector<Knob> knobs;                   // the only ones apply may touch
  std::optional<ClockRange> found_sm_clock;  // the lock the user says was in force before
  /// The slowdown the client promises to stay within, as a fraction; absent: it watches none.
  std::optional<double> max_slowdown{};
};
/// Absent members of `setting` are left as they are now.
struct Apply {
  GpuId gpu;
  Setting setting;
};
/// Puts one GPU back to what was found and keeps the lease: a control block.
struct Restore {
  GpuId gpu;
};
/// One-way, no reply.
struct Heartbeat {};
/// Restores every GPU of the lease and ends it.
struct Release {};
/// What rubatod manages and would let this client do; a guard of one run has no such thing.
struct StatusRequest {};

/// These GPUs are given to a job of the scheduler: every lease on them ends first. Of root, to rubatod.
struct JobBegin {
  std::int64_t slurm_job = 0;
  std::int64_t user = 0;
  std::vector<GpuId> gpus;
};
/// The job has ended, or (where none is named) nobody is to set these GPUs now: every lease on them ends. One
/// that was given to another job meanwhile is let be. Of root, to rubatod.
struct JobEnd {
  std::optional<std::int64_t> slurm_job;
  std::vector<GpuId> gpus;
};

/// Where the time of one kind of request goes, since rubatod began.
struct TimesRequest {
  std::string request;  // its verb: "apply"
};

// ---- guard to client ----
struct Welcome {
  std::int64_t guard_pid = 0;  // for display only
  std::string server{};        // "rubatod 0.1.0"; empty: the guard of one run
  std::string mode{};          // of rubatod: "manage", or "observe" where nothing will be set
};
struct Found {
  GpuId gpu;
  PowerLimits limits;
  std::string note;  // "put back 200 W which run … left behind", or empty
  std::optional<ApplicationClocks> application_clocks{};  // where the lease holds that knob
};
struct Granted {
  std::vector<Found> found;
};
struct Applied {
  GpuId gpu;
  std::optional<Watts> requested_limit;  // read back after the write
  std::optional<Watts> enforced_limit;
  std::optional<ApplicationClocks> application_clocks{};  // read back, where the lease holds that knob
  /// When the driver was asked for the first of the locks, on the clock the GPU lives on: what its reaching
  /// is timed from. Absent where no lock was asked for.
  std::optional<TimePoint> lock_asked{};
};
struct Restored {
  std::vector<RestorationReport> reports;
};
struct ManagedGpu {
  GpuId gpu;
  std::string name;   // as the driver calls the board
  std::string state;  // "free", "leased", "yours", or "away": why_not says why
  bool allowed = false;
  std::string why_not;                      // why this client could not lease it now
  std::optional<std::int64_t> index{};      // the driver's
  std::optional<std::int64_t> slurm_job{};  // that the scheduler gave it to
};
/// One GPU after JobBegin or JobEnd: nothing of rubato's is in force on it, unless the outcome is `failed`.
struct ClearedGpu {
  RestorationReport report;
  /// What it drew since its job began, by its own counter, and for how long; absent where it has none, where
  /// it was reset, or where no begin was told. After JobEnd only.
  std::optional<Joules> energy{};
  std::optional<Seconds> duration{};
};
struct Cleared {
  std::vector<ClearedGpu> gpus;
};
struct StatusReply {
  std::string mode;
  std::vector<ManagedGpu> gpus;
  std::string last_refusal;  // the last thing that was refused to this user, and why
};
struct TimedBin {
  Seconds up_to{};  // and longer than the bin before says
  std::uint64_t count = 0;
};
/// "total", or a part of it (docs/protocol.md), counted for every request.
struct TimedPart {
  std::string name;
  Seconds sum{};
  Seconds longest{};
  std::vector<TimedBin> bins{};  // ascending, those that are not empty
};
struct Timed {
  std::string request;
  std::vector<TimedPart> parts;
};
/// Any request can be answered by it; the state is then as before the request.
struct Refused {
  Error error;
};

using Body =
    std::variant<Hello, Acquire, Apply, Restore, Heartbeat, Release, StatusRequest, Welcome, Granted, Applied,
                 Restored, StatusReply, Refused, JobBegin, JobEnd, Cleared, TimesRequest, Timed>;

struct Message {
  std::uint64_t sequence = 0;  // a reply carries its request's
  Body body;
};

[[nodiscard]] std::string encode(const Message& message);
/// Errors: corrupt, naming the line; a message of another protocol version says which it needs.
[[nodiscard]] Result<Message> decode(std::string_view datagram);

}  // namespace rubato::wire
