// New rules of rubatod, and a maintenance during which it is disabled: which leases they end.
#include <gmock/gmock.h>

#include "daemon/daemon_world.h"

namespace rubato::daemon {
namespace {

using fake::DaemonWorld;
using fake::is;
using fake::kGpu;
using fake::kOneGpu;
using fake::kTwoGpus;
using fake::limit_to;
using fake::words;
using guard::fake::refusal;
using ::testing::HasSubstr;

TEST(NewRules, DisabledOrDuringWhatIsForbiddenEveryLeaseEndsAndNoneBegins) {
  for (const bool disable : {true, false}) {
    DaemonWorld daemon;
    const auto client = daemon.connect();
    (void)daemon.ask(client, kTwoGpus);
    (void)daemon.ask(client, limit_to(150));
    daemon.surroundings =
        disable ? Surroundings{true, {}} : Surroundings{false, "never during 'health check'"};
    daemon.step();
    EXPECT_TRUE(daemon.as_found());
    EXPECT_TRUE(daemon.core().idle());
    EXPECT_EQ(refusal(daemon.ask(client, kOneGpu)), ErrorCode::unavailable);
    daemon.surroundings = {};
    daemon.step();
    EXPECT_TRUE(is<wire::Granted>(daemon.ask(client, kOneGpu)));
  }
}

TEST(NewRules, EndTheLeasesThatTheyDoNotAllow) {
  DaemonWorld daemon;
  const auto client = daemon.connect(1000);
  (void)daemon.ask(client, kOneGpu);
  (void)daemon.ask(client, limit_to(150));
  daemon.core().use_rules(DaemonWorld::managing(), daemon.now());
  daemon.settle();
  EXPECT_EQ(daemon.world.gpu().requested, 150) << "the same rules end nothing";
  Rules rules = DaemonWorld::managing();
  rules.rules = {Rule{.name = "others", .users = {1001}}};
  daemon.core().use_rules(rules, daemon.now());
  daemon.settle();
  EXPECT_TRUE(daemon.as_found());
}

TEST(NewRules, EndTheLeasesWhoseSettingTheyDoNotAllow) {
  DaemonWorld daemon;
  const auto use = [&](const Rule& rule) {
    Rules rules = DaemonWorld::managing();
    rules.rules = {rule};
    daemon.core().use_rules(rules, daemon.now());
    daemon.settle();
  };
  const Rule at_least{.name = "all", .min_power_limit = 180_W, .min_sm_clock = 1000_MHz};
  const auto client = daemon.connect();
  for (const bool is_set : {true, false}) {
    use(Rule{.name = "all"});
    (void)daemon.ask(client, kOneGpu);
    (void)daemon.ask(client, limit_to(110));
    (void)daemon.ask(client, fake::sm_at(1005));  // leaves the limit as it is
    if (!is_set) (void)daemon.ask(client, wire::Restore{kGpu});
    use(at_least);
    EXPECT_EQ(daemon.core().idle(), is_set);
    EXPECT_TRUE(daemon.as_found());
    EXPECT_THAT(words(daemon.ask(client, limit_to(190))),
                HasSubstr(is_set ? "180 W or more, and 110 W" : "not refused"));
    (void)daemon.ask(client, wire::Release{});
  }
  use(Rule{.name = "all"});
  (void)daemon.ask(client, kOneGpu);
  daemon.owner(0).hangs = true;
  daemon.send(client, limit_to(110));  // the driver is at it
  use(at_least);
  daemon.owner(0).hangs = false;
  daemon.settle();
  EXPECT_TRUE(daemon.core().idle());
  EXPECT_TRUE(daemon.as_found());
}

TEST(NewRules, EndTheLeasesThatWereTakenAsSharedWhereTheyAllowItNoMore) {
  Rules rules = DaemonWorld::managing();
  rules.rules = {Rule{.name = "all", .shared = true}};
  DaemonWorld daemon(rules);
  const auto client = daemon.connect(1000);
  ASSERT_TRUE(is<wire::Granted>(daemon.ask(client, kOneGpu)));
  daemon.put_process(502, 1001);
  daemon.world.gpu().process = 502;
  (void)daemon.ask(client, limit_to(150));
  rules.rules.front().shared = false;
  daemon.core().use_rules(rules, daemon.now());
  daemon.settle();
  EXPECT_TRUE(daemon.as_found());
  EXPECT_THAT(words(daemon.ask(client, limit_to(150))), HasSubstr("where others compute"));
}

}  // namespace
}  // namespace rubato::daemon
