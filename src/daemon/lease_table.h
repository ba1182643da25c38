// Who is connected, what they hold and what they wait for. Plain data of the core.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "daemon/audit.h"
#include "daemon/jobs.h"
#include "daemon/owner_thread.h"
#include "daemon/rate_limit.h"
#include "wire/message.h"

namespace rubato::daemon {

using ConnectionId = std::uint64_t;

enum class LeaseState { taking, held, ending };

struct Lease {
  wire::Acquire terms;
  std::vector<std::size_t> gpus;  // places in the table of GPUs, in the order asked for
  LeaseState state = LeaseState::taking;
  bool observed = false;                          // nothing is held, and nothing will be set
  std::size_t unanswered = 0;                     // tasks of taking, or of ending
  std::optional<std::uint64_t> request;           // that still waits for its reply: an acquire, or a release
  std::vector<std::optional<wire::Found>> found;  // for each of `gpus`
  std::vector<RestorationReport> reports;
  std::optional<Error> failure;  // why it could not be taken
  std::optional<Error> over;     // why it was ended, where the client did not ask for that
  RateLimit settings;
  // For each of `gpus`, held against new rules:
  std::vector<Setting> in_force{};
  std::vector<bool> shared{};  // taken wherever others compute
};

/// What is remembered of a user beyond their connections.
struct User {
  RateLimit leases;
  RateLimit log;             // of what was done
  RateLimit refused;         // and of what was not
  std::size_t left_out = 0;  // lines since the last one
  std::string last_refusal{};
};

/// A set or a restore that the driver is at.
struct InFlight {
  std::uint64_t sequence = 0;
  std::size_t gpu = 0;
  Setting setting;
};

/// What the scheduler told of a job, until every GPU of it is clear.
struct JobCall {
  std::uint64_t sequence = 0;
  std::optional<std::int64_t> slurm_job{};
  bool begins = false;
  std::vector<std::size_t> gpus{};  // places, in the order told
  wire::Cleared reply{};            // one for each
  std::size_t unanswered = 0;
  std::vector<std::optional<GpuJob>> before{};  // whose each was
};

/// A request that has been read.
struct Arrived {
  wire::Message message;
  TimePoint read{};                 // on the wall's clock, as what follows
  std::optional<Seconds> queued{};  // before that, in its socket
};

struct Client {
  Caller caller;
  TimePoint connected_at;
  TimePoint last_heard;
  std::string name{};  // as it calls itself
  bool greeted = false;
  bool gone = false;  // what it held is still on its way back
  unsigned garbage = 0;
  std::deque<Arrived> waiting{};
  std::optional<Served> serving{};  // times of the request under way, where they are counted
  TimePoint answered_at{};          // the last one, on the wall's clock
  std::optional<Lease> lease{};
  std::optional<InFlight> in_flight{};
  std::optional<JobCall> job_call{};
  std::optional<Error> ended{};                 // why there is no lease any more, until the next one
  std::vector<RestorationReport> ended_with{};  // how it ended then

  /// What comes next has to wait.
  [[nodiscard]] bool busy() const {
    return in_flight || job_call || (lease && lease->state != LeaseState::held);
  }
};

struct GpuEntry {
  GpuIdentity identity;
  Owner* owner = nullptr;
  bool ready = false;
  std::string away = "rubatod has just started";  // why not, where it is not
  bool asked = false;                             // a Prepare is under way
  bool stuck = false;                             // in which the driver begins no call any more
  std::uint64_t calls_asked = 0;                  // driver calls at the last look
  TimePoint moved_at;                             // when there were others, on the wall's clock
  bool changed = false;                           // its last lease could not put back what it had found
  TimePoint next_try;                             // of the next one
  bool looking = false;
  TimePoint next_look;
  std::optional<ConnectionId> holder;
  std::optional<PowerLimits> limits;       // as last heard
  std::uint64_t calls_told = 0;            // driver calls of the last sign of life
  std::optional<GpuJob> job;               // that the scheduler gave it to
  std::optional<RestorationReport> ended;  // how the last lease on it did
};

enum class TaskKind { prepare, take, set, put_back, end, look, clear };

struct Pending {
  TaskKind kind = TaskKind::prepare;
  std::size_t gpu = 0;
  ConnectionId client = 0;
};

}  // namespace rubato::daemon
