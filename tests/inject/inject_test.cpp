// The whole injected library in a program, with a CUPTI that needs no GPU (fake_cupti.h), read back as a run
// reads it.
#include <gmock/gmock.h>
#include <rubato/mark_layout.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>

#include "base/clock.h"
#include "base/text.h"
#include "conduct/kernel_reader.h"
#include "conduct/mark_reader.h"

namespace rubato::conduct {
namespace {

using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = RUBATO_MARK_HASH_OFFSET;
  for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * RUBATO_MARK_HASH_PRIME;
  return hash;
}

struct Outcome {
  int status = -1;
  std::string output;
  TimePoint begin;
  TimePoint end;
  KernelNews news;
  std::map<std::uint64_t, std::string> names;
  std::vector<std::string> problems;
  std::vector<std::string> hooks;
  std::uint64_t lost = 0;

  [[nodiscard]] long count(const std::string& what) const {
    const std::size_t at = output.find(what + "=");
    return at == std::string::npos ? -1 : std::atol(output.c_str() + at + what.size() + 1);
  }
};

TimePoint monotonic_now() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return TimePoint{t.tv_sec * 1'000'000'000 + t.tv_nsec};
}

class Inject : public testing::Test {
 protected:
  std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) /
      cat("inject-", ::getpid(), "-", testing::UnitTest::GetInstance()->current_test_info()->name());

  void SetUp() override { std::filesystem::create_directories(folder); }
  ~Inject() override { std::filesystem::remove_all(folder); }

  [[nodiscard]] Outcome run(const std::string& arguments, const std::string& environment = {},
                            const std::string& kernels = "30ms/60ms") const {
    Outcome out;
    const std::string command = cat("RUBATO_MARKS='", folder.string(), "' RUBATO_KERNELS='", kernels,
                                    "' CUDA_INJECTION64_PATH='" INJECT_LIBRARY "' ", environment,
                                    " exec '" INJECT_PROGRAM "' ", arguments, " 2>&1");
    out.begin = monotonic_now();
    std::FILE* pipe = ::popen(command.c_str(), "r");
    std::array<char, 4096> line{};
    while (std::fgets(line.data(), line.size(), pipe) != nullptr) out.output += line.data();
    out.status = ::pclose(pipe);
    out.end = monotonic_now();
    KernelReader kernels_of(folder);
    out.news = kernels_of.finish(out.end);
    out.lost = kernels_of.lost();
    EXPECT_THAT(kernels_of.take_complaints(), IsEmpty());
    read_marks(out);
    return out;
  }

 private:
  void read_marks(Outcome& out) const {
    MarkReader reader(folder);
    std::vector<std::pair<std::uint32_t, std::uint64_t>> said;
    for (const Mark& m : reader.poll(out.end)) {
      if (m.kind == RUBATO_MARK_NAME) {
        std::string& name = out.names[m.id];
        EXPECT_EQ(name.size(), (m.flags >> 16) * 32) << "parts come in order";
        const auto* text = reinterpret_cast<const char*>(m.detail.data());
        name.append(text, ::strnlen(text, 32));
      } else {
        said.emplace_back(m.kind, m.id);
      }
    }
    for (const auto& [kind, id] : said)
      (kind == RUBATO_MARK_PROBLEM ? out.problems : out.hooks).push_back(out.names[id]);
    EXPECT_EQ(reader.lost(), 0U);
  }
};

void expect_unharmed(const Outcome& out) {
  EXPECT_EQ(out.status, 0) << out.output;
  EXPECT_THAT(out.output, HasSubstr("launched="));
}

TEST_F(Inject, KernelsComeBackWithNamesGridsTimesAndDevice) {
  const Outcome out = run("plain 2");
  expect_unharmed(out);
  EXPECT_THAT(out.problems, IsEmpty());
  EXPECT_THAT(out.hooks, Contains("cupti 130500 (libcupti.so)"));
  EXPECT_EQ(out.count("enabled"), 0);
  EXPECT_EQ(static_cast<long>(out.news.kernels.size()), out.count("recorded"));
  ASSERT_GE(out.news.kernels.size(), 6U);
  for (const KernelRecord& k : out.news.kernels) {
    const std::string& name = out.names.at(k.name_hash);
    const std::uint32_t grid = name == "gemm_a" ? 1 : name == "norm_b" ? 2 : 3;
    EXPECT_EQ(k.name_hash, hash_of(name));
    EXPECT_THAT(k.grid, Each(grid));
    EXPECT_THAT(k.block, Each(32 * grid));
    EXPECT_EQ(k.stream, 7U);
    EXPECT_EQ(k.layer, 0U);
    EXPECT_THAT(k.device_uuid, Each(100));
    EXPECT_EQ(k.end.ns - k.begin.ns, 1000);
    // The fake clock is 31 years away from ours, and is brought back.
    EXPECT_GE(k.begin, out.begin);
    EXPECT_LE(k.begin, out.end);
  }
}

TEST_F(Inject, CyclesSayWhereKernelsWereRecorded) {
  const Outcome out = run("plain 3");
  expect_unharmed(out);
  ASSERT_GE(out.news.cycles.size(), 3U);
  for (std::size_t i = 0; i < out.news.cycles.size(); ++i) {
    const record::KernelCycle& c = out.news.cycles[i];
    EXPECT_LT(c.begin, c.end);
    EXPECT_EQ(c.lost, 0U);
    if (i > 0) {
      EXPECT_GE((c.begin - out.news.cycles[i - 1].begin).value(), 0.059);
    }
  }
  for (const KernelRecord& k : out.news.kernels)
    EXPECT_EQ(std::count_if(out.news.cycles.begin(), out.news.cycles.end(),
                            [&](const auto& c) { return c.begin <= k.begin && k.begin <= c.end; }),
              1);
  EXPECT_LT(static_cast<long>(out.news.kernels.size()), out.count("launched"))
      << "between cycles nothing is recorded";
}

TEST_F(Inject, RecordsOfElevenTwelveAndThirteenAreRead) {
  for (const char* version : {"17", "18", "22", "28", "130001", "130500"}) {
    const Outcome out = run("graphs 1", cat("FAKE_CUPTI_VERSION=", version));
    expect_unharmed(out);
    EXPECT_THAT(out.problems, IsEmpty()) << version;
    EXPECT_GE(out.news.kernels.size(), 4U) << version;
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
  }
}

TEST_F(Inject, AnotherVersionIsLeftAlone) {
  for (const char* version : {"12", "29", "140000"}) {
    const Outcome out = run("plain", cat("FAKE_CUPTI_VERSION=", version));
    expect_unharmed(out);
    EXPECT_THAT(out.problems, Contains(HasSubstr(cat("has API version ", version))));
    EXPECT_EQ(out.count("subscribed"), 0);
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
  }
}

TEST_F(Inject, WhereAnotherProfilerHasCuptiItStepsBackForGood) {
  const Outcome out = run("plain", "FAKE_CUPTI_SUBSCRIBE=39");
  expect_unharmed(out);
  EXPECT_THAT(out.problems, Contains(HasSubstr("another profiler uses CUPTI")));
  EXPECT_EQ(out.count("subscribed"), 1) << "it does not try again";
  EXPECT_EQ(out.count("unsubscribed"), 0) << "what belongs to the other is not taken away";
  EXPECT_THAT(out.news.kernels, IsEmpty());
}

TEST_F(Inject, ARefusalUndoesWhatWasSwitchedOn) {
  const Outcome out = run("plain", "FAKE_CUPTI_ENABLE=35");
  expect_unharmed(out);
  EXPECT_THAT(out.problems, Contains(HasSubstr("only administrators")));
  EXPECT_EQ(out.count("subscribed"), 1);
  EXPECT_EQ(out.count("unsubscribed"), 1);
  EXPECT_EQ(out.count("enabled"), 0);
}

TEST_F(Inject, AGraphIsOneRecordEachTimeItIsLaunched) {
  const Outcome out = run("graphs 1");
  expect_unharmed(out);
  std::vector<KernelRecord> graphs;
  std::copy_if(out.news.kernels.begin(), out.news.kernels.end(), std::back_inserter(graphs),
               [](const KernelRecord& k) { return k.graph != 0; });
  ASSERT_FALSE(graphs.empty());
  for (const KernelRecord& g : graphs) {
    EXPECT_EQ(g.graph, 42U);
    EXPECT_EQ(g.name_hash, 0U);
  }
}

TEST_F(Inject, KernelsSayInWhichLayerTheyWereLaunched) {
  const Outcome out = run("layers 3");
  expect_unharmed(out);
  const std::map<std::string, std::uint64_t> layer_of{{"gemm_a", 100}, {"norm_b", 101}};
  std::size_t known = 0;
  for (const KernelRecord& k : out.news.kernels) {
    const auto expected = layer_of.find(out.names.at(k.name_hash));
    const std::uint64_t layer = expected != layer_of.end() ? expected->second : 102;
    // The very first push of a cycle may come before CUPTI listens.
    EXPECT_TRUE(k.layer == layer || k.layer == 0) << k.layer;
    known += k.layer == layer ? 1 : 0;
  }
  EXPECT_GE(known + 3 * out.news.cycles.size(), out.news.kernels.size());
  EXPECT_GT(known, 0U);
}

TEST_F(Inject, NvtxRangesAreLayersAndTheInnermostCounts) {
  const Outcome out = run("nvtx 3");
  expect_unharmed(out);
  std::set<std::string> forward;
  std::set<std::string> backward;
  for (const KernelRecord& k : out.news.kernels) {
    if (k.layer == hash_of("forward")) forward.insert(out.names.at(k.name_hash));
    if (k.layer == hash_of("backward")) backward.insert(out.names.at(k.name_hash));
  }
  EXPECT_THAT(forward, testing::ElementsAre("gemm_a"));
  EXPECT_THAT(backward, SizeIs(2));
  EXPECT_EQ(out.names.at(hash_of("forward")), "forward");
}

TEST_F(Inject, WhatCuptiDroppedStandsInTheCycle) {
  const Outcome out = run("plain 1", "FAKE_CUPTI_DROPPED=5");
  expect_unharmed(out);
  ASSERT_FALSE(out.news.cycles.empty());
  EXPECT_EQ(out.news.cycles.front().lost, 5U);
}

TEST_F(Inject, AKernelThatStillRunsAtTheEndOfACycleCountsAsLost) {
  const Outcome out = run("plain 1", "FAKE_CUPTI_UNFINISHED=1");
  expect_unharmed(out);
  std::uint64_t lost = 0;
  for (const record::KernelCycle& c : out.news.cycles) lost += c.lost;
  EXPECT_GE(lost, 1U);
  EXPECT_LE(lost, out.news.cycles.size()) << "one in each at most";
  EXPECT_EQ(static_cast<long>(out.news.kernels.size() + lost), out.count("recorded"));
}

TEST_F(Inject, ManyKernelsEndTheCycleEarlyInsteadOfLosingRecords) {
  // Twelve buffers hold some 6,000 of this size.
  const Outcome out = run("flood 1", "FAKE_CUPTI_KERNEL_BYTES=2048", "2s/60s");
  expect_unharmed(out);
  ASSERT_FALSE(out.news.cycles.empty());
  const record::KernelCycle& cycle = out.news.cycles.front();
  EXPECT_LT((cycle.end - cycle.begin).value(), 2.0);
  // None, unless the library's thread did not get a processor for long.
  EXPECT_EQ(static_cast<long>(cycle.lost), out.count("dropped"));
  EXPECT_EQ(static_cast<long>(out.news.kernels.size()), out.count("recorded"));
  EXPECT_GT(out.count("recorded"), 6000);
  EXPECT_EQ(out.lost, 0U);
}

TEST_F(Inject, AProgramThatEndsInACycleLosesNothing) {
  const Outcome begun = run("at-exit", {}, "500ms/60s");
  expect_unharmed(begun);
  EXPECT_GE(begun.news.kernels.size(), 10U);
  ASSERT_THAT(begun.news.cycles, SizeIs(1));
  EXPECT_EQ(begun.count("recorded"), static_cast<long>(begun.news.kernels.size()));
}

TEST_F(Inject, AFlushThatHangsHoldsTheProgramsEndUpForASecondAtMost) {
  const Outcome out = run("at-exit", "FAKE_CUPTI_HANG=1", "200ms/60s");
  expect_unharmed(out);
  EXPECT_LT((out.end - out.begin).value(), 10.0);
  ASSERT_THAT(out.news.cycles, SizeIs(1)) << "begun, and ended for the reader by the program's end";
}

TEST_F(Inject, AForkedChildWritesNothingAndEndsAtOnce) {
  const Outcome out = run("fork 1");
  expect_unharmed(out);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 2)
      << "one ring of marks, one of kernels";
}

TEST_F(Inject, OffAndWithoutAFolderItDoesNothing) {
  const Outcome off = run("plain", {}, "off");
  expect_unharmed(off);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  EXPECT_EQ(off.count("subscribed"), 0);
  const Outcome nowhere = run("plain", "RUBATO_MARKS=");
  expect_unharmed(nowhere);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST_F(Inject, AValueThatMeansNothingIsNamed) {
  const Outcome out = run("plain", {}, "often");
  expect_unharmed(out);
  EXPECT_THAT(out.problems, Contains(HasSubstr("RUBATO_KERNELS is 'often'")));
}

TEST_F(Inject, AFolderThatCannotBeWrittenHarmsNothing) {
  const Outcome out = run("plain", "RUBATO_MARKS=/proc/1/no-such-folder");
  expect_unharmed(out);
  EXPECT_EQ(out.count("subscribed"), 0);
}

}  // namespace
}  // namespace rubato::conduct
