// What a client may ask for.
#include <algorithm>

#include "base/text.h"
#include "daemon/core.h"
#include "guard/guard.h"

namespace rubato::daemon {
namespace {

/// The name a client gives itself is shown and written down, not believed; no more of it than this.
constexpr std::size_t kLongestName = 200;

Error only_observes(const GpuId& gpu, const Setting& setting) {
  return {ErrorCode::unavailable,
          cat(gpu.uuid, ": rubatod only observes here: it would have set ", describe(setting)),
          "an administrator lets it set by mode = \"manage\" in its configuration"};
}

}  // namespace

void Core::pump(ConnectionId id, TimePoint now) {
  for (Client* client = find(id); client != nullptr && !client->busy() && !client->waiting.empty();
       client = find(id)) {
    Arrived next = std::move(client->waiting.front());
    client->waiting.pop_front();
    client->serving.reset();
    if (const auto verb = timed_verb(next.message.body))
      client->serving =
          Served{.verb = *verb, .begun = std::max(next.read, client->answered_at), .queued = next.queued};
    handle(id, *client, std::move(next.message), now);
  }
}

void Core::handle(ConnectionId id, Client& client, wire::Message message, TimePoint now) {
  if (const auto* hello = std::get_if<wire::Hello>(&message.body)) {
    client.greeted = true;
    client.name = hello->client.substr(0, kLongestName);
    reply(id, message.sequence,
          wire::Welcome{options_.pid, options_.server, std::string(name_of(rules_.mode))});
    return;
  }
  Status done = fail(ErrorCode::invalid_argument, "rubatod was sent a reply instead of a request");
  if (!client.greeted) {
    done = fail(ErrorCode::no_permission, "rubatod wants a Hello first");
  } else if (std::holds_alternative<wire::StatusRequest>(message.body)) {
    reply(id, message.sequence, status_for(id, client));
    return;
  } else if (const auto* asked = std::get_if<wire::TimesRequest>(&message.body)) {
    auto times = times_.of(asked->request);
    if (times) {
      reply(id, message.sequence, std::move(*times));
      return;
    }
    done = fail(times.error());
  } else if (std::holds_alternative<wire::Acquire>(message.body)) {
    done = acquire(id, client, message, now);
  } else if (std::holds_alternative<wire::Apply>(message.body)) {
    done = apply(id, client, message, now);
  } else if (std::holds_alternative<wire::Restore>(message.body)) {
    done = restore(id, client, message, now);
  } else if (std::holds_alternative<wire::Release>(message.body)) {
    done = release(id, client, message, now);
  } else if (std::holds_alternative<wire::JobBegin>(message.body) ||
             std::holds_alternative<wire::JobEnd>(message.body)) {
    done = tell_job(id, client, message, now);
  }
  if (!done) refuse(id, client, message.sequence, done.error(), now);
}

Status Core::may_anything() const {
  if (stopping_) return fail(ErrorCode::unavailable, cat("rubatod is ending: ", *stopping_));
  if (surroundings_.disabled)
    return fail(ErrorCode::unavailable, "an administrator has disabled rubato on this machine");
  if (!surroundings_.never.empty())
    return fail(ErrorCode::unavailable, cat("rubatod sets nothing now: ", surroundings_.never),
                "ask again later");
  return {};
}

Result<std::vector<std::size_t>> Core::places_of(const Client& client, const wire::Acquire& request) const {
  std::vector<std::size_t> places;
  for (const GpuId& wanted : request.gpus) {
    const auto found = std::find_if(gpus_.begin(), gpus_.end(),
                                    [&](const GpuEntry& gpu) { return gpu.identity.id == wanted; });
    if (found == gpus_.end())
      return fail(ErrorCode::not_found, cat("rubatod manages no GPU ", wanted.uuid), "rubato doctor");
    places.push_back(static_cast<std::size_t>(found - gpus_.begin()));
    // One that is being asked for waits in its owner's queue behind that.
    if (!found->ready && (!found->asked || found->stuck))
      return fail(ErrorCode::unavailable, cat(wanted.uuid, ": ", found->away));
    if (!found->holder) continue;
    const auto holder = clients_.find(*found->holder);
    const bool own = holder != clients_.end() && holder->second.caller.uid == client.caller.uid;
    return fail(ErrorCode::busy,
                cat(wanted.uuid, " is in another lease",
                    own ? cat(" of yours (process ", holder->second.caller.pid, ")") : std::string()),
                "wait until that run ends, or choose another GPU with --gpu");
  }
  return places;
}

Status Core::may_lease_all(const Client& client, const wire::Acquire& request) const {
  if (!client.caller.began)
    return fail(ErrorCode::no_permission,
                cat("who asks cannot be told: process ", client.caller.pid, ", which connected as user ",
                    client.caller.uid, ", was gone, somebody else's or not to be seen when rubatod looked"),
                "connect from a process that lives on, and that rubatod sees in /proc (hidepid, hostPID)");
  for (const GpuId& gpu : request.gpus) {
    const GpuEntry* entry = entry_of(gpu);
    const Caller caller = entry == nullptr ? client.caller : placed(client.caller, entry->job);
    wire::Acquire one = request;
    one.gpus = {gpu};
    if (Status fine = may_lease(rules_, caller, one); !fine) return fine;
    // Given to a job that has perhaps not begun to compute yet.
    if (entry == nullptr || !entry->job || caller.slurm_job == entry->job->slurm_job) continue;
    if (const Rule* rule = rule_of(client, gpu); rule != nullptr && rule->shared) continue;
    return fail(ErrorCode::no_permission,
                cat(gpu.uuid, " is given to Slurm job ", entry->job->slurm_job, " of user ", entry->job->user,
                    ", and this is ", describe(client.caller)),
                "only GPUs of your own job may be set");
  }
  return {};
}

/// A stated lock is what the end of the lease locks to, and nothing of what a client says outlives its lease.
Status Core::may_state_found(const Client& client, const wire::Acquire& request) const {
  if (!request.found_sm_clock || is_masters(client)) return {};
  return fail(
      ErrorCode::no_permission,
      cat("only root tells rubatod of a clock lock that was in force before, as it stays after the lease, "
          "and this is ",
          describe(client.caller)),
      "leave out --found-sm-clock MIN:MAX; rubato run --knobs power-limit … leaves such a lock alone");
}

Status Core::acquire(ConnectionId id, Client& client, const wire::Message& message, TimePoint now) {
  const auto& request = std::get<wire::Acquire>(message.body);
  Status fine =
      client.lease
          ? Status(fail(ErrorCode::busy, "this connection holds a lease already", "release it first"))
          : guard::check_request(request);
  if (fine && !user_of(client, now).leases.take(now))
    fine =
        fail(ErrorCode::busy, cat("more than ", rules_.rates.leases_per_s, " leases a second were asked for"),
             "ask less often");
  if (fine) fine = may_anything();
  if (fine) fine = may_state_found(client, request);
  if (fine) fine = may_lease_all(client, request);
  const auto places =
      fine ? places_of(client, request) : Result<std::vector<std::size_t>>(fail(fine.error()));
  if (!places) {
    note({.event = "lease",
          .decision = "refused",
          .gpus = request.gpus,
          .knobs = request.knobs,
          .found_sm_clock = request.found_sm_clock,
          .why = places.error().what},
         &client, now);
    return fail(places.error());
  }
  const bool observed = rules_.mode == Mode::observe;
  client.lease.emplace(Lease{.terms = request,
                             .gpus = *places,
                             .observed = observed,
                             .unanswered = places->size(),
                             .request = message.sequence,
                             .found = std::vector<std::optional<wire::Found>>(places->size()),
                             .settings = RateLimit(rules_.rates.settings_per_s, now),
                             .in_force = std::vector<Setting>(places->size())});
  for (const std::size_t place : *places) {
    GpuEntry& gpu = gpus_[place];
    if (!observed) {
      gpu.holder = id;
      gpu.next_look = now + kLookPeriod;
    }
    const Rule* rule = rule_of(client, gpu.identity.id);
    client.lease->shared.push_back(rule != nullptr && rule->shared);
    post({TaskKind::take, place, id}, Take{.terms = {request.knobs, request.found_sm_clock},
                                           .caller = client.caller,
                                           .shared = client.lease->shared.back(),
                                           .only_look = observed});
  }
  return {};
}

Result<std::size_t> Core::leased_place(const Client& client, const GpuId& gpu) const {
  if (!client.lease && client.ended) return fail(*client.ended);
  if (!client.lease) return fail(ErrorCode::invalid_argument, "there is no lease", "acquire GPUs first");
  for (const std::size_t place : client.lease->gpus)
    if (gpus_[place].identity.id == gpu) return place;
  return fail(ErrorCode::invalid_argument, gpu.uuid + " is not part of this lease");
}

/// That may be in force on a GPU before its owner has answered everything: the last one heard of, the one
/// that is being set, and the one found where it is on its way back to that.
Watts Core::highest_limit(std::size_t place) const {
  Watts highest = gpus_[place].limits ? gpus_[place].limits->requested : Watts(0);
  for (const auto& [id, client] : clients_) {
    const bool at_it = client.in_flight && client.in_flight->gpu == place;
    if (at_it) highest = std::max(highest, client.in_flight->setting.power_limit.value_or(highest));
    if (!client.lease || client.lease->observed) continue;
    const Lease& lease = *client.lease;
    const bool held = gpus_[place].holder == id;
    const bool goes_back =
        held && (lease.state == LeaseState::ending || (at_it && client.in_flight->setting.empty()));
    for (std::size_t i = 0; goes_back && i < lease.gpus.size(); ++i)
      if (lease.gpus[i] == place && lease.found[i])
        highest = std::max(highest, lease.found[i]->limits.requested);
  }
  return highest;
}

Watts Core::others_limits(std::size_t except) const {
  Watts sum{0};
  for (std::size_t i = 0; i < gpus_.size(); ++i)
    if (i != except) sum = sum + highest_limit(i);
  return sum;
}

Status Core::apply(ConnectionId id, Client& client, const wire::Message& message, TimePoint now) {
  const auto& request = std::get<wire::Apply>(message.body);
  AuditEntry entry{.event = "set", .decision = "refused", .gpus = {request.gpu}, .setting = request.setting};
  const auto judged = [&]() -> Result<std::size_t> {
    const auto place = leased_place(client, request.gpu);
    if (!place) return place;
    if (Status fine = may_anything(); !fine) return fail(fine.error());
    const Rule* rule = rule_of(client, request.gpu);
    if (rule == nullptr || !rule->allow)
      return fail(ErrorCode::no_permission, cat(request.gpu.uuid, ": rubatod's rules allow it no more"));
    entry.rule = rule->name;
    if (Status fine = may_set(*rule, request.gpu, request.setting); !fine) return fail(fine.error());
    const auto& limits = gpus_[*place].limits;
    if (request.setting.power_limit && limits)
      if (Status fine = keeps_budget(rules_, request.gpu, *request.setting.power_limit, limits->requested,
                                     others_limits(*place));
          !fine)
        return fail(fine.error());
    if (Status fine = take_setting(*client.lease, now); !fine) return fail(fine.error());
    return *place;
  }();
  if (!judged) {
    entry.why = judged.error().what;
    note(std::move(entry), &client, now);
    return fail(judged.error());
  }
  if (client.lease->observed) {
    entry.decision = "would_set";
    note(std::move(entry), &client, now);
    return fail(only_observes(request.gpu, request.setting));
  }
  client.in_flight = InFlight{message.sequence, *judged, request.setting};
  post({TaskKind::set, *judged, id}, Set{request.setting});
  return {};
}

Status Core::take_setting(Lease& lease, TimePoint now) const {
  if (lease.settings.take(now)) return {};
  return fail(ErrorCode::busy,
              cat("more than ", rules_.rates.settings_per_s, " settings a second were asked for"),
              "change the setting less often");
}

Status Core::restore(ConnectionId id, Client& client, const wire::Message& message, TimePoint now) {
  const GpuId& gpu = std::get<wire::Restore>(message.body).gpu;
  const auto place = leased_place(client, gpu);
  if (!place) return fail(place.error());
  if (Status fine = take_setting(*client.lease, now); !fine) return fine;
  if (client.lease->observed) {
    reply(id, message.sequence, wire::Restored{{{gpu, Restoration::not_needed, {}}}});
    return {};
  }
  client.in_flight = InFlight{message.sequence, *place, {}};
  post({TaskKind::put_back, *place, id}, PutBack{});
  return {};
}

Status Core::release(ConnectionId id, Client& client, const wire::Message& message, TimePoint now) {
  if (!client.lease && client.ended) {
    reply(id, message.sequence, wire::Restored{client.ended_with});
    return {};
  }
  if (!client.lease) return fail(ErrorCode::invalid_argument, "there is no lease", "acquire GPUs first");
  client.lease->request = message.sequence;
  end_lease(id, std::nullopt, now);
  return {};
}

wire::StatusReply Core::status_for(ConnectionId id, const Client& client) const {
  wire::StatusReply answer{std::string(name_of(rules_.mode)), {}, {}};
  if (const auto user = users_.find(client.caller.uid); user != users_.end())
    answer.last_refusal = user->second.last_refusal;
  for (const GpuEntry& gpu : gpus_) {
    if (answer.gpus.size() == wire::kMostGpus) break;
    wire::ManagedGpu told{gpu.identity.id, gpu.identity.name, "free", false, {}};
    if (!gpu.ready)
      told.state = "away";
    else if (gpu.holder)
      told.state = *gpu.holder == id ? "yours" : "leased";
    // Of the rules alone: knobs and bounds are judged when they are known.
    const wire::Acquire probe{
        .gpus = {gpu.identity.id}, .knobs = {}, .found_sm_clock = {}, .max_slowdown = 0};
    Status fine = may_anything();
    if (fine) fine = may_lease_all(client, probe);
    if (fine && !gpu.ready) fine = fail(ErrorCode::unavailable, cat(gpu.identity.id.uuid, ": ", gpu.away));
    told.index = gpu.identity.index;
    if (gpu.job) told.slurm_job = gpu.job->slurm_job;
    told.allowed = fine.has_value();
    if (!fine) told.why_not = fine.error().what;
    answer.gpus.push_back(std::move(told));
  }
  return answer;
}

}  // namespace rubato::daemon
