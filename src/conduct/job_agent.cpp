#include "conduct/job_agent.h"

#include <sys/resource.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "base/text.h"

namespace rubato::conduct {
namespace {

constexpr std::size_t kEndsKept = 32;
// Near the iteration of a switch marks are read this often: a share of an iteration, and not in a busy loop.
constexpr double kLookShare = 0.1;
constexpr Seconds kShortestLook{0.005};
// Of the network's clock: ranks start within this, or somebody has to be told that they did not.
constexpr Seconds kUntilTrouble{30};
constexpr Seconds kFinishStep{0.02};
// Below it the usual limit of descriptors does.
constexpr std::int64_t kManyRanks = 512;

/// Here and not before the job was started: its limits are its own.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = std::max(limit.rlim_cur, std::min<rlim_t>(limit.rlim_max, 16384));
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

JobAgent::JobAgent(JobAgentParts parts, TimePoint now) : parts_(std::move(parts)), looked_(now) {
  begin_ = parts_.network->now();
  if (parts_.hub)
    leader_.emplace(parts_.own, parts_.timing, now);
  else
    member_.emplace(parts_.own, parts_.timing);
}

int JobAgent::fd() const {
  return parts_.hub ? parts_.hub->fd() : parts_.dialer->fd();
}

std::optional<std::int64_t> JobAgent::switches_at() const {
  return leader_ ? leader_->switches_at() : member_->switches_at();
}

TimePoint JobAgent::next_due() const {
  TimePoint due = looked_ + parts_.timing.pulse;
  if (leader_) due = std::min(due, leader_->next_due());
  if (const auto at = switches_at(); at && iterations_.last_end && iteration_ > Seconds(0)) {
    const auto left = static_cast<double>(std::max<std::int64_t>(0, *at - iterations_.completed));
    const TimePoint expected = *iterations_.last_end + iteration_ * left;
    due = std::min(due, std::max(expected, looked_ + std::max(iteration_ * kLookShare, kShortestLook)));
  }
  return due;
}

void JobAgent::follow(const IterationsNow& iterations) {
  const bool news = iterations.last_end && iterations.completed > iterations_.completed;
  iterations_ = iterations;
  if (!news) return;
  ends_.emplace_back(iterations.completed, *iterations.last_end);
  if (ends_.size() > kEndsKept) ends_.pop_front();
  const auto& [first, begin] = ends_.front();
  if (iterations.completed > first && *iterations.last_end > begin)
    iteration_ = (*iterations.last_end - begin) / static_cast<double>(iterations.completed - first);
}

bool JobAgent::step(TimePoint now, const IterationsNow& iterations) {
  if (now >= next_due()) looked_ = now;
  follow(iterations);
  const auto agreed = [this] { return leader_ ? leader_->agreed() : member_->agreed(); };
  const Setting before = agreed();
  const auto at = switches_at();
  leader_ ? step_leader(now) : step_member(now);
  for (const std::string& note : leader_ ? leader_->take_notes() : member_->take_notes())
    if (parts_.tell) parts_.tell(note);
  tell_trouble(now);
  return agreed() != before || (at && iterations_.completed >= *at);
}

void JobAgent::step_leader(TimePoint now) {
  if (parts_.own.world > kManyRanks && leader_->members() == 0) raise_descriptor_limit();
  for (const auto& event : parts_.hub->poll(parts_.network->now())) {
    if (event.closed) {
      leader_->lost(event.peer, now);
      continue;
    }
    const auto message = agent::decode(event.message);
    if (message) {
      leader_->hear(event.peer, *message, now);
      continue;
    }
    if (parts_.warn) parts_.warn(message.error());
    parts_.hub->close(event.peer);
    leader_->lost(event.peer, now);
  }
  leader_->step(now);
  send_all(now);
}

void JobAgent::step_member(TimePoint now) {
  const auto news = parts_.dialer->poll(parts_.network->now());
  if (news.opened) member_->connected(now);
  for (const std::string& text : news.messages) {
    if (const auto message = agent::decode(text))
      member_->hear(*message, now);
    else if (parts_.warn)
      parts_.warn(message.error());
  }
  if (member_->state() == agent::Member::State::refused) return parts_.dialer->give_up();
  if (news.lost) member_->lost(cat("rank 0 is lost: ", news.lost->what));
  if (member_->leader_silent(now)) {
    parts_.dialer->hang_up(parts_.network->now());
    member_->lost("rank 0 is lost: nothing was heard of it for too long");
  }
  send_all(now);
}

void JobAgent::send_all(TimePoint) {
  if (member_) {
    for (const auto& message : member_->take()) parts_.dialer->send(agent::encode(message));
    return;
  }
  for (const auto& [to, message] : leader_->take()) {
    const std::string text = agent::encode(message);
    if (to) {
      parts_.hub->send(*to, text);
      continue;
    }
    for (const auto& [peer, seat] : leader_->seats())
      if (peer != agent::kOwn) parts_.hub->send(peer, text);
  }
  for (const agent::Peer peer : leader_->take_dropped()) parts_.hub->close(peer);
}

void JobAgent::tell_trouble(TimePoint) {
  if (trouble_told_ || !parts_.warn || parts_.network->now() - begin_ < kUntilTrouble) return;
  trouble_told_ = true;
  if (leader_ && !leader_->everybody_here()) {
    parts_.warn({ErrorCode::unavailable,
                 cat(leader_->why_not(), "; the job is measured at the found setting until the others come"),
                 parts_.hub->strangers() > 0
                     ? "somebody knocked with another secret: do all ranks read the same key file?"
                     : "does every rank run under rubato, and do they reach this node?"});
  } else if (member_ && member_->state() == agent::Member::State::looking) {
    const auto& trouble = parts_.dialer->trouble();
    parts_.warn({ErrorCode::unavailable,
                 cat(trouble ? trouble->what : std::string("rank 0's agent is not found"),
                     "; this part of the job is measured at the found setting"),
                 trouble ? trouble->hint : std::string()});
  }
}

void JobAgent::finish(agent::Totals own, TimePoint now, Seconds patience) {
  own_ = own;
  const auto& network = *parts_.network;
  const TimePoint until = network.now() + patience;
  if (leader_) leader_->end(now);
  if (member_) member_->leave(std::move(own));
  send_all(now);
  const auto done = [this] {
    if (member_) return !parts_.dialer->open() || parts_.dialer->sent();
    return leader_->still_running() == 0;
  };
  for (; !done() && network.now() < until; sleep_until(network, network.now() + kFinishStep)) {
    leader_ ? step_leader(now) : step_member(now);
  }
}

std::vector<agent::Totals> JobAgent::totals() const {
  std::vector<agent::Totals> out;
  if (own_) out.push_back(*own_);
  if (leader_)
    for (auto& one : leader_->totals()) out.push_back(std::move(one));
  return out;
}

govern::Decision LeadingStrategy::next(const govern::Observation& o) {
  RankClocks* clocks = clocks_ ? &*clocks_ : nullptr;
  const govern::Decision out =
      lead(*agent_->leader(), {agent_->by_marks(), agent_->iteration()}, *inner_, o, clocks);
  if (clocks != nullptr)
    for (const std::string& note : clocks->taker().take_notes()) agent_->tell(note);
  return out;
}

govern::Decision AgreedStrategy::next(const govern::Observation& o) {
  return obey(*agent_->member(), agent_->by_marks(), never_, o);
}

}  // namespace rubato::conduct
