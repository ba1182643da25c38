#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "meter/mcp39f511n/packet.h"
#include "meter/mcp39f511n/unit_check.h"
#include "meter/mcp_subject.h"

namespace rubato::meter::testing {
namespace {

using mcp39f511n::parse_reply;
using mcp39f511n::ReplyState;
using mcp39f511n::UnitCheck;
using mcp39f511n::UnitVerdict;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Bytes = std::vector<std::uint8_t>;

// Two data bytes, 10 and 20: 06 05 0a 14, sum 0x29.
const Bytes kGood{0x06, 0x05, 0x0a, 0x14, 0x29};

Bytes after(const Bytes& noise) {
  Bytes bytes = noise;
  bytes.insert(bytes.end(), kGood.begin(), kGood.end());
  return bytes;
}

TEST(McpPacket, ARequestNamesAddressAndLengthAndEndsInItsSum) {
  // a5+08+41+00+16+4e+08 = 0x15a
  EXPECT_THAT(mcp39f511n::read_request(0x0016, 8),
              ElementsAre(0xa5, 0x08, 0x41, 0x00, 0x16, 0x4e, 0x08, 0x5a));
}

TEST(McpPacket, AGoodReplyGivesItsData) {
  const auto reply = parse_reply(kGood, 2);
  EXPECT_EQ(reply.state, ReplyState::complete);
  EXPECT_THAT(reply.data, ElementsAre(10, 20));
  EXPECT_EQ(mcp39f511n::little_endian(reply.data, 0, 2), 20U * 256 + 10);
}

TEST(McpPacket, EveryPartOfAReplyIsIncomplete) {
  for (std::size_t length = 0; length < kGood.size(); ++length)
    EXPECT_EQ(parse_reply(std::span(kGood).first(length), 2).state, ReplyState::incomplete) << length;
}

TEST(McpPacket, GarbageBeforeTheHeaderIsSkippedEvenWhereItLooksLikeOne) {
  for (const Bytes& noise :
       {Bytes{0xff}, Bytes{0x06}, Bytes{0x06, 0x05}, Bytes{0x15, 0x51}, Bytes{0x06, 0x06, 0x05}}) {
    const auto reply = parse_reply(after(noise), 2);
    EXPECT_EQ(reply.state, ReplyState::complete);
    EXPECT_THAT(reply.data, ElementsAre(10, 20));
  }
}

TEST(McpPacket, OneWrongBitIsAWrongChecksum) {
  Bytes bytes = kGood;
  bytes[2] ^= 0x40;
  EXPECT_EQ(parse_reply(bytes, 2).state, ReplyState::damaged);
}

TEST(McpPacket, RefusalsAreOneByteAlone) {
  EXPECT_EQ(parse_reply(Bytes{0x15}, 2).state, ReplyState::refused);
  EXPECT_EQ(parse_reply(Bytes{0x51}, 2).state, ReplyState::misread);
}

TEST(McpUnit, IsConfirmedWherePowerAndRegisterAgree) {
  UnitCheck check(3.6_J);
  UnitVerdict verdict = UnitVerdict::open;
  for (int second = 0; second <= 10; ++second)
    verdict = check.add(TimePoint{} + Seconds(second), 360_W, second == 0 ? 0 : 100);
  EXPECT_EQ(verdict, UnitVerdict::confirmed);
}

TEST(McpUnit, IsRefutedWhereARegisterCountsTenTimesTooSlowlyOrNotAtAll) {
  for (const std::uint64_t counts : {10U, 0U, 1000U}) {
    UnitCheck check(3.6_J);
    for (int second = 0; second <= 10; ++second) check.add(TimePoint{} + Seconds(second), 360_W, counts);
    EXPECT_EQ(check.verdict(), UnitVerdict::refuted) << counts;
    EXPECT_EQ(check.seen_per_count().has_value(), counts > 0);
  }
}

TEST(McpUnit, StaysOpenWhereNothingFlows) {
  UnitCheck check(3.6_J);
  for (int second = 0; second <= 100; ++second) check.add(TimePoint{} + Seconds(second), 1_W, 0);
  EXPECT_EQ(check.verdict(), UnitVerdict::open);
}

class McpMeterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = bench_.open();
    ASSERT_TRUE(opened) << opened.error().what;
    meter_ = std::move(*opened);
    bench_.advance(1_s, 100_W);
  }
  McpSubject bench_;
  std::unique_ptr<Meter> meter_;
};

TEST_F(McpMeterTest, ReadsAfterGarbageAndFromSlowAnswers) {
  for (const Answering how : {Answering::after_garbage, Answering::slowly}) {
    bench_.fake->answer(how);
    const auto read = meter_->read();
    ASSERT_TRUE(read) << read.error().what;
    EXPECT_EQ(read->front().power, 100_W);
    EXPECT_FALSE(meter_->complaint());
  }
}

TEST_F(McpMeterTest, ABadPacketIsAskedForOnceMore) {
  bench_.fake->answer(Answering::wrong_checksum_once);
  const unsigned before = bench_.fake->requests();
  ASSERT_TRUE(meter_->read());
  EXPECT_EQ(bench_.fake->requests() - before, 3U) << "power twice, energy once";
}

TEST_F(McpMeterTest, APacketThatStaysBadIsAnErrorAndTheNextReadingIsGood) {
  bench_.fake->answer(Answering::wrong_checksum);
  const auto bad = meter_->read();
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, ErrorCode::corrupt);
  bench_.fake->answer(Answering::refusing);
  EXPECT_EQ(meter_->read().error().code, ErrorCode::not_supported);
  bench_.fake->answer(Answering::well);
  EXPECT_TRUE(meter_->read());
}

TEST_F(McpMeterTest, AnEnergyRegisterInAnotherUnitIsNotBelieved) {
  bench_.joules_per_count = 0.36;
  for (int i = 0; i < 10; ++i) {
    bench_.advance(10_s, 200_W);
    const auto read = meter_->read();
    ASSERT_TRUE(read);
    EXPECT_EQ(read->front().power, 200_W);
    EXPECT_FALSE(read->front().energy);
  }
  ASSERT_TRUE(meter_->complaint());
  EXPECT_THAT(meter_->complaint()->what, HasSubstr("moves once per 0.4 J"));
}

TEST_F(McpMeterTest, WritesNothingButRegisterReads) {
  ASSERT_TRUE(meter_->read());
  EXPECT_EQ(bench_.fake->requests(), 3U) << "one to see who answers, power, energy";
  EXPECT_EQ(bench_.fake->refused(), 0U);
}

TEST(McpPort, AnotherUsbDeviceIsNeverWrittenTo) {
  const McpSubject bench;
  bench.tree.write("/sys/class/tty/ttyACM0/idProduct", "0043\n");
  const auto meter = mcp39f511n::kind().open("/dev/ttyACM0", bench.around());
  ASSERT_FALSE(meter);
  EXPECT_EQ(meter.error().code, ErrorCode::not_found);
  EXPECT_THAT(meter.error().what, HasSubstr("04d8:0043, needed 04d8:00dd"));
  EXPECT_EQ(bench.fake->requests(), 0U);
}

TEST(McpPort, OfSeveralMetersOneMustBeNamed) {
  const McpSubject bench;
  bench.tree.write("/sys/class/tty/ttyACM1/device/interface", "meter\n");
  bench.tree.write("/sys/class/tty/ttyACM1/idVendor", "04d8\n");
  bench.tree.write("/sys/class/tty/ttyACM1/idProduct", "00dd\n");
  const auto meter = mcp39f511n::kind().open("", bench.around());
  ASSERT_FALSE(meter);
  EXPECT_EQ(meter.error().hint, "--meter mcp39f511n:/dev/ttyACM0");
  EXPECT_TRUE(mcp39f511n::kind().open("/dev/ttyACM0", bench.around()));
  EXPECT_EQ(mcp39f511n::kind().find(bench.around()).size(), 2U);
}

TEST(McpPort, ALinkToThePortWillDo) {
  const McpSubject bench;
  bench.tree.link("/dev/serial/by-id/usb-Microchip", bench.tree.path("/dev/ttyACM0"));
  // The link ends at the pseudo-terminal here, so its ids must stand under that name.
  const std::string name = std::filesystem::path(bench.fake->device()).filename();
  bench.tree.write(cat("/sys/class/tty/", name, "/device/interface"), "meter\n");
  bench.tree.write(cat("/sys/class/tty/", name, "/idVendor"), "04d8\n");
  bench.tree.write(cat("/sys/class/tty/", name, "/idProduct"), "00dd\n");
  EXPECT_TRUE(mcp39f511n::kind().open("/dev/serial/by-id/usb-Microchip", bench.around()));
}

TEST(McpTable, SaysWhatTheChannelsStandFor) {
  const McpSubject bench;
  Surroundings around = bench.around();
  around.tables = {{.name = "bench",
                    .values = {{"kind", "mcp39f511n"},
                               {"port", "/dev/ttyACM0"},
                               {"scope_1", "node"},
                               {"label_1", "server 3"}},
                    .file = "meters.toml"}};
  const auto meter = mcp39f511n::kind().open("bench", around);
  ASSERT_TRUE(meter) << meter.error().what;
  EXPECT_EQ((*meter)->name(), "mcp39f511n:bench");
  EXPECT_EQ((*meter)->channels()[0].scope, Scope::node);
  EXPECT_EQ((*meter)->channels()[0].place, "server 3");
  EXPECT_EQ((*meter)->channels()[1].scope, Scope::rail);
  around.tables[0].values.emplace("baud", "9600");
  EXPECT_THAT(mcp39f511n::kind().open("bench", around).error().what, HasSubstr("no key 'baud'"));
}

}  // namespace
}  // namespace rubato::meter::testing
