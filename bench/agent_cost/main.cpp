// What agreeing costs the leader's processor as the number of agents grows: reports taken, and decisions made
// and confirmed, with messages written, sealed, opened and read, but without the kernel's TCP. One agent for
// eight GPUs.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <vector>

#include "agent/leader.h"
#include "agent/member.h"
#include "agent/seal.h"
#include "base/text.h"

namespace rubato::agent {
namespace {

constexpr std::int64_t kGpusEach = 8;
constexpr int kDecisions = 20;
constexpr Seconds kIteration{0.4};

double cpu_s() {
  timespec at{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
  return static_cast<double>(at.tv_sec) + static_cast<double>(at.tv_nsec) * 1e-9;
}

Join join_of(std::int64_t rank, std::int64_t world) {
  Join join{.run = cat("20261122-120000-", rank), .node = cat("node", rank), .rank = rank, .world = world};
  join.space = "NVIDIA H100 80GB HBM3, an SM clock of 345 to 1980 MHz (110 values)";
  for (std::int64_t gpu = 0; gpu < kGpusEach; ++gpu)
    join.gpus.push_back({cat("GPU-00000000-0000-0000-", rank, "-", gpu)});
  return join;
}

struct End {
  Member member;
  SealedStream ours;    // the member's end
  SealedStream theirs;  // the leader's
  Peer peer = 0;
};

struct Costs {
  double reports_s = 0;   // of the leader, per report
  double decision_s = 0;  // of the leader, per decision, reports apart
  double member_s = 0;    // of one member, per decision
};

class Job {
 public:
  explicit Job(std::int64_t agents) : agents_(agents), leader_(join_of(0, agents), {}, now_) {
    const Secret secret = fresh_secret();
    for (std::int64_t rank = 1; rank < agents; ++rank) {
      ends_.push_back(std::make_unique<End>(End{
          Member(join_of(rank, agents), {}), SealedStream(SealedStream::Side::member, secret, fresh_nonce()),
          SealedStream(SealedStream::Side::leader, secret, fresh_nonce()), rank}));
      End& end = *ends_.back();
      if (!end.theirs.receive(end.ours.take_output()) || !end.ours.receive(end.theirs.take_output()))
        std::abort();
      end.member.connected(now_);
    }
    up();
    down();
  }

  Costs run() {
    Costs costs;
    std::int64_t iterations = 0;
    for (int decision = 0; decision < kDecisions; ++decision) {
      now_ = now_ + Seconds(20);
      iterations += 50;
      // In between, everybody tells how it stands, once a second.
      report(iterations);
      costs.reports_s +=
          timed([this] { up(); }) / static_cast<double>(std::max<std::int64_t>(1, agents_ - 1));
      const double before = leader_s_;
      const double members_before = members_s_;
      leader_s_ += timed([&] {
        leader_.see(standing(iterations), kIteration, now_);
        static_cast<void>(leader_.tally());
        leader_.want(Setting{.sm_clock = ClockRange{Megahertz(1000), Megahertz(1000.0 + decision)}}, now_);
      });
      for (int round = 0; round < 2; ++round) {
        down();
        leader_s_ += timed([this] { up(); });
      }
      iterations = leader_.switches_at().value_or(iterations);
      leader_s_ += timed([&] { leader_.see(standing(iterations), kIteration, now_); });
      costs.decision_s += leader_s_ - before;
      costs.member_s +=
          (members_s_ - members_before) / static_cast<double>(std::max<std::int64_t>(1, agents_ - 1));
      report(iterations);
      up();
    }
    if (leader_.counts().switches != kDecisions) {
      std::fprintf(stderr, "only %ld of %d decisions came about\n",
                   static_cast<long>(leader_.counts().switches), kDecisions);
      std::abort();
    }
    for (double* one : {&costs.reports_s, &costs.decision_s, &costs.member_s}) *one /= kDecisions;
    return costs;
  }

 private:
  template <class Work>
  static double timed(Work work) {
    const double begin = cpu_s();
    work();
    return cpu_s() - begin;
  }

  Report standing(std::int64_t iterations) const {
    Report report{.iterations = iterations,
                  .by_marks = true,
                  .epoch = leader_.epoch(),
                  .may_set = true,
                  .under_load = true};
    report.tally = govern::Tally{.work = static_cast<double>(iterations),
                                 .at = now_,
                                 .energy = Joules(1e3 * static_cast<double>(iterations))};
    return report;
  }

  void report(std::int64_t iterations) {
    for (auto& end : ends_) {
      end->member.see(standing(iterations), end->member.agreed(), now_);
      for (const Message& message : end->member.take()) end->ours.send(encode(message));
    }
  }

  // Members' words to the leader: what their machines do is not the leader's cost.
  void up() {
    for (auto& end : ends_) {
      for (const Message& message : end->member.take()) end->ours.send(encode(message));
      const std::string bytes = end->ours.take_output();
      if (bytes.empty()) continue;
      const auto messages = end->theirs.receive(bytes);
      for (const std::string& text : *messages) leader_.hear(end->peer, *decode(text), now_);
    }
  }

  void down() {
    std::vector<Outgoing> out;
    leader_s_ += timed([&] {
      out = leader_.take();
      for (const auto& [to, message] : out) {
        const std::string text = encode(message);
        for (auto& end : ends_)
          if (!to || *to == end->peer) end->theirs.send(text);
      }
    });
    members_s_ += timed([&] {
      for (auto& end : ends_) {
        const auto messages = end->ours.receive(end->theirs.take_output());
        for (const std::string& text : *messages) end->member.hear(*decode(text), now_);
      }
    });
  }

  TimePoint now_;
  std::int64_t agents_;
  Leader leader_;
  std::vector<std::unique_ptr<End>> ends_;
  double leader_s_ = 0;
  double members_s_ = 0;
};

}  // namespace
}  // namespace rubato::agent

int main() {
  using namespace rubato::agent;
  if (const auto able = can_seal(); !able) {
    std::fprintf(stderr, "%s\n", able.error().what.c_str());
    return 1;
  }
  std::printf("%8s %8s %22s %22s %22s %16s\n", "agents", "GPUs", "decision, leader (ms)",
              "decision, member (us)", "a report, leader (us)", "leader's core (%)");
  for (const std::int64_t agents : {2, 8, 64, 512, 4096}) {
    const Costs costs = Job(agents).run();
    // A report of each agent a second, a decision every 20 s (50 iterations of 0.4 s).
    const double share = costs.reports_s * static_cast<double>(agents - 1) + costs.decision_s / 20;
    std::printf("%8ld %8ld %22.3f %22.2f %22.2f %16.4f\n", static_cast<long>(agents),
                static_cast<long>(agents * kGpusEach), costs.decision_s * 1e3, costs.member_s * 1e6,
                costs.reports_s * 1e6, share * 100);
  }
  return 0;
}
