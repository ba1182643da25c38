// How a lease begins, lives and ends, one answer of a GPU's owner after the other.
#include <algorithm>

#include "base/text.h"
#include "daemon/core.h"

namespace rubato::daemon {
namespace {

std::string in_words(const std::vector<RestorationReport>& reports) {
  std::string words;
  for (const RestorationReport& report : reports)
    words += cat(words.empty() ? "" : "; ", report.gpu.uuid, " ", name_of(report.outcome),
                 report.detail.empty() ? "" : ": ", report.detail);
  return words;
}

bool any_failed(const std::vector<RestorationReport>& reports) {
  return std::any_of(reports.begin(), reports.end(),
                     [](const RestorationReport& report) { return report.outcome == Restoration::failed; });
}

/// Of a GPU among those of its lease.
std::size_t place_in(const Lease& lease, std::size_t gpu) {
  return static_cast<std::size_t>(std::find(lease.gpus.begin(), lease.gpus.end(), gpu) - lease.gpus.begin());
}

Error answered_else() {
  return {ErrorCode::internal, "the GPU's owner answered something else", {}};
}

}  // namespace

void Core::prepared_one(const Pending& task, const Outcome& outcome, TimePoint now) {
  GpuEntry& gpu = gpus_[task.gpu];
  gpu.asked = gpu.stuck = false;
  gpu.next_try = now + kRetryPeriod;
  if (!outcome) {
    // The same news every second would fill the log.
    if (gpu.away != outcome.error().what)
      note({.event = "start", .decision = "failed", .gpus = {gpu.identity.id}, .why = outcome.error().what},
           nullptr, now);
    gpu.away = outcome.error().what;
    gpu.changed = gpu.changed || outcome.error().code == ErrorCode::conflict;  // a dead run's setting stands
    return;
  }
  const auto* prepared = std::get_if<Prepared>(&*outcome);
  if (prepared == nullptr) return;
  gpu.ready = true;
  gpu.changed = false;
  gpu.away.clear();
  gpu.limits = prepared->limits;
  if (prepared->left_behind)
    note({.event = "restore",
          .decision = prepared->left_behind->outcome == Restoration::failed ? "failed" : "done",
          .gpus = {gpu.identity.id},
          .why = cat("left behind by a dead run: ", in_words({*prepared->left_behind}))},
         nullptr, now);
}

void Core::taken_one(const Pending& task, Outcome outcome, TimePoint now) {
  Client* client = find(task.client);
  if (client == nullptr || !client->lease) return;
  Lease& lease = *client->lease;
  --lease.unanswered;
  if (auto* found = outcome ? std::get_if<wire::Found>(&*outcome) : nullptr) {
    gpus_[task.gpu].limits = found->limits;
    lease.found[place_in(lease, task.gpu)] = std::move(*found);
    if (lease.state == LeaseState::ending) give_back(task.client, lease, task.gpu);
  } else {
    free_gpu(task.gpu, task.client);
    if (lease.state == LeaseState::taking)
      return end_lease(task.client, outcome ? answered_else() : outcome.error(), now);
  }
  if (lease.unanswered > 0) return;
  if (lease.state == LeaseState::ending)
    all_ended(task.client, now);
  else
    all_taken(task.client, now);
}

void Core::all_taken(ConnectionId id, TimePoint now) {
  Client& client = clients_.at(id);
  Lease& lease = *client.lease;
  note_taken(client, now);
  lease.state = LeaseState::held;
  client.last_heard = std::max(client.last_heard, now);
  client.ended.reset();
  client.ended_with.clear();
  wire::Granted granted;
  for (const auto& found : lease.found) granted.found.push_back(*found);
  reply(id, *lease.request, std::move(granted));
  lease.request.reset();
  pump(id, now);
}

void Core::note_taken(const Client& client, TimePoint now) {
  const Lease& lease = *client.lease;
  AuditEntry entry{.event = "lease",
                   .decision = lease.failure    ? "refused"
                               : lease.observed ? "would_grant"
                                                : "granted",
                   .gpus = lease.terms.gpus,
                   .knobs = lease.terms.knobs,
                   .found_sm_clock = lease.terms.found_sm_clock,
                   .why = lease.failure ? lease.failure->what : std::string()};
  if (const Rule* rule = rule_of(client, lease.terms.gpus.front())) entry.rule = rule->name;
  note(std::move(entry), &client, now);
}

void Core::set_one(const Pending& task, Outcome outcome, TimePoint now) {
  Client* client = find(task.client);
  if (client == nullptr || !client->in_flight) return;
  const InFlight request = *client->in_flight;
  client->in_flight.reset();
  // A slow driver call is not the client's silence.
  client->last_heard = std::max(client->last_heard, now);
  const bool sets = task.kind == TaskKind::set;
  AuditEntry entry{.event = sets ? "set" : "restore",
                   .decision = "done",
                   .gpus = {gpus_[task.gpu].identity.id},
                   .setting = request.setting};
  if (const Rule* rule = rule_of(*client, entry.gpus.front()); sets && rule != nullptr)
    entry.rule = rule->name;
  std::optional<wire::Body> answer;
  if (outcome) {
    if (auto* applied = std::get_if<wire::Applied>(&*outcome)) {
      auto& limits = gpus_[task.gpu].limits;
      if (limits && applied->requested_limit) limits->requested = *applied->requested_limit;
      answer = std::move(*applied);
    } else if (auto* report = std::get_if<RestorationReport>(&*outcome)) {
      if (report->outcome == Restoration::failed)
        entry.decision = "failed";
      else if (client->lease)
        if (const auto& found = client->lease->found[place_in(*client->lease, task.gpu)])
          gpus_[task.gpu].limits = found->limits;
      entry.why = report->detail;
      answer = wire::Restored{{std::move(*report)}};
    }
  } else {
    entry.decision = "failed";
    entry.why = outcome.error().what;
  }
  note(std::move(entry), client, now);
  if (!client->gone && answer) reply(task.client, request.sequence, std::move(*answer));
  if (!client->gone && !answer)
    refuse(task.client, *client, request.sequence, outcome ? answered_else() : outcome.error(), now);
  pump(task.client, now);
}

// Each GPU for itself: one that hangs while it is taken or given back keeps none of the others.
void Core::end_lease(ConnectionId id, std::optional<Error> why, TimePoint now) {
  Client& client = clients_.at(id);
  Lease& lease = *client.lease;
  if (lease.state == LeaseState::ending) return;
  const bool taken = lease.state == LeaseState::held;
  lease.state = LeaseState::ending;
  (taken ? lease.over : lease.failure) = std::move(why);
  if (!taken) note_taken(client, now);
  lease.reports.clear();
  for (const std::size_t place : lease.gpus)
    lease.reports.push_back({gpus_[place].identity.id, Restoration::not_needed, {}});
  for (std::size_t i = 0; i < lease.gpus.size(); ++i)
    if (lease.found[i]) give_back(id, lease, lease.gpus[i]);
  if (lease.unanswered == 0) all_ended(id, now);
}

void Core::give_back(ConnectionId id, Lease& lease, std::size_t place) {
  if (lease.observed) return;
  ++lease.unanswered;
  post({TaskKind::end, place, id}, End{});
}

void Core::free_gpu(std::size_t place, ConnectionId holder) {
  if (gpus_[place].holder == holder) gpus_[place].holder.reset();
}

void Core::ended_one(const Pending& task, const Outcome& outcome, TimePoint now) {
  Client* client = find(task.client);
  if (client == nullptr || !client->lease) return;
  Lease& lease = *client->lease;
  const std::size_t at = place_in(lease, task.gpu);
  RestorationReport& report = lease.reports[at];
  if (!outcome)
    report = {report.gpu, Restoration::failed, outcome.error().what};
  else if (const auto* told = std::get_if<RestorationReport>(&*outcome))
    report = *told;
  GpuEntry& gpu = gpus_[task.gpu];
  gpu.ended = report;
  gpu.changed = report.outcome == Restoration::failed;
  if (gpu.changed) {
    gpu.ready = false;
    gpu.away = report.detail;
    gpu.next_try = now + kRetryPeriod;
  } else if (const auto& found = lease.found[at]) {
    gpu.limits = found->limits;  // what was set last is in force no more
  }
  free_gpu(task.gpu, task.client);
  if (--lease.unanswered == 0) all_ended(task.client, now);
}

void Core::all_ended(ConnectionId id, TimePoint now) {
  Client& client = clients_.at(id);
  Lease lease = std::move(*client.lease);
  client.lease.reset();
  client.in_flight.reset();
  if (!lease.failure) {
    const std::string why = lease.over ? lease.over->what + "; " : std::string();
    note({.event = "end",
          .decision = any_failed(lease.reports) ? "failed" : "done",
          .gpus = lease.terms.gpus,
          .why = why + in_words(lease.reports)},
         &client, now);
  }
  if (client.gone) {
    clients_.erase(id);
    return;
  }
  if (lease.failure && lease.request) {
    refuse(id, client, *lease.request, *lease.failure, now);
  } else if (lease.request) {
    reply(id, *lease.request, wire::Restored{lease.reports});
  } else if (lease.over) {
    lease.over->what += "; " + in_words(lease.reports);
    client.ended = std::move(lease.over);
    client.ended_with = std::move(lease.reports);
  }
  pump(id, now);
}

void Core::end_all(const Error& why, TimePoint now) {
  std::vector<ConnectionId> all;
  for (const auto& [id, client] : clients_)
    if (client.lease) all.push_back(id);
  for (const ConnectionId id : all) end_lease(id, why, now);
}

void Core::looked_at_one(const Pending& task, const Outcome& outcome, TimePoint now) {
  GpuEntry& gpu = gpus_[task.gpu];
  gpu.looking = false;
  const Client* client = find(task.client);
  if (client == nullptr || gpu.holder != task.client || !client->lease ||
      client->lease->state != LeaseState::held)
    return;
  const auto* seen = outcome ? std::get_if<Seen>(&*outcome) : nullptr;
  if (seen != nullptr && seen->trouble) {
    end_lease(task.client, seen->trouble, now);
  } else if (seen != nullptr) {
    gpu.limits = seen->limits;
  } else if (!outcome && outcome.error().code == ErrorCode::device_lost) {
    end_lease(task.client, outcome.error(), now);
  }
}

}  // namespace rubato::daemon
