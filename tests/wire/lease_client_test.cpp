#include "wire/lease_client.h"

#include <gmock/gmock.h>

#include <deque>
#include <limits>

namespace rubato::wire {
namespace {

/// Keeps what was sent; gives out what the test put in, else a time-out.
struct Script {
  std::vector<Message> sent;
  std::deque<std::string> replies;
  Status send_ends{};
};
class ScriptedChannel final : public Channel {
 public:
  explicit ScriptedChannel(std::shared_ptr<Script> script) : script_(std::move(script)) {}
  Status send(std::string_view datagram) override {
    script_->sent.push_back(decode(datagram).value());
    return script_->send_ends;
  }
  Result<std::string> receive(Seconds) override {
    if (script_->replies.empty()) return fail(ErrorCode::timeout, "nothing came");
    std::string reply = std::move(script_->replies.front());
    script_->replies.pop_front();
    return reply;
  }

 private:
  std::shared_ptr<Script> script_;
};

struct LeaseClientTest : ::testing::Test {
  std::shared_ptr<Script> script = std::make_shared<Script>();
  std::shared_ptr<VirtualClock> clock = std::make_shared<VirtualClock>();
  LeaseClient client{std::make_unique<ScriptedChannel>(script), clock};
  const GpuId gpu{"GPU-a"};

  void reply(std::uint64_t sequence, Body body) {
    script->replies.push_back(encode({sequence, std::move(body)}));
  }
};

TEST_F(LeaseClientTest, TheReplyToARequestThatWasGivenUpIsSkipped) {
  EXPECT_EQ(client.apply(gpu, Setting{.power_limit = 150_W}).error().code, ErrorCode::timeout);
  reply(1, Applied{gpu, 150_W, 150_W});
  reply(2, Applied{gpu, 120_W, 120_W});
  EXPECT_EQ(client.apply(gpu, Setting{.power_limit = 120_W}).value().requested_limit, 120_W);
}

TEST_F(LeaseClientTest, AGuardThatDoesNotReadForAWhileIsNotGone) {
  reply(1, Granted{});
  ASSERT_TRUE(client.acquire(Acquire{.gpus = {gpu}, .knobs = {Knob::power_limit}}));
  script->send_ends = fail(ErrorCode::timeout, "no room");
  clock->advance_to(client.next_due());
  EXPECT_TRUE(client.step(clock->now()));
  EXPECT_GT(client.next_due(), clock->now()) << "heartbeats go on";
  EXPECT_FALSE(client.guard_gone());
  script->send_ends = fail(ErrorCode::unavailable, "gone");
  clock->advance_to(client.next_due());
  EXPECT_FALSE(client.step(clock->now()));
  EXPECT_TRUE(client.guard_gone());
}

TEST_F(LeaseClientTest, ARefusalIsTheGuardsOwnError) {
  reply(1, Refused{Error{ErrorCode::conflict, "somebody else", "look"}});
  const auto refused = client.restore(gpu);
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  EXPECT_EQ(refused.error().hint, "look");
}

TEST_F(LeaseClientTest, ARefusalWithoutANumberAnswersThePresentRequest) {
  reply(0, Refused{Error{ErrorCode::corrupt, "unreadable", ""}});
  EXPECT_EQ(client.release().error().code, ErrorCode::corrupt);
}

TEST_F(LeaseClientTest, RepliesThatFitNothingAreCorrupt) {
  reply(1, Welcome{1});
  EXPECT_EQ(client.apply(gpu, {}).error().code, ErrorCode::corrupt);
  reply(9, Applied{gpu, {}, {}});
  EXPECT_EQ(client.apply(gpu, {}).error().code, ErrorCode::corrupt);
  script->replies.emplace_back("noise");
  EXPECT_EQ(client.apply(gpu, {}).error().code, ErrorCode::corrupt);
  reply(4, Restored{});
  EXPECT_EQ(client.restore(gpu).error().code, ErrorCode::corrupt);
}

TEST_F(LeaseClientTest, HeartbeatsBeginWithTheGrantComeEverySecondAndEndWithTheRelease) {
  constexpr auto kNever = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(client.next_due().ns, kNever);
  ASSERT_TRUE(client.step(TimePoint{} + 100_s).has_value());
  EXPECT_TRUE(script->sent.empty());

  clock->advance(10_s);
  reply(1, Granted{});
  ASSERT_TRUE(client.acquire({{gpu}, {Knob::power_limit}, {}}).has_value());
  EXPECT_EQ(client.next_due(), TimePoint{} + 11_s);
  ASSERT_TRUE(client.step(TimePoint{} + 10.5_s).has_value());
  EXPECT_EQ(script->sent.size(), 1U);
  ASSERT_TRUE(client.step(TimePoint{} + 11_s).has_value());
  EXPECT_TRUE(std::holds_alternative<Heartbeat>(script->sent.at(1).body));
  EXPECT_EQ(client.next_due(), TimePoint{} + 12_s);

  reply(2, Restored{});
  ASSERT_TRUE(client.release().has_value());
  EXPECT_EQ(client.next_due().ns, kNever);
}

}  // namespace
}  // namespace rubato::wire
