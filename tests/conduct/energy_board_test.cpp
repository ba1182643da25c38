#include "conduct/energy_board.h"

#include <gmock/gmock.h>
#include <rubato/energy_layout.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "base/text.h"

namespace rubato::conduct {
namespace {

class EnergyBoardTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) / cat("rubato-board-", getpid());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string bytes() const {
    std::ifstream file(folder_ / RUBATO_ENERGY_FILE, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] rubato_energy_header header() const {
    rubato_energy_header h{};
    std::memcpy(&h, bytes().data(), sizeof h);
    return h;
  }
  [[nodiscard]] rubato_energy_record record(std::size_t i) const {
    rubato_energy_record r{};
    std::memcpy(&r, bytes().data() + sizeof(rubato_energy_header) + i * sizeof r, sizeof r);
    return r;
  }
  static GpuNow gpu(std::string uuid, double joules) {
    EnergyWindow window;
    window.energy = Joules(joules);
    window.band_sampling = 2_J;
    GpuNow now;
    now.uuid = std::move(uuid);
    now.energy = window;
    now.power = 150_W;
    return now;
  }
  std::filesystem::path folder_;
};

TEST_F(EnergyBoardTest, ANewBoardIsWholeAndKnowsNoGpu) {
  ASSERT_TRUE(EnergyBoard::create(folder_, 8, 1));
  EXPECT_EQ(header().magic, RUBATO_ENERGY_MAGIC);
  EXPECT_EQ(header().gpus, 0U);
  EXPECT_EQ(header().sequence % 2, 0U);
}

TEST_F(EnergyBoardTest, WhatIsPublishedIsReadBack) {
  auto board = EnergyBoard::create(folder_, 8, 1);
  const std::vector<GpuNow> gpus = {gpu("GPU-a", 100), gpu("GPU-b", 300)};
  board->publish(42, gpus);
  EXPECT_EQ(header().monotonic_ns, 42);
  ASSERT_EQ(header().gpus, 2U);
  EXPECT_STREQ(record(1).name, "GPU-b");
  EXPECT_EQ(record(1).energy_j, 300);
  EXPECT_EQ(record(1).flags, RUBATO_ENERGY_KNOWN | RUBATO_ENERGY_POWER);
}

TEST_F(EnergyBoardTest, ChannelsOfMetersFollowTheGpus) {
  auto board = EnergyBoard::create(folder_, 3, 1);
  const std::vector<GpuNow> gpus = {gpu("GPU-a", 100)};
  ChannelNow package{.meter = "rapl", .channel = "package-0", .scope = Scope::cpu_package};
  package.energy = gpus[0].energy;
  package.power = 40_W;
  const std::vector<ChannelNow> channels = {package,
                                            {.meter = "rapl", .channel = "dram-0", .scope = Scope::dram}};
  board->publish(42, gpus, channels);
  EXPECT_EQ(header().gpus, 1U);
  ASSERT_EQ(header().channels, 2U);
  EXPECT_STREQ(record(0).scope, "gpu");
  EXPECT_STREQ(record(1).name, "rapl\tpackage-0");
  EXPECT_STREQ(record(1).scope, "cpu_package");
  EXPECT_EQ(record(1).power_w, 40);
  EXPECT_STREQ(record(2).scope, "dram");
  EXPECT_EQ(record(2).flags, 0U);
}

TEST_F(EnergyBoardTest, WhatIsNotKnownHasNoFlag) {
  auto board = EnergyBoard::create(folder_, 8, 1);
  GpuNow unknown;
  unknown.uuid = "GPU-a";
  unknown.kind = Kind::modelled;
  board->publish(1, std::span(&unknown, 1));
  EXPECT_EQ(record(0).flags, static_cast<std::uint32_t>(RUBATO_ENERGY_MODELLED));
}

TEST_F(EnergyBoardTest, EveryPublicationHasAnEvenNumberOfItsOwn) {
  auto board = EnergyBoard::create(folder_, 8, 1);
  const std::uint64_t first = header().sequence;
  board->publish(1, {});
  EXPECT_EQ(header().sequence, first + 2);
}

TEST_F(EnergyBoardTest, ANameLongerThanItsFieldIsCut) {
  auto board = EnergyBoard::create(folder_, 1, 1);
  const std::vector<GpuNow> gpus = {gpu(std::string(200, 'x'), 1), gpu("GPU-b", 2)};
  board->publish(1, gpus);
  EXPECT_EQ(header().gpus, 1U);
  EXPECT_EQ(std::strlen(record(0).name), 63U);
}

TEST_F(EnergyBoardTest, AFileOfThatNameIsNotOverwritten) {
  ASSERT_TRUE(EnergyBoard::create(folder_, 8, 1));
  EXPECT_FALSE(EnergyBoard::create(folder_, 8, 1));
}

}  // namespace
}  // namespace rubato::conduct
