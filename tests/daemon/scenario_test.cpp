// Seeded lives of a machine: clients come, set, fall silent and die; the daemon dies at any step and is
// started again, or only restores; the driver refuses; others set limits. Whatever happened, the found state
// is back at the end.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/random.h"
#include "daemon/daemon_world.h"

namespace rubato::daemon {
namespace {

using fake::DaemonWorld;
using fake::kGpu;
using fake::kOneGpu;
using fake::kOther;
using fake::kTwoGpus;

/// A small fixed sample in every check, and what the promise is made on in full ones.
int scenarios() {
  const char* full = std::getenv("RUBATO_CHECK_FULL");
  return full != nullptr && std::string_view(full) == "1" ? 2500 : 200;
}

class Life {
 public:
  explicit Life(std::uint64_t seed) : random_(seed) {}

  /// Deaths of the daemon that found a GPU changed.
  [[nodiscard]] int deaths_in_force() const { return deaths_in_force_; }

  std::string live() {
    daemon_.world.steps->torn_share = random_.uniform();
    const int deaths = pick(4);
    for (int i = 0; i < deaths; ++i) {
      // Counted from here on, and the daemon dies at one of the next steps by which it leaves a trace.
      daemon_.world.steps->crash_at = daemon_.world.steps->taken + pick(60);
      for (int n = 0; n < 12; ++n) act();
      rise();
    }
    for (int n = 0; n < 12; ++n) act();
    return end();
  }

 private:
  int pick(int below) { return static_cast<int>(random_.uniform() * below); }

  ConnectionId any_client() {
    if (clients_.empty() || pick(4) == 0)
      clients_.push_back(daemon_.connect(static_cast<uid_t>(1000 + pick(3))));
    return clients_[static_cast<std::size_t>(pick(static_cast<int>(clients_.size())))];
  }
  GpuId any_gpu() { return pick(2) == 0 ? kGpu : kOther; }

  void act() {
    const ConnectionId client = any_client();
    switch (pick(12)) {
      case 0:
      case 1:
        return daemon_.send(client, pick(2) == 0 ? wire::Body(kOneGpu) : wire::Body(kTwoGpus));
      case 2:
      case 3:
      case 4:
        return daemon_.send(client, wire::Apply{any_gpu(), {.power_limit = Watts(90 + 10 * pick(18))}});
      case 5:
        return daemon_.send(client, wire::Apply{any_gpu(), {.sm_clock = ClockRange{900_MHz, 1005_MHz}}});
      case 6:
        return daemon_.send(client, wire::Restore{any_gpu()});
      case 7:
        return daemon_.send(client, wire::Release{});
      case 8:
        std::erase(clients_, client);
        return daemon_.disconnect(client);
      case 9:
        return daemon_.pass(Seconds(3), pick(2) == 0 ? clients_ : std::vector<ConnectionId>());
      case 10:
        // One call of the driver's next ones fails.
        daemon_.world.steps->fail_driver_at = daemon_.world.steps->driver_calls + pick(6);
        return;
      default:
        return daemon_.settle();
    }
  }

  /// After the death, or in its place: whoever comes next.
  void rise() {
    if (!daemon_.as_found()) ++deaths_in_force_;
    daemon_.die();
    clients_.clear();
    const int taken = daemon_.world.steps->taken;
    const double torn = daemon_.world.steps->torn_share;
    daemon_.world.revive();
    daemon_.world.steps->taken = taken;
    daemon_.world.steps->torn_share = torn;
    if (pick(2) == 0) {  // ExecStopPost, or an epilog that is killed as well
      if (pick(3) == 0) daemon_.world.steps->crash_at = taken + pick(10);
      (void)daemon_.world.restore_left_behind();
      daemon_.world.revive();
      daemon_.world.steps->torn_share = torn;
    }
    daemon_.start();
  }

  /// Everybody is gone; what is said of it where it is not as found.
  std::string end() {
    daemon_.world.steps->crash_at = -1;
    daemon_.world.steps->fail_driver_at = -1;
    if (daemon_.world.steps->dead) rise();
    for (const ConnectionId client : clients_) daemon_.disconnect(client);
    daemon_.pass(Seconds(12));
    if (!daemon_.core().idle()) return "a lease is left";
    for (const GpuId& gpu : {kGpu, kOther}) {
      const guard::fake::State& state = daemon_.world.gpus[gpu];
      if (state.requested != 200) return cat(gpu.uuid, " is at ", state.requested, " W");
      if (state.sm.on) return cat(gpu.uuid, " is locked");
      if (state.illegal) return cat(gpu.uuid, " was asked for something illegal");
      if (std::filesystem::exists(daemon_.world.journal(gpu))) return cat(gpu.uuid, " has a journal");
    }
    return {};
  }

  Random random_;
  DaemonWorld daemon_;
  std::vector<ConnectionId> clients_;
  int deaths_in_force_ = 0;
};

TEST(Scenarios, EveryLifeEndsInTheFoundState) {
  int in_force = 0;
  for (int seed = 1; seed <= scenarios(); ++seed) {
    Life life(static_cast<std::uint64_t>(seed));
    ASSERT_EQ(life.live(), "") << "seed " << seed;
    in_force += life.deaths_in_force();
  }
  EXPECT_GT(in_force, scenarios() / 10) << "deaths that leave nothing behind prove nothing";
}

}  // namespace
}  // namespace rubato::daemon
