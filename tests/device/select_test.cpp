#include "device/select.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace rubato::device {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::array<std::string_view, 2> kNames = {"nvml", "sim"};

GpuIdentity gpu(unsigned index, std::string uuid, std::string pci,
                std::string name = "Tesla V100-PCIE-16GB") {
  return {.id = {std::move(uuid)}, .name = std::move(name), .index = index, .pci_bus_id = std::move(pci)};
}

const std::vector<GpuIdentity> kTwo = {gpu(0, "GPU-aa11", "00000000:1B:00.0"),
                                       gpu(1, "GPU-ab22", "00000000:3B:00.0")};

std::vector<unsigned> indices(const std::vector<GpuIdentity>& gpus) {
  std::vector<unsigned> out;
  for (const auto& g : gpus) out.push_back(g.index);
  return out;
}

std::vector<unsigned> matched(const std::vector<std::string>& items) {
  const auto found = match_gpus(items, kTwo);
  EXPECT_TRUE(found) << found.error().what;
  return found ? indices(*found) : std::vector<unsigned>{};
}

std::vector<unsigned> visible(std::string_view text) {
  const auto found = visible_gpus(text, kTwo);
  EXPECT_TRUE(found) << found.error().what;
  return found ? indices(found->gpus) : std::vector<unsigned>{};
}

TEST(ParseRequest, EmptyMeansEveryGpuOfNvml) {
  const auto request = parse_request(" ", kNames);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->backend, "nvml");
  EXPECT_THAT(request->items, IsEmpty());
}

TEST(ParseRequest, SimItemsMakeOneWorld) {
  const auto request = parse_request("sim:v100,sim:a100", kNames);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->backend, "sim");
  EXPECT_EQ(request->argument, "v100,a100");
}

TEST(ParseRequest, ABackendsNameAloneMeansAllOfIt) {
  const auto request = parse_request("sim", kNames);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->backend, "sim");
  EXPECT_EQ(request->argument, "");
}

TEST(ParseRequest, PciIdsAreNotBackendNames) {
  const auto request = parse_request("0000:1b:00.0,1", kNames);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->backend, "nvml");
  EXPECT_THAT(request->items, ElementsAre("0000:1b:00.0", "1"));
}

TEST(ParseRequest, MixedBackendsAreRefused) {
  for (const auto* list : {"0,sim:v100", "sim:v100,0"}) {
    const auto request = parse_request(list, kNames);
    ASSERT_FALSE(request) << list;
    EXPECT_EQ(request.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(request.error().what, HasSubstr("mixes"));
  }
}

TEST(ParseRequest, EmptyItemsAreRefused) {
  for (const auto* list : {"0,,1", "0,", ","}) EXPECT_FALSE(parse_request(list, kNames)) << list;
}

TEST(MatchGpus, TakesIndexUuidItsBeginningAndEveryPciForm) {
  EXPECT_THAT(matched({"1"}), ElementsAre(1));
  EXPECT_THAT(matched({"GPU-aa11"}), ElementsAre(0));
  EXPECT_THAT(matched({"gpu-AB"}), ElementsAre(1));
  for (const auto* pci : {"00000000:3B:00.0", "0000:3b:00.0", "3b:00.0", "3B:00"})
    EXPECT_THAT(matched({pci}), ElementsAre(1)) << pci;
}

TEST(MatchGpus, KeepsTheOrderAskedForAndCountsAGpuOnce) {
  EXPECT_THAT(matched({"1", "0", "GPU-ab22"}), ElementsAre(1, 0));
}

TEST(MatchGpus, AWholeUuidWinsOverALongerOneThatBeginsLikeIt) {
  const std::vector<GpuIdentity> gpus = {gpu(0, "GPU-a", "1b:00"), gpu(1, "GPU-ab", "1c:00")};
  const auto found = match_gpus(std::vector<std::string>{"GPU-a"}, gpus);
  ASSERT_TRUE(found);
  EXPECT_THAT(indices(*found), ElementsAre(0));
}

TEST(MatchGpus, UnknownNamesEveryGpuThereIs) {
  for (const std::string item : {"7", "-1", "GPU-ff", "99:00.0", "v100"}) {
    const auto found = match_gpus(std::vector{item}, kTwo);
    ASSERT_FALSE(found) << item;
    EXPECT_EQ(found.error().code, ErrorCode::not_found);
    EXPECT_THAT(found.error().what,
                testing::AllOf(HasSubstr(item), HasSubstr("GPU-aa11"), HasSubstr("GPU-ab22")));
  }
}

TEST(MatchGpus, WhoTakesWhatIsThereIsToldWhatIsMissingAndOtherMistakesStay) {
  const auto present = match_present(std::vector<std::string>{"7", "1", "GPU-ff"}, kTwo);
  ASSERT_TRUE(present);
  EXPECT_THAT(indices(present->gpus), ElementsAre(1));
  ASSERT_EQ(present->missing.size(), 2U);
  EXPECT_THAT(present->missing.at(1).what, HasSubstr("GPU-ff"));
  EXPECT_FALSE(match_present(std::vector<std::string>{"1", "GPU-a"}, kTwo)) << "which one is meant?";
}

TEST(MatchGpus, AmbiguousBeginningNamesTheCandidates) {
  const auto found = match_gpus(std::vector<std::string>{"GPU-a"}, kTwo);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(found.error().what, testing::AllOf(HasSubstr("GPU-aa11"), HasSubstr("GPU-ab22")));
}

TEST(MatchGpus, MigInstancesAreNotSupported) {
  const auto found = match_gpus(std::vector<std::string>{"MIG-0f0f"}, kTwo);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::not_supported);
}

TEST(VisibleGpus, TakesCudasForms) {
  EXPECT_THAT(visible("1,0"), ElementsAre(1, 0));
  EXPECT_THAT(visible("GPU-ab22"), ElementsAre(1));
  EXPECT_THAT(visible("GPU-ab"), ElementsAre(1));
}

TEST(VisibleGpus, EndsAtTheFirstUnknownItemAsCudaDoes) {
  EXPECT_THAT(visible("1,-1,0"), ElementsAre(1));
  EXPECT_THAT(visible("0,5,1"), ElementsAre(0));
}

TEST(VisibleGpus, NothingVisibleIsNotFound) {
  for (const auto* text : {"", "-1", "NoDevFiles", "1b:00.0", "GPU-a"}) {
    const auto found = visible_gpus(text, kTwo);
    ASSERT_FALSE(found) << text;
    EXPECT_EQ(found.error().code, ErrorCode::not_found);
  }
}

TEST(VisibleGpus, AnAmbiguousBeginningEndsTheListAsCudaDoes) {
  EXPECT_THAT(visible("GPU-aa,GPU-a,GPU-ab22"), ElementsAre(0));
}

TEST(VisibleGpus, AMigInstanceOfAnOldDriverNamesItsWholeGpu) {
  const auto found = visible_gpus("MIG-GPU-ab22/1/0", kTwo);
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_THAT(indices(found->gpus), ElementsAre(1));
  EXPECT_THAT(found->doubt, HasSubstr("whole GPU"));
}

TEST(VisibleGpus, AMigInstanceOfANewDriverDoesNotTellSoAllAreWatched) {
  const auto found = visible_gpus("MIG-0f0f-22", kTwo);
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_THAT(indices(found->gpus), ElementsAre(0, 1));
  EXPECT_THAT(found->doubt, HasSubstr("MIG"));
  const std::vector<GpuIdentity> only = {kTwo[1]};
  EXPECT_THAT(indices(visible_gpus("MIG-0f0f-22", only)->gpus), ElementsAre(1));
}

// The driver's own order differs from that of the PCI ids here.
const std::vector<GpuIdentity> kMixed = {gpu(0, "GPU-1", "00000000:3B:00.0", "Tesla T4"),
                                         gpu(1, "GPU-2", "00000000:1B:00.0", "A100"),
                                         gpu(2, "GPU-3", "00010000:02:00.0", "A100")};

TEST(VisibleGpus, CudaIndicesAmongDifferentGpusAreDoubtfulButUuidsAreNot) {
  for (const auto* order : {"", "FASTEST_FIRST"}) {
    const auto by_index = visible_gpus("0", kMixed, order);
    ASSERT_TRUE(by_index);
    EXPECT_EQ(by_index->gpus.size(), 3U);
    EXPECT_THAT(by_index->doubt,
                testing::AllOf(HasSubstr("UUID"), HasSubstr("CUDA_DEVICE_ORDER=PCI_BUS_ID")));
  }
  const auto by_uuid = visible_gpus("GPU-2", kMixed);
  ASSERT_TRUE(by_uuid);
  EXPECT_THAT(indices(by_uuid->gpus), ElementsAre(1));
  EXPECT_EQ(by_uuid->doubt, "");
}

TEST(VisibleGpus, InPciOrderIndicesAmongDifferentGpusAreKnown) {
  const auto found = visible_gpus("0,2,1", kMixed, "PCI_BUS_ID");
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_THAT(indices(found->gpus), ElementsAre(1, 2, 0));
  EXPECT_EQ(found->doubt, "");
}

TEST(VisibleGpus, HiddenGpusAmongDifferentOnesAreNoDoubt) {
  EXPECT_EQ(visible_gpus("-1", kMixed).error().code, ErrorCode::not_found);
}

std::vector<unsigned> counted(const std::vector<std::string>& items, std::optional<std::string_view> shown) {
  const auto found = match_counted(items, kTwo, shown);
  EXPECT_TRUE(found) << found.error().what;
  return found ? indices(*found) : std::vector<unsigned>{};
}

std::string not_counted(const std::string& item, std::string_view shown) {
  const auto found = match_counted(std::vector{item}, kTwo, shown);
  EXPECT_FALSE(found);
  return found ? std::string() : found.error().what;
}

TEST(MatchCounted, ANumberIsAPlaceAmongTheGpusThatAreShown) {
  EXPECT_THAT(counted({"0"}, "1"), ElementsAre(1));
  EXPECT_THAT(counted({"0", "1"}, "1,0"), ElementsAre(1, 0));
  EXPECT_THAT(counted({"0"}, "GPU-ab"), ElementsAre(1));
  EXPECT_THAT(counted({"GPU-aa11"}, "1"), ElementsAre(0)) << "a UUID is a UUID";
  EXPECT_THAT(counted({"1"}, std::nullopt), ElementsAre(1)) << "the driver's, where nothing is hidden";
}

TEST(MatchCounted, WhatIsNotShownIsSaidWithHowManyAre) {
  for (const std::string item : {"1", "-1", "7"}) {
    EXPECT_THAT(not_counted(item, "1"), HasSubstr("no GPU " + item + ": this process sees 1 of 2 GPUs"));
    EXPECT_THAT(not_counted(item, "1,-1,0"), HasSubstr("CUDA_VISIBLE_DEVICES=1,-1,0"))
        << "ends at the first that is none";
  }
  EXPECT_THAT(not_counted("0", ""), HasSubstr("leaves no GPU visible"));
  EXPECT_THAT(not_counted("1.5", "1"), HasSubstr("no GPU '1.5'"));
}

TEST(MatchCounted, OnDifferentGpusOrAMigInstanceOfUnknownPlaceItCannotBeTold) {
  const std::vector<GpuIdentity> mixed = {kTwo[0], gpu(1, "GPU-ab22", "00000000:3B:00.0", "Tesla P100")};
  const std::vector<std::string> first = {"0"};
  const auto told = match_counted(first, mixed, "1");
  ASSERT_FALSE(told);
  EXPECT_THAT(told.error().what, HasSubstr("which GPU 0 is cannot be told"));
  const auto all = match_counted(first, mixed, std::nullopt);
  ASSERT_FALSE(all) << "CUDA's number 0 is the fastest, the driver's the first on the bus";
  EXPECT_THAT(all.error().hint, HasSubstr("CUDA_DEVICE_ORDER=PCI_BUS_ID"));
  EXPECT_THAT(indices(match_counted(first, mixed, std::nullopt, "PCI_BUS_ID").value()), ElementsAre(0));
  EXPECT_THAT(told.error().hint, HasSubstr("CUDA_DEVICE_ORDER=PCI_BUS_ID"));
  const auto ordered = match_counted(first, mixed, "1", "PCI_BUS_ID");
  ASSERT_TRUE(ordered);
  EXPECT_THAT(indices(*ordered), ElementsAre(1));
  EXPECT_FALSE(match_counted(first, kTwo, "MIG-0123"));
}

}  // namespace
}  // namespace rubato::device
