#include "conduct/job_agent.h"

#include <gmock/gmock.h>
#include <poll.h>

#include <array>

#include "base/text.h"

namespace rubato::conduct {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

agent::Join joining(std::int64_t rank, const std::string& space) {
  return {.run = cat("run-", rank),
          .node = cat("node", rank),
          .rank = rank,
          .world = 2,
          .space = space,
          .gpus = {GpuId{cat("GPU-", rank)}}};
}

TEST(JobAgent, OneThatIsRefusedHangsUpForGoodAndIsToldOfOnce) {
  const auto network = std::make_shared<VirtualClock>();
  const agent::Secret secret{1};
  auto hub = agent::Hub::listen(secret, {.loopback = true});
  ASSERT_TRUE(hub);
  int dialled = 0;
  auto dialer = agent::Dialer::create(
      secret,
      [&dialled, port = hub->port()] {
        ++dialled;
        return agent::resolve("127.0.0.1", port).value();
      },
      {}, network->now());
  ASSERT_TRUE(dialer);
  std::vector<std::string> leader_told;
  std::vector<std::string> member_told;
  const auto teller = [](std::vector<std::string>& told) {
    return [&told](const std::string& note) { told.push_back(note); };
  };
  JobAgentParts parts{.own = joining(0, "an SM clock"), .network = network, .tell = teller(leader_told)};
  parts.hub.emplace(std::move(*hub));
  JobAgent leader(std::move(parts), network->now());
  parts = {.own = joining(1, "a power limit"), .network = network, .tell = teller(member_told)};
  parts.dialer.emplace(std::move(*dialer));
  JobAgent member(std::move(parts), network->now());

  const auto step = [&](int wait_ms) {
    std::array<pollfd, 2> both = {pollfd{leader.fd(), POLLIN, 0}, pollfd{member.fd(), POLLIN, 0}};
    poll(both.data(), both.size(), wait_ms);
    network->advance(Seconds(0.05));
    leader.step(network->now(), {});
    member.step(network->now(), {});
  };
  for (int round = 0; round < 2000 && member_told.empty(); ++round) step(10);
  ASSERT_THAT(member_told, ElementsAre(HasSubstr("rank 0 refuses: what may be set there (a power limit)")));
  // Longer than the first waits between tries, on the network's clock.
  for (int round = 0; round < 200; ++round) step(1);
  EXPECT_EQ(dialled, 1);
  EXPECT_THAT(leader_told, ElementsAre(HasSubstr("rank 1 on node1 does not take part")));
  EXPECT_EQ(member_told.size(), 1U);
  EXPECT_EQ(member.member()->state(), agent::Member::State::refused);
  member.finish({}, network->now(), Seconds(0));
}

}  // namespace
}  // namespace rubato::conduct
