// What the agents of one job say to each other (docs/agents-protocol.md). An agent is a `rubato run` that has
// GPUs of the job; one of them, rank 0's, leads.
//
// A message is text: first line "VERB", then one "key value" a line, at most kLargestMessage bytes. The
// version stands in the greeting of the stream that carries it (seal.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "core/block_role.h"
#include "core/gpu_id.h"
#include "core/kind.h"
#include "core/restoration.h"
#include "core/setting.h"
#include "govern/tally.h"

namespace rubato::agent {

inline constexpr std::size_t kLargestMessage = 32768;
inline constexpr std::size_t kMostGpus = 64;

// ---- member to leader ----
/// The first message of a member.
struct Join {
  std::string run;        // its run record
  std::string node;       // its machine's name, for people
  std::int64_t rank = 0;  // of the job
  std::int64_t world = 1;
  std::int64_t covers = 1;  // how many ranks' GPUs it measures
  std::string space;        // what may be set here, in words: all agents' must be the same
  std::vector<GpuId> gpus;
};

/// How an agent stands, about once a second and where something changed.
struct Report {
  std::int64_t iterations = 0;  // completed since its run began
  bool by_marks = false;        // the program itself counts them, so that all ranks count alike
  std::uint64_t epoch = 0;      // whose setting is in force
  bool may_set = false;
  std::string why_not;
  bool under_load = false;
  bool tuning = false;
  std::string shift;                   // why the job was noticed to have changed; empty: it was not
  std::optional<govern::Tally> tally;  // times on the agent's own clock
};

struct Ack {
  std::uint64_t epoch = 0;
  bool yes = false;
  std::string why_not;
};
/// The commit has arrived in time.
struct Received {
  std::uint64_t epoch = 0;
};
/// The commit came after the iteration it was for: this agent has not switched.
struct Late {
  std::uint64_t epoch = 0;
  std::string why;
};

struct GpuTotals {
  GpuId gpu;
  std::string name;
  std::optional<Joules> energy;
  Kind kind = Kind::measured;
  std::optional<Restoration> restoration;
};
/// One agent's part of the job's report.
struct Totals {
  std::string run;
  std::string node;
  std::int64_t rank = 0;
  Seconds duration;
  std::int64_t iterations = 0;
  std::optional<Joules> saved;      // against the same run at the found setting
  std::optional<Joules> saved_low;  // its interval
  std::optional<Joules> saved_high;
  std::vector<GpuTotals> gpus;
};
struct Bye {
  Totals totals;
};

// ---- leader to member ----
struct Welcome {
  std::string run;  // the leader's
};
/// For good: what joined does not belong into this job.
struct Refuse {
  std::string why;
};
/// A switch to come: `at` and `now` count the leader's iterations. An empty setting is the found one.
struct Propose {
  std::uint64_t epoch = 0;
  std::int64_t at = 0;
  std::int64_t now = 0;
  Seconds answer;  // how long an answer is waited for; a commit is good for twice as long
  Setting setting;
};
/// Everybody has said yes: it happens.
struct Commit {
  std::uint64_t epoch = 0;
};
/// It does not happen: hold what is in force.
struct Cancel {
  std::uint64_t epoch = 0;
  std::string why;
};
/// To the found setting, now and not at some iteration.
struct Halt {
  std::string why;
};
/// What the stretch that runs now is for.
struct Stage {
  BlockRole role = BlockRole::warmup;
  std::string why;
};
/// The leader lives.
struct Pulse {
  std::int64_t iterations = 0;
};

using Message = std::variant<Join, Report, Ack, Received, Late, Bye, Welcome, Refuse, Propose, Commit, Cancel,
                             Halt, Stage, Pulse>;

[[nodiscard]] std::string encode(const Message& message);
/// Errors: corrupt, naming the line.
[[nodiscard]] Result<Message> decode(std::string_view text);

}  // namespace rubato::agent
