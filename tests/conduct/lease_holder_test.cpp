#include "conduct/lease_holder.h"

#include <gtest/gtest.h>

#include <deque>

namespace rubato::conduct {
namespace {

const GpuId kGpu{"GPU-a"};
const Setting kCapped{.power_limit = 150_W};
using State = LeaseHolder::State;
using Reply = std::optional<wire::Body>;  // nothing: the guard is gone

/// Answers each request with the next reply of the script and notes what was asked.
class ScriptedGuard final : public wire::Channel {
 public:
  ScriptedGuard(std::vector<std::string>& asked, std::deque<Reply>& script,
                std::optional<wire::Body>& last_words)
      : asked_(asked), script_(script), last_words_(last_words) {}
  Status send(std::string_view datagram) override {
    const auto message = wire::decode(datagram).value();
    if (std::holds_alternative<wire::Acquire>(message.body)) asked_.emplace_back("acquire");
    if (std::holds_alternative<wire::Apply>(message.body)) asked_.emplace_back("apply");
    if (std::holds_alternative<wire::Restore>(message.body)) asked_.emplace_back("restore");
    if (std::holds_alternative<wire::Release>(message.body)) asked_.emplace_back("release");
    sequence_ = message.sequence;
    if (script_.empty() || !script_.front()) return fail(ErrorCode::unavailable, "the other end is gone");
    return {};
  }
  Result<std::string> receive(Seconds) override {
    if (last_words_) return wire::encode({0, *std::exchange(last_words_, std::nullopt)});
    if (script_.empty() || !script_.front()) return fail(ErrorCode::unavailable, "the other end is gone");
    const wire::Body body = *script_.front();
    script_.pop_front();
    return wire::encode({sequence_, body});
  }

 private:
  std::vector<std::string>& asked_;
  std::deque<Reply>& script_;
  std::optional<wire::Body>& last_words_;
  std::uint64_t sequence_ = 0;
};

wire::Body granted() {
  return wire::Granted{{{kGpu, {100_W, 250_W, 250_W, 200_W, 200_W}, {}}}};
}
wire::Body applied() {
  return wire::Applied{kGpu, 150_W, 150_W};
}
wire::Body restored() {
  return wire::Restored{{{kGpu, Restoration::restored, "power limit 200 W"}}};
}
wire::Body refused(ErrorCode code) {
  return wire::Refused{{code, "no", {}}};
}

ReadLimits reads(Watts requested) {
  return [=](const GpuId&) -> Result<PowerLimits> {
    return PowerLimits{100_W, 250_W, 250_W, requested, requested};
  };
}

struct Held {
  std::vector<std::string> asked;
  std::deque<Reply> script;
  std::optional<wire::Body> last_words;  // of the guard's successor
  int rescues = 0;
  Result<std::vector<RestorationReport>> rescue_finds =
      std::vector<RestorationReport>{{kGpu, Restoration::restored, "by another guard"}};
  std::shared_ptr<VirtualClock> clock = std::make_shared<VirtualClock>();
  wire::LeaseClient client{std::make_unique<ScriptedGuard>(asked, script, last_words), clock};
  LeaseHolder lease{&client, {Knob::power_limit}, std::nullopt, [this] {
                      ++rescues;
                      return rescue_finds;
                    }};

  void take() {
    script = {granted()};
    EXPECT_TRUE(lease.acquire({kGpu}));
    asked.clear();
  }
};

TEST(LeaseHolder, TakesAppliesAndGivesBack) {
  Held held;
  EXPECT_EQ(held.lease.state(), State::none);
  held.script = {granted(), applied(), restored(), restored()};
  EXPECT_TRUE(held.lease.acquire({kGpu}));
  EXPECT_EQ(held.lease.apply(kGpu, kCapped)->requested_limit, 150_W);
  EXPECT_EQ(held.lease.restore(kGpu)->outcome, Restoration::restored);
  EXPECT_EQ(held.lease.release(reads(200_W)).size(), 1U);
  EXPECT_EQ(held.lease.state(), State::none);
  EXPECT_TRUE(held.lease.release(reads(200_W)).empty()) << "there is nothing left to give back";
}

TEST(LeaseHolder, WithoutAGuardNothingIsEverSet) {
  LeaseHolder lease(nullptr, {}, std::nullopt, {});
  EXPECT_FALSE(lease.usable());
  EXPECT_FALSE(lease.acquire({kGpu}));
  EXPECT_FALSE(lease.taken_anew());
  EXPECT_TRUE(lease.release(reads(200_W)).empty());
}

TEST(LeaseHolder, ARefusalIsFinal) {
  Held held;
  held.script = {refused(ErrorCode::busy)};
  EXPECT_EQ(held.lease.acquire({kGpu}).error().code, ErrorCode::busy);
  EXPECT_EQ(held.lease.state(), State::refused);
  EXPECT_FALSE(held.lease.usable());
  EXPECT_EQ(held.rescues, 0);
}

TEST(LeaseHolder, WhenTheGuardDiesWhatItLeftIsRescuedOnce) {
  Held held;
  held.take();
  held.script = {std::nullopt};
  EXPECT_EQ(held.lease.apply(kGpu, kCapped).error().code, ErrorCode::unavailable);
  EXPECT_EQ(held.lease.state(), State::guard_lost);
  EXPECT_FALSE(held.lease.usable());
  EXPECT_FALSE(held.lease.restore(kGpu));
  EXPECT_FALSE(held.lease.taken_anew());
  const auto reports = held.lease.release(reads(200_W));
  EXPECT_EQ(held.rescues, 1);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].detail, "by another guard");
}

TEST(LeaseHolder, AGuardThatDiesBeforeTheReleaseIsNoticedByIt) {
  Held held;
  held.take();
  held.script = {std::nullopt};
  ASSERT_EQ(held.lease.release(reads(200_W)).size(), 1U);
  EXPECT_EQ(held.rescues, 1);
}

TEST(LeaseHolder, WhereNothingCouldBeRescuedThatIsAFailure) {
  Held held;
  held.rescue_finds = fail(ErrorCode::unavailable, "no driver");
  held.take();
  held.script = {std::nullopt};
  const auto reports = held.lease.release(reads(200_W));
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].outcome, Restoration::failed);
  EXPECT_NE(reports[0].detail.find("rubato restore"), std::string::npos);
}

TEST(LeaseHolder, WhatAnotherRubatoHadPutBackAlreadyIsNoFailure) {
  Held held;
  held.rescue_finds = std::vector<RestorationReport>{};
  held.take();
  held.script = {std::nullopt};
  const auto reports = held.lease.release(reads(200_W));
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].outcome, Restoration::restored);
}

// A journal that lies where this user cannot look has no report either.
TEST(LeaseHolder, WhatNobodyReportsOnIsPutBackOnlyWhereTheLimitSaysSo) {
  Held held;
  held.rescue_finds = std::vector<RestorationReport>{};
  held.take();
  held.script = {std::nullopt};
  EXPECT_FALSE(held.lease.apply(kGpu, kCapped));
  EXPECT_EQ(held.lease.what_it_left(reads(150_W)).at(0).outcome, Restoration::failed);
  EXPECT_EQ(held.lease.what_it_left(reads(200_W)).at(0).outcome, Restoration::restored);
  const auto reports = held.lease.release(reads(150_W));
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].outcome, Restoration::failed);
  EXPECT_NE(reports[0].detail.find("is 150 W, where 200 W was found"), std::string::npos)
      << reports[0].detail;
}

TEST(LeaseHolder, WhatASuccessorPutBackNeedsNoRescue) {
  Held held;
  held.take();
  held.script = {std::nullopt};
  held.last_words = wire::Restored{{{kGpu, Restoration::restored, "by the successor"}}};
  EXPECT_FALSE(held.lease.apply(kGpu, kCapped));
  EXPECT_EQ(held.rescues, 0);
  EXPECT_EQ(held.lease.release(reads(150_W)).at(0).detail, "by the successor");
}

TEST(LeaseHolder, ADeathThatARequestFoundIsToldAllTheSame) {
  Held held;
  held.take();
  EXPECT_FALSE(held.lease.guard_just_died());
  held.script = {std::nullopt};
  EXPECT_FALSE(held.lease.apply(kGpu, kCapped));
  EXPECT_TRUE(held.lease.guard_just_died());
  EXPECT_FALSE(held.lease.guard_just_died()) << "once";
}

TEST(LeaseHolder, ARescueThatFailedIsTriedAgainAtTheEnd) {
  Held held;
  held.rescue_finds = std::vector<RestorationReport>{{kGpu, Restoration::failed, "the driver refuses"}};
  held.take();
  held.script = {std::nullopt};
  EXPECT_FALSE(held.lease.apply(kGpu, kCapped));
  EXPECT_EQ(held.lease.what_it_left(reads(150_W)).at(0).outcome, Restoration::failed);
  held.rescue_finds = std::vector<RestorationReport>{{kGpu, Restoration::restored, "now"}};
  EXPECT_EQ(held.lease.release(reads(200_W)).at(0).detail, "now");
}

TEST(LeaseHolder, ALapsedLeaseIsTakenAgainAndTheSettingMade) {
  Held held;
  held.take();
  held.script = {refused(ErrorCode::timeout), granted(), applied()};
  EXPECT_TRUE(held.lease.apply(kGpu, kCapped));
  EXPECT_EQ(held.asked, (std::vector<std::string>{"apply", "acquire", "apply"}));
  EXPECT_EQ(held.lease.state(), State::held);
}

TEST(LeaseHolder, ALapsedLeaseThatSomebodyElseHasNowIsLost) {
  Held held;
  held.take();
  held.script = {refused(ErrorCode::timeout), refused(ErrorCode::no_permission), restored()};
  EXPECT_FALSE(held.lease.apply(kGpu, kCapped));
  EXPECT_EQ(held.lease.state(), State::refused);
  EXPECT_EQ(held.lease.release(reads(200_W)).size(), 1U) << "how it ended is still told";
}

// A driver call that hung for longer than we wait for a reply looks like a lapse, and is none.
TEST(LeaseHolder, AGuardThatWasOnlySlowStillHoldsTheLease) {
  Held held;
  held.take();
  held.script = {refused(ErrorCode::timeout), refused(ErrorCode::busy), restored()};
  EXPECT_FALSE(held.lease.apply(kGpu, kCapped));
  EXPECT_EQ(held.lease.state(), State::held);
  EXPECT_EQ(held.lease.release(reads(200_W)).size(), 1U) << "what became of the setting must be told";
}

TEST(LeaseHolder, ALapsedLeaseIsTakenAgainForARestoration) {
  Held held;
  held.take();
  held.script = {refused(ErrorCode::timeout), granted(), restored()};
  EXPECT_TRUE(held.lease.restore(kGpu));
  EXPECT_EQ(held.lease.state(), State::held);
}

TEST(LeaseHolder, TellsWhetherTheLeaseWasTakenAnew) {
  Held held;
  EXPECT_FALSE(held.lease.taken_anew()) << "nothing was held yet";
  held.take();
  held.script = {refused(ErrorCode::busy), granted(), refused(ErrorCode::no_permission)};
  EXPECT_FALSE(held.lease.taken_anew()) << "busy: the guard never gave up on us";
  EXPECT_EQ(held.lease.state(), State::held);
  EXPECT_TRUE(held.lease.taken_anew());
  EXPECT_EQ(held.lease.state(), State::held);
  EXPECT_FALSE(held.lease.taken_anew());
  EXPECT_EQ(held.lease.state(), State::refused);
}

}  // namespace
}  // namespace rubato::conduct
