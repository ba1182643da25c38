#include "daemon/core.h"

#include <algorithm>
#include <set>
#include <vector>

#include "base/text.h"
#include "wire/lease_client.h"

namespace rubato::daemon {
namespace {

/// Datagrams that nobody can read, before whoever sends them is let go.
constexpr unsigned kMostGarbage = 16;
/// Requests that wait for the one before them. A client of ours has one under way.
constexpr std::size_t kMostWaiting = 8;
/// Nobody is let in to wait behind a Prepare in which the driver began no call for so long.
constexpr Seconds kStuckAfter{4.5};
/// Users that are remembered.
constexpr std::size_t kMostUsers = 1024;
/// Lines a second that one user's requests may put into the log, which lies on a disk; the others are
/// counted.
constexpr double kLinesPerSecond = 10;

/// What a driver did not put back has to be known, and only root tells of jobs.
bool always_written(const AuditEntry& entry) {
  return entry.event == "job" || (entry.event == "end" && entry.decision == "failed");
}

}  // namespace

Core::Core(CoreOptions options, TimePoint now) : options_(std::move(options)), rules_(options_.rules) {
  for (const CoreGpu& gpu : options_.gpus) {
    GpuEntry entry;
    entry.identity = gpu.identity;
    entry.owner = gpu.owner;
    entry.next_try = now;
    if (const auto job = options_.jobs.find(gpu.identity.id); job != options_.jobs.end())
      entry.job = job->second;
    gpus_.push_back(std::move(entry));
  }
  step({}, now);
}

Client* Core::find(ConnectionId id) {
  const auto found = clients_.find(id);
  return found == clients_.end() ? nullptr : &found->second;
}

const GpuEntry* Core::entry_of(const GpuId& gpu) const {
  const auto found =
      std::find_if(gpus_.begin(), gpus_.end(), [&](const GpuEntry& one) { return one.identity.id == gpu; });
  return found == gpus_.end() ? nullptr : &*found;
}

const Rule* Core::rule_of(const Client& client, const GpuId& gpu) const {
  const GpuEntry* entry = entry_of(gpu);
  return rule_for(rules_, entry == nullptr ? client.caller : placed(client.caller, entry->job), gpu);
}

bool Core::is_masters(const Client& client) const {
  return client.caller.uid == 0 || client.caller.uid == options_.uid;
}

void Core::connected(ConnectionId id, Caller caller, TimePoint now) {
  clients_.emplace(id, Client{.caller = std::move(caller), .connected_at = now, .last_heard = now});
}

void Core::received(ConnectionId id, std::string_view datagram, TimePoint now,
                    std::optional<Seconds> queued) {
  const TimePoint read = options_.wall->now();
  Client* client = find(id);
  if (client == nullptr || client->gone) return;
  client->last_heard = std::max(client->last_heard, now);
  auto message = wire::decode(datagram);
  if (!message) {
    reply(id, 0, wire::Refused{message.error()});
    if (++client->garbage > kMostGarbage) outgoing_.push_back({id, {}, true});
    return;
  }
  if (std::holds_alternative<wire::Heartbeat>(message->body)) return;
  if (client->waiting.size() >= kMostWaiting) {
    refuse(id, *client, message->sequence,
           {ErrorCode::busy, cat("more than ", kMostWaiting, " requests wait already"),
            "wait for a reply before the next request"},
           now);
    return;
  }
  client->waiting.push_back({std::move(*message), read, queued});
  pump(id, now);
}

void Core::disconnected(ConnectionId id, TimePoint now) {
  Client* client = find(id);
  if (client == nullptr || client->gone) return;
  client->gone = true;
  client->waiting.clear();
  if (!client->lease) {
    clients_.erase(id);
    return;
  }
  client->lease->request.reset();
  end_lease(id, Error{ErrorCode::unavailable, "the client is gone", {}}, now);
}

void Core::answered(Ticket ticket, Outcome outcome, TimePoint now, const Spent& spent) {
  const auto found = pending_.find(ticket);
  if (found == pending_.end()) return;
  const Pending task = found->second;
  pending_.erase(found);
  if (Client* client = find(task.client); client != nullptr && client->serving && task.kind != TaskKind::look)
    client->serving->add(spent, options_.wall->now());
  switch (task.kind) {
    case TaskKind::prepare:
      return prepared_one(task, outcome, now);
    case TaskKind::take:
      return taken_one(task, std::move(outcome), now);
    case TaskKind::set:
    case TaskKind::put_back:
      keep_setting(task, outcome);
      return set_one(task, std::move(outcome), now);
    case TaskKind::end:
      return ended_one(task, outcome, now);
    case TaskKind::look:
      return looked_at_one(task, outcome, now);
    case TaskKind::clear:
      return cleared_one(task, outcome, now);
  }
}

void Core::step(const Surroundings& surroundings, TimePoint now) {
  surroundings_ = surroundings;
  if (const Status fine = may_anything(); !fine && !idle()) end_all(fine.error(), now);
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    GpuEntry& gpu = gpus_[i];
    if (!gpu.ready && !gpu.asked && !gpu.holder && now >= gpu.next_try) {
      gpu.asked = true;
      gpu.moved_at = options_.wall->now();
      post({TaskKind::prepare, i, 0}, Prepare{});
    }
    if (gpu.asked) look_whether_stuck(gpu);
    if (gpu.holder && !gpu.looking && now >= gpu.next_look) {
      const Client* holder = find(*gpu.holder);
      if (holder == nullptr || !holder->lease || holder->lease->state != LeaseState::held) continue;
      gpu.looking = true;
      gpu.next_look = now + kLookPeriod;
      post({TaskKind::look, i, *gpu.holder}, Look{});
    }
  }
  std::vector<ConnectionId> silent;
  for (const auto& [id, client] : clients_) {
    if (!client.greeted && !client.gone && now - client.connected_at > kGreetingPatience)
      outgoing_.push_back({id, {}, true});
    if (client.lease && client.lease->state == LeaseState::held && !client.in_flight &&
        now - client.last_heard >= wire::kLeaseTimeout)
      silent.push_back(id);
  }
  for (const ConnectionId id : silent)
    end_lease(
        id,
        Error{ErrorCode::timeout, cat("the lease ended after ", wire::kLeaseTimeout, " without a heartbeat"),
              "acquire the GPUs again"},
        now);
}

void Core::keep_setting(const Pending& task, const Outcome& outcome) {
  Client* client = find(task.client);
  if (client == nullptr || !client->lease || !client->in_flight || !outcome) return;
  Lease& lease = *client->lease;
  const Setting& asked = client->in_flight->setting;
  const auto* put_back = std::get_if<RestorationReport>(&*outcome);
  for (std::size_t i = 0; i < lease.gpus.size(); ++i) {
    if (lease.gpus[i] != task.gpu) continue;
    Setting& now = lease.in_force[i];
    if (put_back != nullptr && put_back->outcome != Restoration::failed) now = {};
    if (asked.power_limit) now.power_limit = asked.power_limit;
    if (asked.sm_clock) now.sm_clock = asked.sm_clock;
    if (asked.memory_clock) now.memory_clock = asked.memory_clock;
    if (asked.application_clocks) now.application_clocks = asked.application_clocks;
  }
}

/// A lease, by the rules as they are now.
Status Core::may_keep(const Client& client) const {
  const Lease& lease = *client.lease;
  if (Status fine = may_lease_all(client, lease.terms); !fine) return fine;
  if (lease.observed != (rules_.mode == Mode::observe))
    return fail(ErrorCode::unavailable, "rubatod's mode was changed", "ask again");
  for (std::size_t i = 0; i < lease.gpus.size(); ++i) {
    const GpuId& gpu = gpus_[lease.gpus[i]].identity.id;
    const Rule* rule = rule_of(client, gpu);
    if (rule == nullptr || (lease.shared[i] && !rule->shared))
      return fail(ErrorCode::no_permission,
                  cat(gpu.uuid, ": rubatod's rules no longer allow it where others compute"), "ask again");
    if (Status fine = may_set(*rule, gpu, lease.in_force[i]); !fine) return fine;
    if (client.in_flight && client.in_flight->gpu == lease.gpus[i])
      if (Status fine = may_set(*rule, gpu, client.in_flight->setting); !fine) return fine;
  }
  return {};
}

/// As conduct/patience does it: a driver that is slow goes on beginning calls.
void Core::look_whether_stuck(GpuEntry& gpu) const {
  const TimePoint now = options_.wall->now();
  const std::uint64_t calls = gpu.owner->calls();
  if (std::exchange(gpu.calls_asked, calls) != calls) gpu.moved_at = now;
  gpu.stuck = now - gpu.moved_at >= kStuckAfter;
  if (gpu.stuck) gpu.away = "its driver does not answer";
}

void Core::use_rules(Rules rules, TimePoint now) {
  rules_ = std::move(rules);
  std::vector<std::pair<ConnectionId, Error>> ending;
  for (const auto& [id, client] : clients_) {
    if (!client.lease || client.lease->state == LeaseState::ending) continue;
    if (Status fine = may_keep(client); !fine) ending.emplace_back(id, fine.error());
  }
  for (const auto& [id, why] : ending) end_lease(id, why, now);
}

void Core::stop(const std::string& why, TimePoint now) {
  if (!stopping_) stopping_ = why;
  end_all(may_anything().error(), now);
}

bool Core::prepared() const {
  return std::all_of(gpus_.begin(), gpus_.end(), [](const GpuEntry& gpu) {
    return gpu.ready || (!gpu.asked && gpu.next_try > TimePoint{});
  });
}

bool Core::idle() const {
  return std::none_of(clients_.begin(), clients_.end(),
                      [](const auto& client) { return client.second.lease.has_value(); });
}

bool Core::all_back() const {
  return std::none_of(gpus_.begin(), gpus_.end(), [](const GpuEntry& gpu) { return gpu.changed; });
}

void Core::give_signs_of_life() {
  std::vector<bool> moves;
  for (GpuEntry& gpu : gpus_) {
    const std::uint64_t calls = gpu.owner->calls();
    moves.push_back(std::exchange(gpu.calls_told, calls) != calls);
  }
  // To those who wait for that GPU: others may move because others use them.
  std::set<ConnectionId> waiting;
  for (const auto& [ticket, task] : pending_)
    if (task.kind != TaskKind::look && moves[task.gpu]) waiting.insert(task.client);
  for (const ConnectionId id : waiting)
    if (const Client* client = find(id); client != nullptr && client->busy() && !client->gone)
      reply(id, 0, wire::Heartbeat{});
}

void Core::post(const Pending& task, Task work) {
  pending_.emplace(++last_ticket_, task);
  gpus_[task.gpu].owner->post(last_ticket_, std::move(work));
}

void Core::reply(ConnectionId id, std::uint64_t sequence, wire::Body body) {
  Outgoing message{.to = id};
  if (Client* client = find(id); client != nullptr && !std::holds_alternative<wire::Heartbeat>(body)) {
    client->answered_at = options_.wall->now();
    if (!std::holds_alternative<wire::Refused>(body)) message.served = std::exchange(client->serving, {});
  }
  message.datagram = wire::encode({sequence, std::move(body)});
  outgoing_.push_back(std::move(message));
}

void Core::sent(const Outgoing& message) {
  if (message.served) times_.add(*message.served, options_.wall->now());
}

User& Core::user_of(const Client& client, TimePoint now) {
  const auto known = users_.find(client.caller.uid);
  if (known != users_.end()) return known->second;
  if (users_.size() >= kMostUsers) users_.clear();
  return users_
      .emplace(client.caller.uid, User{.leases = RateLimit(rules_.rates.leases_per_s, now),
                                       .log = RateLimit(kLinesPerSecond, now),
                                       .refused = RateLimit(kLinesPerSecond, now)})
      .first->second;
}

void Core::refuse(ConnectionId id, const Client& client, std::uint64_t sequence, Error error, TimePoint now) {
  if (client.greeted) user_of(client, now).last_refusal = error.what;
  reply(id, sequence, wire::Refused{std::move(error)});
}

void Core::note(AuditEntry entry, const Client* client, TimePoint now) {
  if (client != nullptr) {
    const GpuEntry* gpu = entry.gpus.empty() ? nullptr : entry_of(entry.gpus.front());
    entry.caller = gpu == nullptr ? client->caller : placed(client->caller, gpu->job);
    entry.client = client->name;
    User& user = user_of(*client, now);
    // Of its own: who is refused all the time must not hide what they set.
    const bool nothing_done = entry.decision == "refused" || entry.decision.starts_with("would_");
    if (!(nothing_done ? user.refused : user.log).take(now) && !always_written(entry)) {
      ++user.left_out;
      return;
    }
    if (user.left_out > 0)
      entry.why += cat(entry.why.empty() ? "" : " ", "(", std::exchange(user.left_out, 0),
                       " more lines of this user's were left out before)");
  }
  if (options_.audit) options_.audit(entry);
}

}  // namespace rubato::daemon
