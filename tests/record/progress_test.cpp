// Marks, names and kernels in a run record.
#include <gmock/gmock.h>
#include <rubato/mark_layout.h>

#include <cstring>

#include "record/name_book.h"
#include "record/reader.h"
#include "sample_run.h"

namespace rubato::record {
namespace {

using namespace testing_data;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

Mark name_part(std::uint64_t id, std::uint32_t part, const std::string& text) {
  Mark mark{.at = kBegin, .kind = RUBATO_MARK_NAME, .flags = part << 16U, .id = id};
  std::memcpy(mark.detail.data(), text.data(), std::min<std::size_t>(text.size(), 32));
  return mark;
}

KernelRecord kernel(int number) {
  KernelRecord k;
  k.begin = kBegin + Seconds(1e-4 * number);
  k.end = k.begin + Seconds(5e-5 + 1e-9 * (number * 7919 % 1000));
  k.name_hash = 0x9e3779b97f4a7c15ULL * static_cast<std::uint64_t>(number % 40 + 1);
  k.grid = {108, 2, 1};
  k.block = {256, 1, 1};
  k.stream = 7;
  k.graph = 3;
  k.layer = ~std::uint64_t{0};
  k.pid = 4711;
  k.device_uuid[0] = 0xab;
  k.device_uuid[15] = 0xcd;
  k.lost_before = number == 5 ? 9 : 0;
  return k;
}

class Progress : public testing::Test {
 protected:
  RunRecord written(const std::function<void(Writer&)>& write) {
    auto writer = Writer::create(folder_.path(), run_info());
    EXPECT_TRUE(writer) << writer.error().what;
    write(**writer);
    const auto file = (*writer)->finish(run_end());
    EXPECT_TRUE(file) << file.error().what;
    file_size_ = std::filesystem::file_size(*file);
    auto read = read_run(*file);
    EXPECT_TRUE(read) << read.error().what;
    return std::move(*read);
  }
  Folder folder_;
  std::uintmax_t file_size_ = 0;
};

TEST_F(Progress, MarksComeBackInOrderOfTimeWithTheirDetail) {
  const auto run = written([](Writer& w) {
    w.mark({.at = kBegin + 2_s, .kind = RUBATO_MARK_EPOCH_END, .id = 1});
    w.mark({.at = kBegin + 1_s,
            .kind = RUBATO_MARK_ITERATION_BEGIN,
            .flags = 5,
            .id = ~std::uint64_t{0},
            .detail = {8, 100, 0, ~std::uint64_t{0}},
            .pid = 1,
            .tid = 2,
            .rank = 3});
  });
  ASSERT_THAT(run.marks, SizeIs(2));
  const Mark& first = run.marks[0];
  EXPECT_EQ(first.at, kBegin + 1_s);
  EXPECT_EQ(first.flags, 5U);
  EXPECT_EQ(first.id, ~std::uint64_t{0});
  EXPECT_THAT(first.detail, ElementsAre(8, 100, 0, ~std::uint64_t{0}));
  EXPECT_EQ(first.rank, 3);
  EXPECT_EQ(run.marks[1].kind, std::uint32_t{RUBATO_MARK_EPOCH_END});
}

TEST_F(Progress, ANameIsKeptOnceHoweverOftenItIsTold) {
  const std::string first(32, 'a');
  const auto run = written([&](Writer& w) {
    for (int process = 0; process < 3; ++process) {
      w.mark(name_part(7, 0, first));
      w.mark(name_part(7, 1, "bc"));
    }
    w.mark(name_part(~std::uint64_t{0}, 0, "epoch"));
    ASSERT_TRUE(w.step(kBegin + 1_s));
    w.mark(name_part(7, 0, "another"));
  });
  EXPECT_THAT(run.names, ElementsAre(Pair(7, first + "bc"), Pair(~std::uint64_t{0}, "epoch")));
  EXPECT_THAT(run.marks, IsEmpty()) << "a name is no event";
}

TEST(NameBook, WaitsForAPartThatIsMissing) {
  NameBook book;
  book.add(name_part(1, 0, std::string(32, 'a')));
  book.add(name_part(1, 2, "c"));
  EXPECT_THAT(book.take_changed(), ElementsAre(Pair(1, std::string(32, 'a'))));
  book.add(name_part(1, 1, "b"));
  EXPECT_THAT(book.take_changed(), ElementsAre(Pair(1, std::string(32, 'a') + "b")));
  EXPECT_THAT(book.take_changed(), IsEmpty());
}

TEST(NameBook, MakesTextOfWhatIsNone) {
  NameBook book;
  book.add(name_part(1, 0, "ok \xc3\xbc\n\x1b[31m \xff\xc3"));
  EXPECT_THAT(book.take_changed(), ElementsAre(Pair(1, "ok \xc3\xbc??[31m ??")));
}

TEST(NameBook, DoesNotGrowWithoutEnd) {
  NameBook book;
  for (std::uint64_t id = 0; id < 1'000'000; ++id) book.add(name_part(id, 0, "x"));
  EXPECT_LT(book.take_changed().size(), 300'000U);
  for (std::uint32_t part = 0; part < 1000; ++part) book.add(name_part(1, part, std::string(32, 'y')));
  EXPECT_THAT(book.take_changed(), IsEmpty());
}

TEST_F(Progress, AFloodOfMarksIsCutAndSaid) {
  const auto run = written([](Writer& w) {
    for (int i = 0; i < 70'000; ++i)
      w.mark({.at = kBegin + Seconds(1e-3 * i), .kind = RUBATO_MARK_LAYER_BEGIN, .id = 1});
    w.mark({.at = kBegin + 70_s, .kind = RUBATO_MARK_EPOCH_END, .id = 1});
  });
  EXPECT_THAT(run.marks, SizeIs(60'001)) << "an epoch is not lost among layers";
  ASSERT_THAT(run.gaps, SizeIs(1));
  EXPECT_THAT(run.gaps[0].why, HasSubstr("10000 marks were left out"));
}

TEST_F(Progress, AThousandMarksASecondAreAllKept) {
  const auto run = written([](Writer& w) {
    for (int i = 0; i < 100'000; ++i) {
      const TimePoint at = kBegin + Seconds(1e-3 * i);
      w.mark({.at = at, .kind = RUBATO_MARK_ITERATION_BEGIN, .id = 1});
      if (i % 100 == 0) {
        EXPECT_TRUE(w.step(at));
      }
    }
  });
  EXPECT_THAT(run.marks, SizeIs(100'000));
  EXPECT_THAT(run.gaps, IsEmpty());
}

TEST_F(Progress, KernelsComeBackAsTheyWere) {
  const auto run = written([](Writer& w) {
    for (int i = 9; i >= 0; --i) w.kernel(kernel(i));
    w.kernel_cycle({kBegin, kBegin + 2_s, 4711, 12});
  });
  ASSERT_THAT(run.kernels, SizeIs(10));
  for (int i = 0; i < 10; ++i) {
    const KernelRecord& k = run.kernels[static_cast<std::size_t>(i)];
    const KernelRecord wanted = kernel(i);
    EXPECT_EQ(k.begin, wanted.begin);
    EXPECT_EQ(k.end, wanted.end);
    EXPECT_EQ(k.name_hash, wanted.name_hash);
    EXPECT_EQ(k.grid, wanted.grid);
    EXPECT_EQ(k.block, wanted.block);
    EXPECT_EQ(k.stream, wanted.stream);
    EXPECT_EQ(k.graph, wanted.graph);
    EXPECT_EQ(k.layer, wanted.layer);
    EXPECT_EQ(k.pid, wanted.pid);
    EXPECT_EQ(k.device_uuid, wanted.device_uuid);
    EXPECT_EQ(k.lost_before, wanted.lost_before);
  }
  ASSERT_THAT(run.kernel_cycles, SizeIs(1));
  EXPECT_EQ(run.kernel_cycles[0].lost, 12U);
  EXPECT_EQ(run.kernel_cycles[0].pid, 4711);
}

TEST_F(Progress, AMinuteOfKernelsIsSmall) {
  constexpr int kKernels = 100'000;
  const auto run = written([](Writer& w) {
    for (int i = 0; i < kKernels; ++i) {
      w.kernel(kernel(i));
      if (i % 1000 == 0) {
        EXPECT_TRUE(w.step(kernel(i).begin));
      }
    }
  });
  EXPECT_THAT(run.kernels, SizeIs(kKernels));
  EXPECT_LT(file_size_ / kKernels, 12U) << "bytes a kernel";
}

}  // namespace
}  // namespace rubato::record
