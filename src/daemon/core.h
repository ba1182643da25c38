// rubatod's mind: who holds which GPU, on which terms, and for how long. Passive and single-threaded:
// connections, datagrams, answers of the GPUs' owners and time go in, datagrams and tasks come out. It never
// waits, so no GPU and no client can hold up another.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/lease_table.h"
#include "daemon/rules.h"
#include "daemon/surroundings.h"

namespace rubato::daemon {

struct CoreGpu {
  GpuIdentity identity;
  Owner* owner = nullptr;
};

struct CoreOptions {
  std::string server;  // "rubatod 0.1.0"
  std::int64_t pid = 0;
  std::vector<CoreGpu> gpus;
  Rules rules;
  std::function<void(const AuditEntry&)> audit;
  uid_t uid = 0;  // rubatod's own, whose word on jobs counts as root's does
  Jobs jobs{};    // as they were known before
  std::function<void(const Jobs&)> keep_jobs{};
  std::shared_ptr<const Clock> wall = std::make_shared<RealClock>();  // that requests are timed with
};

struct Outgoing {
  ConnectionId to = 0;
  std::string datagram;            // empty: nothing to say
  bool close = false;              // the client is to be let go, after that
  std::optional<Served> served{};  // the request that it answers
};

/// How often a leased GPU is looked at for other users, other managers and resets.
inline constexpr Seconds kLookPeriod{1.0};
/// A GPU that a guard or a fault keeps away is asked for again.
inline constexpr Seconds kRetryPeriod{1.0};
/// Who connects and says nothing that is understood is let go.
inline constexpr Seconds kGreetingPatience{10.0};

class Core {
 public:
  Core(CoreOptions options, TimePoint now);
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  void connected(ConnectionId id, Caller caller, TimePoint now);
  /// `queued`: how long it lay in its socket, where that is known.
  void received(ConnectionId id, std::string_view datagram, TimePoint now,
                std::optional<Seconds> queued = {});
  void disconnected(ConnectionId id, TimePoint now);
  void answered(Ticket ticket, Outcome outcome, TimePoint now, const Spent& spent = {});
  /// It is in the client's socket.
  void sent(const Outgoing& message);
  void step(const Surroundings& surroundings, TimePoint now);

  /// Leases that the new rules do not allow end.
  void use_rules(Rules rules, TimePoint now);
  /// Every lease ends, and no other begins.
  void stop(const std::string& why, TimePoint now);

  /// Every GPU has been asked for once.
  [[nodiscard]] bool prepared() const;
  /// No lease is left, nor on its way back.
  [[nodiscard]] bool idle() const;
  /// No GPU is left changed by a driver that refused to put back; it is asked again every kRetryPeriod.
  [[nodiscard]] bool all_back() const;
  [[nodiscard]] const Rules& rules() const { return rules_; }
  [[nodiscard]] std::vector<Outgoing> take_outgoing() { return std::exchange(outgoing_, {}); }
  /// Tells whoever waits for a driver that works, but slowly. Once a second, of the wall's.
  void give_signs_of_life();

 private:
  // core_requests.cpp
  void pump(ConnectionId id, TimePoint now);
  void handle(ConnectionId id, Client& client, wire::Message message, TimePoint now);
  Status acquire(ConnectionId id, Client& client, const wire::Message& message, TimePoint now);
  Status apply(ConnectionId id, Client& client, const wire::Message& message, TimePoint now);
  Status restore(ConnectionId id, Client& client, const wire::Message& message, TimePoint now);
  Status take_setting(Lease& lease, TimePoint now) const;
  Status release(ConnectionId id, Client& client, const wire::Message& message, TimePoint now);
  [[nodiscard]] Status may_lease_all(const Client& client, const wire::Acquire& request) const;
  [[nodiscard]] Status may_state_found(const Client& client, const wire::Acquire& request) const;
  [[nodiscard]] wire::StatusReply status_for(ConnectionId id, const Client& client) const;
  [[nodiscard]] Result<std::vector<std::size_t>> places_of(const Client& client,
                                                           const wire::Acquire& request) const;
  [[nodiscard]] Result<std::size_t> leased_place(const Client& client, const GpuId& gpu) const;
  [[nodiscard]] Status may_anything() const;
  [[nodiscard]] Watts highest_limit(std::size_t place) const;
  [[nodiscard]] Watts others_limits(std::size_t except) const;

  // core_jobs.cpp
  Status tell_job(ConnectionId id, Client& client, const wire::Message& message, TimePoint now);
  void clear(ConnectionId id, const JobCall& call, std::size_t place, TimePoint now);
  void cleared_one(const Pending& task, const Outcome& outcome, TimePoint now);
  void all_cleared(ConnectionId id, Client& client, TimePoint now);
  void keep_jobs() const;

  // core_leases.cpp
  void prepared_one(const Pending& task, const Outcome& outcome, TimePoint now);
  void taken_one(const Pending& task, Outcome outcome, TimePoint now);
  void set_one(const Pending& task, Outcome outcome, TimePoint now);
  void ended_one(const Pending& task, const Outcome& outcome, TimePoint now);
  void looked_at_one(const Pending& task, const Outcome& outcome, TimePoint now);
  void all_taken(ConnectionId id, TimePoint now);
  void note_taken(const Client& client, TimePoint now);
  void give_back(ConnectionId id, Lease& lease, std::size_t place);
  void free_gpu(std::size_t place, ConnectionId holder);
  void end_lease(ConnectionId id, std::optional<Error> why, TimePoint now);
  void all_ended(ConnectionId id, TimePoint now);
  void end_all(const Error& why, TimePoint now);

  // core.cpp
  void keep_setting(const Pending& task, const Outcome& outcome);
  [[nodiscard]] Status may_keep(const Client& client) const;
  void look_whether_stuck(GpuEntry& gpu) const;
  void post(const Pending& task, Task work);
  void reply(ConnectionId id, std::uint64_t sequence, wire::Body body);
  void refuse(ConnectionId id, const Client& client, std::uint64_t sequence, Error error, TimePoint now);
  void note(AuditEntry entry, const Client* client, TimePoint now);
  [[nodiscard]] User& user_of(const Client& client, TimePoint now);
  [[nodiscard]] Client* find(ConnectionId id);
  /// Root, or the user rubatod itself runs as: who could set the GPU without it.
  [[nodiscard]] bool is_masters(const Client& client) const;
  /// The rule for the caller on this GPU; null: none.
  [[nodiscard]] const Rule* rule_of(const Client& client, const GpuId& gpu) const;
  [[nodiscard]] const GpuEntry* entry_of(const GpuId& gpu) const;

  CoreOptions options_;
  Rules rules_;
  Surroundings surroundings_;
  std::optional<std::string> stopping_;
  std::vector<GpuEntry> gpus_;
  std::map<ConnectionId, Client> clients_;
  std::map<Ticket, Pending> pending_;
  Ticket last_ticket_ = 0;
  std::vector<Outgoing> outgoing_;
  std::map<uid_t, User> users_;
  RequestTimes times_;
};

}  // namespace rubato::daemon
