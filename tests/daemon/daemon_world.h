// rubatod in virtual time over the guard's fake GPUs: the real core, the real owners, real journals; tasks
// wait in queues until the test lets them run, in an order of its own.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "daemon/core.h"
#include "guard/guard_world.h"

namespace rubato::daemon::fake {

using guard::fake::kGpu;
using guard::fake::kOther;
using guard::fake::limit_to;
using guard::fake::sm_at;

/// Of a reply: whether it is a T, and why it was refused.
template <class T>
bool is(const wire::Body& body) {
  return std::holds_alternative<T>(body);
}
inline std::string words(const wire::Body& body) {
  const auto* refused = std::get_if<wire::Refused>(&body);
  return refused == nullptr ? "not refused" : refused->error.what;
}

class QueuedOwner final : public Owner {
 public:
  explicit QueuedOwner(OwnerOptions options) : owner_(std::move(options)) {}
  void post(Ticket ticket, Task task) override {
    ++posted_;
    tasks_.emplace_back(ticket, std::move(task));
  }
  [[nodiscard]] std::uint64_t posted() const { return posted_; }
  [[nodiscard]] std::uint64_t calls() const override { return calls_; }

  [[nodiscard]] bool waits() const { return !tasks_.empty() && !hangs; }
  std::pair<Ticket, Outcome> run_one() {
    auto [ticket, task] = std::move(tasks_.front());
    tasks_.pop_front();
    ++calls_;
    return {ticket, owner_.run(task)};
  }
  void slow_call() { ++calls_; }

  bool hangs = false;

 private:
  GpuOwner owner_;
  std::deque<std::pair<Ticket, Task>> tasks_;
  std::uint64_t calls_ = 0;
  std::uint64_t posted_ = 0;
};

class DaemonWorld {
 public:
  explicit DaemonWorld(Rules rules = managing()) : rules_(std::move(rules)) { start(); }

  static Rules managing() {
    Rules rules;
    rules.mode = Mode::manage;
    return rules;
  }

  void start() {
    owners_.clear();
    CoreOptions options{.server = "rubatod 1",
                        .pid = 1,
                        .gpus = {},
                        .rules = rules_,
                        .audit = [this](const AuditEntry& entry) { audit.push_back(entry); },
                        .wall = wall};
    for (const GpuId& gpu : {kGpu, kOther}) {
      const auto guarding = world.options();
      owners_.push_back(std::make_unique<QueuedOwner>(
          OwnerOptions{.gpu = gpu,
                       .open = guarding.open,
                       .folder = world.folder,
                       .root = guarding.root,
                       .driver_version = [this] { return world.driver_version; },
                       .clock = world.clock,
                       .files = guarding.files}));
      options.gpus.push_back({{.id = gpu, .name = "fake"}, owners_.back().get()});
    }
    core_ = std::make_unique<Core>(std::move(options), now());
    settle();
  }
  /// As SIGKILL: nothing is ended, and the kernel drops the locks.
  void die() {
    core_.reset();
    owners_.clear();
    inbox_.clear();
  }

  [[nodiscard]] TimePoint now() const { return world.clock->now(); }
  [[nodiscard]] Core& core() { return *core_; }
  [[nodiscard]] QueuedOwner& owner(std::size_t gpu = 0) { return *owners_.at(gpu); }

  ConnectionId connect(uid_t uid = 1000, bool greets = true) {
    const ConnectionId id = ++last_id_;
    core_->connected(id,
                     Caller{.uid = uid,
                            .gid = uid,
                            .groups = {},
                            .pid = 100 + static_cast<pid_t>(id),
                            .cgroup = "/user.slice",
                            .slurm_job = {},
                            .began = 1},
                     now());
    if (greets) (void)ask(id, wire::Hello{"test", {}});
    return id;
  }
  void disconnect(ConnectionId id) {
    core_->disconnected(id, now());
    settle();
  }
  void send(ConnectionId id, const wire::Body& body) {
    core_->received(id, wire::encode({++sequence_, body}), now());
    deliver();
  }
  void send_raw(ConnectionId id, std::string_view bytes) {
    core_->received(id, bytes, now());
    deliver();
  }
  /// The reply to one request, once all that could run has run.
  wire::Body ask(ConnectionId id, const wire::Body& body) {
    inbox_[id].clear();
    send(id, body);
    settle();
    EXPECT_FALSE(inbox_[id].empty()) << "no reply";
    return inbox_[id].empty() ? wire::Body(wire::Heartbeat{}) : inbox_[id].back().body;
  }
  [[nodiscard]] const std::vector<wire::Message>& heard(ConnectionId id) { return inbox_[id]; }
  [[nodiscard]] bool let_go(ConnectionId id) const { return let_go_.contains(id); }

  /// Time passes in steps of `tick`, with heartbeats of those named.
  void pass(Seconds span, const std::vector<ConnectionId>& beating = {}, Seconds tick = Seconds(0.5)) {
    for (const TimePoint end = now() + span; now() < end;) {
      world.clock->advance(tick);
      for (const ConnectionId id : beating) core_->received(id, wire::encode({0, wire::Heartbeat{}}), now());
      step();
    }
  }
  void step() {
    core_->step(surroundings, now());
    settle();
  }
  /// Everything that waits and does not hang is run, and its replies delivered.
  void settle() {
    for (bool any = true; any;) {
      any = false;
      for (const auto& owner : owners_)
        while (owner->waits()) {
          run_one(*owner);
          any = true;
        }
    }
    deliver();
  }
  void run_one(QueuedOwner& owner, const Spent& spent = {}) {
    auto [ticket, outcome] = owner.run_one();
    core_->answered(ticket, std::move(outcome), now(), spent);
  }
  void deliver() {
    for (const Outgoing& message : core_->take_outgoing()) {
      core_->sent(message);
      if (!message.datagram.empty()) inbox_[message.to].push_back(wire::decode(message.datagram).value());
      if (!message.close) continue;
      let_go_[message.to] = true;
      core_->disconnected(message.to, now());
    }
  }

  /// "lease granted", "set refused": of the log since the last call.
  std::vector<std::string> log() {
    std::vector<std::string> words;
    for (const AuditEntry& entry : std::exchange(audit, {}))
      words.push_back(cat(entry.event, " ", entry.decision));
    return words;
  }
  void put_process(std::int64_t pid, uid_t uid, const std::string& cgroup = "0::/user.slice\n") const {
    const auto folder = world_root() / "proc" / std::to_string(pid);
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "status") << "Name:\tpython3\nUid:\t" << uid << "\t" << uid << "\t" << uid << "\n";
    std::ofstream(folder / "cgroup") << cgroup;
  }
  [[nodiscard]] std::filesystem::path world_root() const { return world.folder.string() + "-root"; }
  [[nodiscard]] bool as_found() {
    for (const auto& [id, gpu] : world.gpus)
      if (gpu.requested != 200 || gpu.sm.on || gpu.illegal) return false;
    return true;
  }
  [[nodiscard]] Rules& rules() { return rules_; }

  guard::fake::World world;
  std::shared_ptr<VirtualClock> wall = std::make_shared<VirtualClock>();  // that requests are timed with
  Surroundings surroundings;
  std::vector<AuditEntry> audit;

 private:
  Rules rules_;
  std::vector<std::unique_ptr<QueuedOwner>> owners_;
  std::unique_ptr<Core> core_;
  std::map<ConnectionId, std::vector<wire::Message>> inbox_;
  std::map<ConnectionId, bool> let_go_;
  ConnectionId last_id_ = 0;
  std::uint64_t sequence_ = 0;
};

inline const wire::Acquire kOneGpu{{kGpu}, {Knob::power_limit, Knob::sm_clock}, {}};
inline const wire::Acquire kTwoGpus{{kGpu, kOther}, {Knob::power_limit, Knob::sm_clock}, {}};

}  // namespace rubato::daemon::fake
