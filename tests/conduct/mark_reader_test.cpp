#include "conduct/mark_reader.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <rubato/mark_layout.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <limits>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "base/text.h"

namespace rubato::conduct {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr TimePoint kNow{10'000'000'000'000};

// A producer as an injected library would be: it maps the file and follows the protocol of mark_layout.h.
class Ring {
 public:
  Ring(const std::filesystem::path& file, std::uint32_t capacity, std::int32_t pid = 7, std::int32_t tid = 8,
       std::int32_t rank = -1)
      : file_(file), bytes_(sizeof(rubato_mark_header) + capacity * sizeof(rubato_mark_record)) {
    fd_.reset(::open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    EXPECT_EQ(::ftruncate(fd_.get(), static_cast<off_t>(bytes_)), 0);
    map_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
    header().version = RUBATO_MARK_VERSION;
    header().header_size = sizeof(rubato_mark_header);
    header().record_size = sizeof(rubato_mark_record);
    header().capacity = capacity;
    header().pid = pid;
    header().tid = tid;
    header().rank = rank;
    header().magic = RUBATO_MARK_MAGIC;
  }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring() { ::munmap(map_, bytes_); }

  rubato_mark_header& header() { return *static_cast<rubato_mark_header*>(map_); }
  rubato_mark_record& slot(std::uint64_t n) {
    auto* records =
        reinterpret_cast<rubato_mark_record*>(static_cast<char*>(map_) + sizeof(rubato_mark_header));
    return records[n & (header().capacity - 1)];
  }
  void write(std::int64_t ns, std::uint64_t id, std::uint32_t kind = RUBATO_MARK_ITERATION_BEGIN) {
    rubato_mark_record& r = slot(written_);
    std::atomic_ref(r.sequence).exchange(0, std::memory_order_acq_rel);  // GCC's TSan knows no fences
    r.monotonic_ns = ns;
    r.kind = kind;
    r.id = id;
    std::atomic_ref(r.sequence).store(written_ + 1, std::memory_order_release);
    ++written_;
    std::atomic_ref(header().written).store(written_, std::memory_order_release);
  }
  void close_file() { fd_.reset(); }
  void cut(std::uint64_t bytes) { EXPECT_EQ(::ftruncate(fd_.get(), static_cast<off_t>(bytes)), 0); }

 private:
  std::filesystem::path file_;
  std::size_t bytes_;
  ScopedFd fd_;
  void* map_ = nullptr;
  std::uint64_t written_ = 0;
};

class MarkReaderTest : public testing::Test {
 protected:
  MarkReaderTest()
      : directory_(std::filesystem::path(testing::TempDir()) /
                   cat("rubato-marks-", ::getpid(), "-",
                       testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
  }
  ~MarkReaderTest() override { std::filesystem::remove_all(directory_); }

  [[nodiscard]] std::filesystem::path file(std::string_view name) const { return directory_ / name; }
  void expect_refused(std::string_view because) {
    MarkReader reader(directory_);
    EXPECT_THAT(reader.poll(kNow), IsEmpty());
    EXPECT_EQ(reader.rings(), 0U);
    EXPECT_THAT(reader.take_complaints(), ElementsAre(HasSubstr(std::string(because))));
    EXPECT_THAT(reader.poll(kNow + 1_s), IsEmpty());
    EXPECT_THAT(reader.take_complaints(), IsEmpty());
  }

  std::filesystem::path directory_;
};

std::vector<std::uint64_t> ids(const std::vector<Mark>& marks) {
  std::vector<std::uint64_t> out;
  for (const Mark& m : marks) out.push_back(m.id);
  return out;
}

TEST_F(MarkReaderTest, ReadsEachMarkOnceWithItsProcessThreadAndRank) {
  Ring ring(file("7-8.ring"), 8, 7, 8, 3);
  MarkReader reader(directory_);
  ring.write(kNow.ns - 10, 40);
  ring.write(kNow.ns - 5, 40, RUBATO_MARK_ITERATION_END);
  const auto marks = reader.poll(kNow);
  ASSERT_EQ(marks.size(), 2U);
  EXPECT_EQ(marks[0].at.ns, kNow.ns - 10);
  EXPECT_EQ(marks[0].pid, 7);
  EXPECT_EQ(marks[0].tid, 8);
  EXPECT_EQ(marks[0].rank, 3);
  EXPECT_EQ(marks[1].kind, static_cast<std::uint32_t>(RUBATO_MARK_ITERATION_END));
  EXPECT_THAT(reader.poll(kNow), IsEmpty());
  EXPECT_EQ(reader.lost(), 0U);
}

TEST_F(MarkReaderTest, MarksOfSeveralRingsComeInTimeOrder) {
  Ring a(file("1-1.ring"), 8, 1, 1);
  Ring b(file("2-2.ring"), 8, 2, 2);
  a.write(kNow.ns - 40, 1);
  b.write(kNow.ns - 30, 2);
  a.write(kNow.ns - 20, 3);
  b.write(kNow.ns - 10, 4);
  EXPECT_THAT(ids(MarkReader(directory_).poll(kNow)), ElementsAre(1, 2, 3, 4));
}

TEST_F(MarkReaderTest, NewRingsAreFoundAtTheNextScanAndNotBefore) {
  MarkReader reader(directory_);
  EXPECT_THAT(reader.poll(kNow), IsEmpty());
  Ring ring(file("7-8.ring"), 8);
  ring.write(kNow.ns, 1);
  EXPECT_THAT(reader.poll(kNow + 0.1_s), IsEmpty());
  EXPECT_THAT(ids(reader.poll(kNow + 0.25_s)), ElementsAre(1));
}

TEST_F(MarkReaderTest, AtTheEndWhoLivedForLessThanAScanIsHeardToo) {
  MarkReader reader(directory_);
  EXPECT_THAT(reader.poll(kNow), IsEmpty());
  Ring ring(file("7-8.ring"), 8);
  ring.write(kNow.ns, 1);
  EXPECT_THAT(ids(reader.finish(kNow + 0.1_s)), ElementsAre(1));
}

TEST_F(MarkReaderTest, ADirectoryThatIsNotThereHasNoMarks) {
  EXPECT_THAT(MarkReader(directory_ / "nowhere").poll(kNow), IsEmpty());
}

TEST_F(MarkReaderTest, AnOverrunLosesTheOldestAndCountsThem) {
  Ring ring(file("7-8.ring"), 4);
  MarkReader reader(directory_);
  for (std::uint64_t i = 0; i < 10; ++i) ring.write(kNow.ns, i);
  // Four are in the ring; the oldest of them could be overwritten at any moment and is given up.
  EXPECT_THAT(ids(reader.poll(kNow)), ElementsAre(7, 8, 9));
  EXPECT_EQ(reader.lost(), 7U);
}

TEST_F(MarkReaderTest, AFullRingThatWrapsIsReadInOrder) {
  Ring ring(file("7-8.ring"), 4);
  MarkReader reader(directory_);
  std::vector<std::uint64_t> seen;
  for (std::uint64_t i = 0; i < 12; ++i) {
    ring.write(kNow.ns, i);
    if (i % 3 == 2) {
      for (const std::uint64_t id : ids(reader.poll(kNow))) seen.push_back(id);
    }
  }
  EXPECT_THAT(seen, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
}

TEST_F(MarkReaderTest, ARecordThatIsTornIsCountedAndNotBelieved) {
  Ring ring(file("7-8.ring"), 8);
  MarkReader reader(directory_);
  ring.write(kNow.ns, 1);
  ring.write(kNow.ns, 2);
  ring.write(kNow.ns, 3);
  ring.slot(1).sequence = 0;
  EXPECT_THAT(ids(reader.poll(kNow)), ElementsAre(1, 3));
  EXPECT_EQ(reader.lost(), 1U);
}

TEST_F(MarkReaderTest, ImpossibleTimesAreDroppedAndCounted) {
  Ring ring(file("7-8.ring"), 8);
  MarkReader reader(directory_, {.begin = kNow - 60_s});
  ring.write((kNow + 100_s).ns, 1);
  ring.write(0, 2);
  ring.write(std::numeric_limits<std::int64_t>::min(), 3);
  ring.write(std::numeric_limits<std::int64_t>::max(), 4);
  ring.write(kNow.ns, 5);
  EXPECT_THAT(ids(reader.poll(kNow)), ElementsAre(5));
  EXPECT_EQ(reader.implausible(), 4U);
}

TEST_F(MarkReaderTest, AnEpochOfHoursIsHeardWhenItIsOver) {
  Ring ring(file("7-8.ring"), 8);
  const TimePoint begin = kNow - 9000_s;
  MarkReader reader(directory_, {.begin = begin});
  ring.write((begin - 40_s).ns, 1);
  ring.write((begin + 2_s).ns, 2, RUBATO_MARK_EPOCH_BEGIN);
  ring.write(kNow.ns, 2, RUBATO_MARK_EPOCH_END);
  EXPECT_THAT(ids(reader.poll(kNow)), ElementsAre(2, 2));
  EXPECT_EQ(reader.implausible(), 1U);
}

TEST_F(MarkReaderTest, AFileThatIsNotReadyYetIsReadLater) {
  Ring ring(file("7-8.ring"), 8);
  ring.header().magic = 0;
  MarkReader reader(directory_);
  EXPECT_THAT(reader.poll(kNow), IsEmpty());
  EXPECT_THAT(reader.take_complaints(), IsEmpty());
  ring.header().magic = RUBATO_MARK_MAGIC;
  ring.write(kNow.ns, 1);
  EXPECT_THAT(ids(reader.poll(kNow + 1_s)), ElementsAre(1));
}

TEST_F(MarkReaderTest, HostileHeadersAreRefusedOnceWithTheReason) {
  const auto hostile = [&](auto change, std::string_view because) {
    std::filesystem::remove(file("7-8.ring"));
    Ring ring(file("7-8.ring"), 8);
    change(ring.header());
    SCOPED_TRACE(because);
    expect_refused(because);
  };
  hostile([](auto& h) { h.magic = 42; }, "no mark ring");
  hostile([](auto& h) { h.version = 9; }, "version 9");
  hostile([](auto& h) { h.header_size = 64; }, "64 and 64");
  hostile([](auto& h) { h.record_size = 0; }, "128 and 0");
  hostile([](auto& h) { h.capacity = 0; }, "capacity is 0");
  hostile([](auto& h) { h.capacity = 6; }, "capacity is 6");
  hostile([](auto& h) { h.capacity = 1U << 31; }, "capacity is 2147483648");
  hostile([](auto& h) { h.capacity = 16; }, "640 bytes");
}

TEST_F(MarkReaderTest, AHostileCountIsBoundedWork) {
  Ring ring(file("7-8.ring"), 8);
  ring.header().written = std::numeric_limits<std::uint64_t>::max();
  MarkReader reader(directory_);
  EXPECT_THAT(reader.poll(kNow), IsEmpty());
  ring.header().written = 3;
  EXPECT_THAT(reader.poll(kNow), IsEmpty());
  EXPECT_EQ(reader.rings(), 1U);
}

TEST_F(MarkReaderTest, AFileCutShortUnderTheReaderIsGivenUpWithoutHarm) {
  Ring ring(file("7-8.ring"), 8);
  MarkReader reader(directory_);
  ring.write(kNow.ns, 1);
  EXPECT_EQ(reader.poll(kNow).size(), 1U);
  ring.write(kNow.ns, 2);
  ring.cut(sizeof(rubato_mark_header) + 10);
  EXPECT_THAT(reader.poll(kNow), IsEmpty());
  EXPECT_EQ(reader.rings(), 0U);
  EXPECT_THAT(reader.take_complaints(), ElementsAre(HasSubstr("cut short")));
  EXPECT_THAT(reader.poll(kNow + 1_s), IsEmpty());
}

TEST_F(MarkReaderTest, WhatIsNoRegularFileIsNotOpened) {
  ASSERT_EQ(::mkfifo(file("1-1.ring").c_str(), 0600), 0);
  std::filesystem::create_symlink("/etc/passwd", file("2-2.ring"));
  std::ofstream(file("notes.txt")) << "not a ring";
  MarkReader reader(directory_);
  EXPECT_THAT(reader.poll(kNow), IsEmpty());
  EXPECT_THAT(reader.take_complaints(), ElementsAre(HasSubstr("1-1.ring")));
}

TEST_F(MarkReaderTest, ARemovedFileIsReadToItsEndAndAnotherOfItsNameIsNew) {
  MarkReader reader(directory_);
  {
    Ring ring(file("7-8.ring"), 8);
    ring.write(kNow.ns, 1);
    EXPECT_EQ(reader.poll(kNow).size(), 1U);
    ring.write(kNow.ns, 2);
    std::filesystem::remove(file("7-8.ring"));
    EXPECT_THAT(ids(reader.poll(kNow + 1_s)), ElementsAre(2));
  }
  EXPECT_THAT(reader.poll(kNow + 2_s), IsEmpty());
  Ring again(file("7-8.ring"), 8);
  again.write(kNow.ns, 3);
  EXPECT_THAT(ids(reader.poll(kNow + 3_s)), ElementsAre(3));
}

TEST_F(MarkReaderTest, ARingThatNobodyWritesToAnyMoreIsReadToItsEndAndRemoved) {
  MarkReader reader(directory_);
  {
    Ring ring(file("7-8.ring"), 8);
    ring.write(kNow.ns, 1);
    ring.close_file();
    EXPECT_THAT(ids(reader.poll(kNow)), ElementsAre(1));
    EXPECT_THAT(ids(reader.poll(kNow + 1_s)), IsEmpty());
    EXPECT_TRUE(std::filesystem::exists(file("7-8.ring"))) << "it is mapped";
    ring.write(kNow.ns, 2);
  }
  EXPECT_THAT(ids(reader.poll(kNow + 2_s)), ElementsAre(2));
  EXPECT_EQ(reader.rings(), 0U);
  EXPECT_THAT(std::filesystem::is_empty(directory_), true);
}

TEST_F(MarkReaderTest, ProcessesThatComeAndGoAreAllHeard) {
  MarkReader reader(directory_, {.most_rings = 4});
  Ring lasting(file("1-1.ring"), 8, 1, 1);
  std::vector<std::uint64_t> heard;
  std::vector<std::uint64_t> written;
  TimePoint now = kNow;
  for (std::uint64_t id = 1; id <= 60; ++id) {
    Ring(file(cat(id + 1, "-1.ring")), 8, static_cast<std::int32_t>(id + 1)).write(now.ns, id);
    written.push_back(id);
    now = now + 0.25_s;
    for (const std::uint64_t one : ids(reader.poll(now))) heard.push_back(one);
  }
  lasting.write(now.ns, 100);
  written.push_back(100);
  for (const std::uint64_t one : ids(reader.poll(now + 1_s))) heard.push_back(one);
  EXPECT_EQ(heard, written);
  EXPECT_EQ(reader.rings(), 1U);
  EXPECT_THAT(reader.take_complaints(), IsEmpty());
}

TEST_F(MarkReaderTest, ARingTooManyIsToldOfOnceAndReadWhenAnotherHasGone) {
  MarkReader reader(directory_, {.most_rings = 1});
  auto first = std::make_unique<Ring>(file("1-1.ring"), 8, 1);
  EXPECT_THAT(reader.poll(kNow), IsEmpty());
  Ring second(file("2-1.ring"), 8, 2);
  second.write(kNow.ns, 2);
  for (int second_of = 1; second_of <= 3; ++second_of)
    EXPECT_THAT(reader.poll(kNow + 1_s * static_cast<double>(second_of)), IsEmpty());
  EXPECT_THAT(reader.take_complaints(), ElementsAre(HasSubstr("there are 1 rings already")));
  first.reset();
  EXPECT_THAT(reader.poll(kNow + 4_s), IsEmpty());
  EXPECT_THAT(ids(reader.poll(kNow + 5_s)), ElementsAre(2));
  EXPECT_THAT(reader.take_complaints(), IsEmpty());
}

TEST_F(MarkReaderTest, AProducerInAnotherThreadIsReadWithoutATornMark) {
  constexpr std::uint64_t kMarks = 200'000;
  Ring ring(file("7-8.ring"), 256);
  MarkReader reader(directory_);
  EXPECT_THAT(reader.poll(kNow), IsEmpty());
  std::atomic<bool> done = false;
  std::thread producer([&] {
    // Time and id belong together, so that a mix of two records shows.
    for (std::uint64_t i = 0; i < kMarks; ++i) ring.write(kNow.ns + static_cast<std::int64_t>(i), i);
    done = true;
  });
  std::uint64_t read = 0;
  std::uint64_t expected_least = 0;
  const auto check = [&] {
    for (const Mark& m : reader.poll(kNow)) {
      ASSERT_EQ(m.at.ns, kNow.ns + static_cast<std::int64_t>(m.id));
      ASSERT_GE(m.id, expected_least);
      expected_least = m.id + 1;
      ++read;
    }
  };
  while (!done) check();
  producer.join();
  check();
  EXPECT_GT(read, 0U);
  EXPECT_EQ(read + reader.lost(), kMarks);
}

}  // namespace
}  // namespace rubato::conduct
