#include "conduct/virtual_run.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <stdexcept>

#include "base/text.h"
#include "device/sim/gpu_view.h"
#include "govern/registry.h"

namespace rubato::conduct {
namespace {

using device::sim::SimWorld;

constexpr TimePoint kNever{std::numeric_limits<std::int64_t>::max()};

template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().what);
  return std::move(*result);
}

/// A guard that is a function call away.
class GuardCall final : public wire::Channel {
 public:
  GuardCall(guard::Guard& guard, const Clock& clock, std::vector<std::string>& sent)
      : guard_(guard), clock_(clock), sent_(sent) {}
  Status send(std::string_view datagram) override {
    sent_.emplace_back(datagram);
    if (std::string reply = guard_.handle(datagram, clock_.now()); !reply.empty())
      replies_.push_back(std::move(reply));
    return {};
  }
  Result<std::string> receive(Seconds) override {
    if (replies_.empty()) return fail(ErrorCode::timeout, "no reply is due");
    std::string reply = std::move(replies_.front());
    replies_.pop_front();
    return reply;
  }

 private:
  guard::Guard& guard_;
  const Clock& clock_;
  std::vector<std::string>& sent_;
  std::deque<std::string> replies_;
};

/// The world, and a training in it where there is one.
class WorldJob final : public VirtualJob {
 public:
  WorldJob(SimWorld& world, std::unique_ptr<sim_trainer::VirtualTrainer> trainer)
      : world_(world), trainer_(std::move(trainer)) {}
  TimePoint next_due() const override { return trainer_ ? trainer_->next_due().value_or(kNever) : kNever; }
  void step(TimePoint now) override {
    for (unsigned gpu = 0; gpu < world_.gpu_count(); ++gpu) static_cast<void>(must(world_.truth(gpu, now)));
    if (!trainer_) return;
    EXPECT_TRUE(trainer_->step(now));
    if (trainer_->finished()) trainer_->remove(now);
  }
  bool done() const override { return trainer_ && trainer_->finished(); }

 private:
  SimWorld& world_;
  std::unique_ptr<sim_trainer::VirtualTrainer> trainer_;
};

Ownership owner_by_pid(const std::vector<ComputeProcess>& processes) {
  const bool job = std::any_of(processes.begin(), processes.end(),
                               [](const auto& process) { return process.pid == VirtualRun::kJobPid; });
  for (const auto& process : processes)
    if (process.pid != VirtualRun::kJobPid)
      return {Ownership::Verdict::foreign, cat("process ", process.pid, " computes here too"), job};
  return {job ? Ownership::Verdict::job : Ownership::Verdict::none, {}, job};
}

}  // namespace

VirtualRun::VirtualRun(VirtualRunOptions options) : options_(std::move(options)) {
  static int made = 0;
  folder_ = std::filesystem::path(testing::TempDir()) / cat("rubato-virtual-", ::getpid(), "-", made++);
  std::filesystem::remove_all(folder_);
  std::filesystem::create_directories(folder_);
  clock_->advance_to(kBegin);
  world_ = must(SimWorld::create_private(options_.profiles, options_.scenario, kBegin));
}

VirtualRun::~VirtualRun() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void VirtualRun::at(Seconds after, std::function<void(SimWorld&, TimePoint)> what) {
  const TimePoint at = kBegin + after;
  const auto later = std::upper_bound(events_.begin(), events_.end(), at,
                                      [](TimePoint t, const Event& e) { return t < e.at; });
  events_.insert(later, {at, std::move(what)});
}

void VirtualRun::silence(Seconds from, Seconds to) {
  silent_from_ = kBegin + from;
  silent_to_ = kBegin + to;
}

std::vector<std::string> VirtualRun::journals() const {
  std::vector<std::string> names;
  for (unsigned gpu = 0; gpu < world_->gpu_count(); ++gpu)
    if (const auto& uuid = world_->identity(gpu).id.uuid; std::filesystem::exists(folder_ / "guard" / uuid))
      names.push_back(uuid);
  return names;
}

guard::GuardOptions VirtualRun::guard_options() const {
  guard::GuardOptions guard;
  guard.open = [this](const GpuId& id) -> Result<guard::OpenedGpu> {
    const auto index = world_->find(id.uuid);
    if (!index) return fail(ErrorCode::not_found, id.uuid + " is not in this world");
    return guard::OpenedGpu{device::sim::make_gpu(world_, *index), device::sim::make_control(world_, *index)};
  };
  guard.folder = folder_ / "guard";
  guard.driver_version = world_->driver_version();
  guard.clock = clock_;
  return guard;
}

SessionParts VirtualRun::parts(std::vector<Mark>& marks, wire::LeaseClient& client) {
  SessionParts parts;
  for (unsigned gpu = 0; gpu < world_->gpu_count(); ++gpu)
    parts.gpus.push_back(device::sim::make_gpu(world_, gpu));
  govern::StrategyRequest request;
  request.wanted = options_.wanted;
  request.reason = "nothing was asked to be set";
  parts.strategy = must(govern::make_strategy(options_.wanted.empty() ? "measure-only" : "fixed", request));
  if (options_.strategy) parts.strategy = options_.strategy(parts.gpus);
  parts.counters = options_.counters;
  if (!options_.wanted.empty() || options_.strategy) {
    parts.lease = std::make_unique<LeaseHolder>(&client, std::vector{Knob::power_limit, Knob::sm_clock},
                                                std::nullopt, Rescue{});
  }
  record::RunInfo info;
  info.run_id = "20261121-081500-000-0001";
  info.mode = parts.lease ? "run" : "measure";
  info.command = {"virtual"};
  info.started_at = "2026-11-21T08:15:00Z";
  info.begin = kBegin;
  parts.writer = must(record::Writer::create(folder_ / "runs", info));
  if (options_.marks) parts.marks = [&marks](TimePoint, bool) { return std::exchange(marks, {}); };
  parts.ownership = owner_by_pid;
  parts.warn = [this](const Error& error) { warnings_.push_back(error); };
  parts.backend = "sim";
  parts.driver_version = world_->driver_version();
  return parts;
}

record::RunRecord VirtualRun::run() {
  guard::Guard guard(guard_options());
  wire::LeaseClient client(std::make_unique<GuardCall>(guard, *clock_, requests_), clock_);
  std::vector<Mark> marks;
  std::unique_ptr<sim_trainer::VirtualTrainer> trainer;
  if (options_.train && !options_.job) {
    trainer = must(
        sim_trainer::VirtualTrainer::start(*world_, *options_.train, kJobPid, kBegin, [&](const Mark& mark) {
          marks.push_back(mark);
          marks_made_.push_back(mark);
        }));
  }
  const std::unique_ptr<VirtualJob> job =
      options_.job ? options_.job(*world_) : std::make_unique<WorldJob>(*world_, std::move(trainer));
  SessionParts all = parts(marks, client);
  if (options_.adjust) options_.adjust(all);
  Session session(std::move(all), kBegin);

  std::size_t next_event = 0;
  const VirtualPeer events{[&] { return next_event < events_.size() ? events_[next_event].at : kNever; },
                           [&](TimePoint now) { events_[next_event++].what(*world_, now); }};
  const VirtualPeer lapse{[&] { return guard.next_due(); }, [&](TimePoint now) { guard.step(now); }};
  const VirtualPeer heartbeats{[&] {
                                 const TimePoint due = client.next_due();
                                 return due >= silent_from_ && due < silent_to_ ? silent_to_ : due;
                               },
                               [&](TimePoint now) { EXPECT_TRUE(client.step(now)); }};

  const bool done =
      run_virtual(*clock_, session, *job, nullptr, {events, lapse, heartbeats}, kBegin + options_.length);
  EXPECT_EQ(done, options_.train.has_value() || options_.job);
  const TimePoint end = clock_->now();
  for (unsigned gpu = 0; gpu < world_->gpu_count(); ++gpu) {
    const auto truth = must(world_->truth(gpu, end));
    truth_.push_back({truth.energy, end - kBegin, truth});
  }
  return must(record::read_run(must(session.record_file())));
}

}  // namespace rubato::conduct
