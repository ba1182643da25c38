#include "conduct/kernel_reader.h"

#include <gmock/gmock.h>
#include <rubato/kernel_layout.h>
#include <rubato/mark_layout.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <vector>

#include "base/text.h"

namespace rubato::conduct {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr TimePoint kNow{10'000'000'000'000};

// A ring as bytes: what a producer has written by the time somebody looks.
class Ring {
 public:
  explicit Ring(std::filesystem::path file, std::uint32_t capacity = 8, std::int32_t pid = 7)
      : file_(std::move(file)), records_(capacity) {
    header.magic = RUBATO_KERNEL_MAGIC;
    header.version = RUBATO_KERNEL_VERSION;
    header.header_size = sizeof header;
    header.record_size = sizeof(rubato_kernel_record);
    header.capacity = capacity;
    header.pid = pid;
  }
  rubato_kernel_record& add(std::uint32_t kind, std::int64_t begin, std::int64_t end) {
    rubato_kernel_record& r = records_[header.written % records_.size()];
    r = {};
    r.kind = kind;
    r.begin_ns = kNow.ns + begin;
    r.end_ns = kNow.ns + end;
    r.sequence = ++header.written;
    return r;
  }
  rubato_kernel_record& kernel(std::int64_t begin, std::int64_t end) {
    return add(RUBATO_KERNEL_RUN, begin, end);
  }
  void save() const {
    std::fstream out(file_, std::ios::binary | std::ios::in | std::ios::out);
    if (!out.is_open()) out.open(file_, std::ios::binary | std::ios::out);
    out.write(reinterpret_cast<const char*>(&header), sizeof header);
    out.write(reinterpret_cast<const char*>(records_.data()),
              static_cast<std::streamsize>(records_.size() * sizeof records_[0]));
  }

  rubato_mark_header header{};

 private:
  std::filesystem::path file_;
  std::vector<rubato_kernel_record> records_;
};

class KernelReaderTest : public testing::Test {
 protected:
  KernelReaderTest()
      : directory_(std::filesystem::path(testing::TempDir()) /
                   cat("rubato-kernels-", ::getpid(), "-",
                       testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
  }
  ~KernelReaderTest() override { std::filesystem::remove_all(directory_); }
  [[nodiscard]] std::filesystem::path file(std::string_view name) const { return directory_ / name; }

  std::filesystem::path directory_;
};

TEST_F(KernelReaderTest, EveryFieldOfAKernelComesBack) {
  Ring ring(file("7-0.kernels"));
  rubato_kernel_record& r = ring.kernel(-20, -10);
  r.name_hash = 1;
  r.layer = 2;
  r.stream = 3;
  r.graph = 4;
  r.grid[0] = 5;
  r.block[2] = 6;
  r.lost = 7;
  r.device_uuid[15] = 8;
  ring.save();
  KernelReader reader(directory_);
  const KernelNews news = reader.poll(kNow);
  ASSERT_THAT(news.kernels, SizeIs(1));
  const KernelRecord& k = news.kernels[0];
  EXPECT_EQ(k.begin.ns, kNow.ns - 20);
  EXPECT_EQ(k.end.ns, kNow.ns - 10);
  EXPECT_EQ(k.name_hash, 1U);
  EXPECT_EQ(k.layer, 2U);
  EXPECT_EQ(k.stream, 3U);
  EXPECT_EQ(k.graph, 4U);
  EXPECT_EQ(k.grid[0], 5U);
  EXPECT_EQ(k.block[2], 6U);
  EXPECT_EQ(k.lost_before, 7U);
  EXPECT_EQ(k.device_uuid[15], 8U);
  EXPECT_EQ(k.pid, 7);
  EXPECT_THAT(reader.poll(kNow).kernels, IsEmpty()) << "each comes once";
}

TEST_F(KernelReaderTest, KernelsOfSeveralProcessesComeInOrderOfTheirBegin) {
  Ring a(file("1-0.kernels"), 8, 1);
  a.kernel(-50, -40);
  a.kernel(-20, -10);
  a.save();
  Ring b(file("2-0.kernels"), 8, 2);
  b.kernel(-30, -25);
  b.save();
  std::vector<std::int32_t> pids;
  for (const KernelRecord& k : KernelReader(directory_).poll(kNow).kernels) pids.push_back(k.pid);
  EXPECT_THAT(pids, ElementsAre(1, 2, 1));
}

std::vector<std::int64_t> begins_of(const KernelNews& news) {
  std::vector<std::int64_t> begins;
  for (const KernelRecord& k : news.kernels) begins.push_back(k.begin.ns - kNow.ns);
  return begins;
}

// As CUPTI's buffers are: one for each launching thread, full at different times.
TEST_F(KernelReaderTest, AThreadsKernelsThatAreWrittenLaterComeInTheirOrder) {
  Ring ring(file("7-0.kernels"));
  ring.add(RUBATO_KERNEL_CYCLE_BEGIN, -100, -100);
  ring.kernel(-90, -85);
  ring.kernel(-70, -65);
  ring.save();
  KernelReader reader(directory_);
  EXPECT_THAT(reader.poll(kNow).kernels, IsEmpty());
  ring.kernel(-80, -75);
  ring.kernel(-60, -55);
  ring.add(RUBATO_KERNEL_CYCLE_END, -100, -62);
  ring.save();
  const KernelNews news = reader.poll(kNow);
  EXPECT_THAT(begins_of(news), ElementsAre(-90, -80, -70, -60));
  ASSERT_THAT(news.cycles, SizeIs(1));
  EXPECT_EQ(news.cycles[0].end.ns, kNow.ns - 60) << "recorded until then";
}

TEST_F(KernelReaderTest, AProcessWaitsForNoOthersCycle) {
  Ring a(file("1-0.kernels"), 8, 1);
  a.add(RUBATO_KERNEL_CYCLE_BEGIN, -100, -100);
  a.kernel(-90, -85);
  a.kernel(-50, -45);
  a.add(RUBATO_KERNEL_CYCLE_END, -100, -40);
  a.save();
  Ring b(file("2-0.kernels"), 8, 2);
  b.add(RUBATO_KERNEL_CYCLE_BEGIN, -60, -60);
  b.kernel(-55, -52);
  b.save();
  KernelReader reader(directory_);
  const KernelNews first = reader.poll(kNow);
  EXPECT_THAT(begins_of(first), ElementsAre(-90, -50));
  EXPECT_THAT(first.cycles, SizeIs(1));
  b.add(RUBATO_KERNEL_CYCLE_END, -60, -30);
  b.save();
  const KernelNews second = reader.poll(kNow);
  EXPECT_THAT(begins_of(second), ElementsAre(-55));
  EXPECT_THAT(second.cycles, SizeIs(1));
}

TEST_F(KernelReaderTest, WhatAProcessToldBeforeItHungInsideACycleIsToldAfterAWhile) {
  Ring ring(file("7-0.kernels"));
  ring.add(RUBATO_KERNEL_CYCLE_BEGIN, -100, -100);
  ring.kernel(-50, -45);
  ring.save();
  KernelReader reader(directory_);
  EXPECT_THAT(reader.poll(kNow).kernels, IsEmpty());
  EXPECT_THAT(reader.poll(kNow + 9_s).kernels, IsEmpty());
  EXPECT_THAT(reader.poll(kNow + 11_s).kernels, SizeIs(1));
  EXPECT_THAT(reader.poll(kNow + 12_s).kernels, IsEmpty()) << "each comes once";
}

TEST_F(KernelReaderTest, SeveralCyclesInOneNewsComeByTheirEnds) {
  Ring b(file("2-0.kernels"), 8, 2);
  b.add(RUBATO_KERNEL_CYCLE_BEGIN, -60, -60);
  b.add(RUBATO_KERNEL_CYCLE_END, -60, -30);
  b.save();
  Ring a(file("3-0.kernels"), 8, 3);
  a.add(RUBATO_KERNEL_CYCLE_BEGIN, -100, -100);
  a.add(RUBATO_KERNEL_CYCLE_END, -100, -90);
  a.save();
  const KernelNews news = KernelReader(directory_).poll(kNow);
  ASSERT_THAT(news.cycles, SizeIs(2));
  EXPECT_LT(news.cycles[0].end, news.cycles[1].end);
}

TEST_F(KernelReaderTest, ACycleIsToldWhenItEnds) {
  Ring ring(file("7-0.kernels"));
  ring.add(RUBATO_KERNEL_CYCLE_BEGIN, -100, -100);
  ring.kernel(-90, -80);
  ring.save();
  KernelReader reader(directory_);
  EXPECT_THAT(reader.poll(kNow).cycles, IsEmpty());
  ring.add(RUBATO_KERNEL_CYCLE_END, -100, -50).lost = 3;
  ring.save();
  const KernelNews news = reader.poll(kNow);
  ASSERT_THAT(news.cycles, SizeIs(1));
  EXPECT_EQ(news.cycles[0].begin.ns, kNow.ns - 100);
  EXPECT_EQ(news.cycles[0].end.ns, kNow.ns - 50);
  EXPECT_EQ(news.cycles[0].lost, 3U);
  EXPECT_EQ(news.cycles[0].pid, 7);
  EXPECT_THAT(reader.finish(kNow).cycles, IsEmpty());
}

TEST_F(KernelReaderTest, ACycleThatAKillCutShortEndsWithItsLastKernel) {
  Ring ring(file("7-0.kernels"));
  ring.add(RUBATO_KERNEL_CYCLE_BEGIN, -100, -100);
  ring.kernel(-90, -80);
  ring.kernel(-85, -60);
  ring.save();
  KernelReader reader(directory_);
  const KernelNews news = reader.finish(kNow);
  EXPECT_THAT(news.kernels, SizeIs(2));
  ASSERT_THAT(news.cycles, SizeIs(1));
  EXPECT_EQ(news.cycles[0].end.ns, kNow.ns - 60);
}

TEST_F(KernelReaderTest, WhatWasOverwrittenIsCountedBeforeTheNextKernel) {
  Ring ring(file("7-0.kernels"), 4);
  for (int i = 0; i < 10; ++i) ring.kernel(-100 + i, -99 + i).lost = 1;
  ring.save();
  KernelReader reader(directory_);
  // The slot of the oldest may be being rewritten just now, so it counts as lost as well.
  const KernelNews news = reader.poll(kNow);
  ASSERT_THAT(news.kernels, SizeIs(3));
  EXPECT_EQ(news.kernels[0].lost_before, 8U);
  EXPECT_EQ(news.kernels[1].lost_before, 1U);
  EXPECT_EQ(reader.lost(), 7U);
}

TEST_F(KernelReaderTest, TimesThatCannotBeTrueAreCountedAndDropped) {
  Ring ring(file("7-0.kernels"));
  ring.kernel(-10, -20);
  ring.kernel(-10, 31'000'000'000);
  ring.kernel(-4'000'000'000'000, -10);
  ring.add(RUBATO_KERNEL_CYCLE_END, -10, -20);
  ring.kernel(-10, -5);
  ring.save();
  KernelReader reader(directory_, {.begin = kNow - 3600_s});
  const KernelNews news = reader.poll(kNow);
  EXPECT_THAT(news.kernels, SizeIs(1));
  EXPECT_THAT(news.cycles, IsEmpty());
  EXPECT_EQ(reader.implausible(), 4U);
}

TEST_F(KernelReaderTest, CopiesAndKindsOfLaterVersionsArePassedOver) {
  Ring ring(file("7-0.kernels"));
  ring.add(RUBATO_KERNEL_MEMCPY, -10, -5);
  ring.add(99, -10, -5);
  ring.add(RUBATO_KERNEL_GRAPH, -10, -5).graph = 3;
  ring.save();
  const KernelNews news = KernelReader(directory_).poll(kNow);
  ASSERT_THAT(news.kernels, SizeIs(1));
  EXPECT_EQ(news.kernels[0].graph, 3U);
}

TEST_F(KernelReaderTest, ALossThatOverflowsStaysTheLargestNumber) {
  Ring ring(file("7-0.kernels"), 2);
  for (int i = 0; i < 5; ++i) ring.kernel(-10, -5).lost = std::numeric_limits<std::uint64_t>::max();
  ring.save();
  const KernelNews news = KernelReader(directory_).poll(kNow);
  ASSERT_FALSE(news.kernels.empty());
  EXPECT_EQ(news.kernels[0].lost_before, std::numeric_limits<std::uint64_t>::max());
}

TEST_F(KernelReaderTest, AForeignFileIsRefusedOnceAndNamed) {
  const auto refused = [&](auto&& spoil, std::string_view because) {
    std::filesystem::remove(file("7-0.kernels"));
    Ring ring(file("7-0.kernels"));
    ring.kernel(-10, -5);
    spoil(ring.header);
    ring.save();
    KernelReader reader(directory_);
    EXPECT_THAT(reader.poll(kNow).kernels, IsEmpty());
    EXPECT_THAT(reader.take_complaints(), ElementsAre(HasSubstr(std::string(because))));
    EXPECT_THAT(reader.poll(kNow + 1_s).kernels, IsEmpty());
    EXPECT_THAT(reader.take_complaints(), IsEmpty());
  };
  refused([](auto& h) { h.magic = RUBATO_MARK_MAGIC; }, "no kernel ring");
  refused([](auto& h) { h.version = 2; }, "version 2");
  refused([](auto& h) { h.record_size = 64; }, "needed are 128 and 128");
  refused([](auto& h) { h.capacity = 3; }, "power of two");
  refused([](auto& h) { h.capacity = 1U << 20; }, "power of two");
  refused([](auto& h) { h.capacity = 16; }, "bytes");
}

TEST_F(KernelReaderTest, MarksInTheSameFolderAreNotItsBusiness) {
  Ring ring(file("7-7.ring"));
  ring.kernel(-10, -5);
  ring.save();
  KernelReader reader(directory_);
  EXPECT_THAT(reader.poll(kNow).kernels, IsEmpty());
  EXPECT_THAT(reader.take_complaints(), IsEmpty());
}

}  // namespace
}  // namespace rubato::conduct
