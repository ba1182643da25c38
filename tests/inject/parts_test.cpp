// The parts of the injected library that can be asked one question at a time.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <thread>
#include <vector>

extern "C" {
#define _Static_assert static_assert
#include "inject/buffers.h"
#include "inject/decode.h"
#include "inject/ids.h"
#include "inject/layers.h"
#include "inject/ring.h"
#include "inject/settings.h"
}

extern "C" bool library_knows_version(std::uint32_t version);

namespace {

TEST(InjectSettings, SayHowLongAndHowOften) {
  settings s{};
  EXPECT_EQ(settings_parse("2s/60s", &s), SETTINGS_ON);
  EXPECT_EQ(s.on_ns, 2'000'000'000);
  EXPECT_EQ(s.period_ns, 60'000'000'000);
  EXPECT_FALSE(s.graph_nodes);
  EXPECT_EQ(settings_parse("50ms/1s,nodes", &s), SETTINGS_ON);
  EXPECT_EQ(s.on_ns, 50'000'000);
  EXPECT_TRUE(s.graph_nodes);
  EXPECT_EQ(settings_parse("1s/1s", &s), SETTINGS_ON);
}

TEST(InjectSettings, UnsetEmptyAndOffRecordNothing) {
  settings s{};
  for (const char* text : {static_cast<const char*>(nullptr), "", "off", "0"})
    EXPECT_EQ(settings_parse(text, &s), SETTINGS_OFF);
}

TEST(InjectSettings, AnythingElseIsSaidToBeWrong) {
  settings s{};
  for (const char* text : {"2s", "2/60", "60s/2s", "0s/1s", "-1s/2s", "2s/60s,", "2s/60s,node", "2s /60s",
                           "on", "99999999999999999999s/1s", "2s/60sx", "2m/60m"})
    EXPECT_EQ(settings_parse(text, &s), SETTINGS_BAD) << text;
}

TEST(InjectVersions, OnlyThoseWithRecordsThatWereComparedAreKnown) {
  for (const unsigned v : {17U, 18U, 22U, 28U, 130000U, 130001U, 130500U})
    EXPECT_TRUE(library_knows_version(v)) << v;
  for (const unsigned v : {0U, 12U, 16U, 29U, 129999U, 130600U, 140000U})
    EXPECT_FALSE(library_knows_version(v)) << v;
}

TEST(InjectIds, AreThoseOfTheLayoutsHash) {
  EXPECT_EQ(id_of_name(""), 0xcbf29ce484222325ULL);
  EXPECT_EQ(id_of_name("a"), 0xaf63dc4c8601ec8cULL);  // published test vectors of 64-bit FNV-1a
  EXPECT_EQ(id_of_name("foobar"), 0x85944171f73967e8ULL);
}

TEST(InjectIds, EachIsNewOnceWhoeverAsks) {
  std::vector<std::thread> threads;
  std::atomic<int> new_ones = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (std::uint64_t id = 5'000'001; id <= 5'000'500; ++id) {
        bool is_new = false;
        EXPECT_EQ(id_in_slot(id_slot(id, &is_new)), id);
        new_ones += is_new ? 1 : 0;
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(new_ones, 500);
  bool is_new = true;
  EXPECT_EQ(id_slot(0, &is_new), 0U);
  EXPECT_FALSE(is_new);
}

TEST(InjectClock, BetweenTwoMeasurementsTheirDifferenceIsAnErrorToo) {
  const clock_offset begin{1000, 10};
  const clock_offset end{1100, 30};
  const clock_offset middle = clock_between(&begin, &end);
  EXPECT_EQ(middle.monotonic_minus_cupti_ns, 1050);
  EXPECT_EQ(middle.error_ns, 80);
  const clock_offset back = clock_between(&end, &begin);
  EXPECT_EQ(back.monotonic_minus_cupti_ns, 1050);
  EXPECT_EQ(back.error_ns, 80);
}

TEST(InjectBuffers, AreGivenOutOnceAndComeBack) {
  std::vector<std::uint8_t*> given;
  std::uint8_t* buffer = nullptr;
  std::size_t size = 0;
  std::size_t most = 1;
  for (unsigned i = 0; i < RUBATO_BUFFERS; ++i) {
    buffers_requested(&buffer, &size, &most);
    ASSERT_NE(buffer, nullptr);
    EXPECT_EQ(size, RUBATO_BUFFER_BYTES);
    EXPECT_EQ(std::count(given.begin(), given.end(), buffer), 0);
    given.push_back(buffer);
  }
  buffers_requested(&buffer, &size, &most);
  EXPECT_EQ(buffer, nullptr) << "they are used up";
  EXPECT_EQ(buffers_given(), RUBATO_BUFFERS);
  for (std::uint8_t* b : given) buffers_completed(nullptr, 0, b, RUBATO_BUFFER_BYTES, 48);
  EXPECT_EQ(buffers_free(), 0U);
  for (unsigned i = 0; i < RUBATO_BUFFERS; ++i) {
    std::size_t valid = 0;
    EXPECT_NE(buffer_completed_at(i, &valid), nullptr);
    EXPECT_EQ(valid, 48U);
    buffer_release(i);
  }
  EXPECT_EQ(buffers_free(), RUBATO_BUFFERS);
}

TEST(InjectBuffers, WhatIsNotOursOrClaimsTooMuchIsIgnored) {
  std::uint8_t foreign[8];
  buffers_completed(nullptr, 0, foreign, sizeof foreign, sizeof foreign);
  buffers_completed(nullptr, 0, nullptr, 0, 0);
  EXPECT_EQ(buffers_free(), RUBATO_BUFFERS);
  std::uint8_t* buffer = nullptr;
  std::size_t size = 0;
  std::size_t most = 0;
  buffers_requested(&buffer, &size, &most);
  buffers_completed(nullptr, 0, buffer, size, size + 1);
  for (unsigned i = 0; i < RUBATO_BUFFERS; ++i) {
    std::size_t valid = 1;
    if (buffer_completed_at(i, &valid) == nullptr) continue;
    EXPECT_EQ(valid, 0U);
    buffer_release(i);
  }
}

TEST(InjectRing, WhereFilesMayNotGrowThereIsNoneAndTheJobLives) {
  const auto limited = [] {
    const rlimit small{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &small);
    ring ring{};
    const ring_layout layout{.magic = 1, .version = 1, .record_size = 64, .capacity = 1024};
    const std::string path = ::testing::TempDir() + "/rubato-limited.ring";
    ::_exit(!ring_create(&ring, path.c_str(), &layout) && errno == EFBIG ? 7 : 1);
  };
  EXPECT_EXIT(limited(), ::testing::ExitedWithCode(7), "");
}

TEST(InjectLayers, PopWithoutPushIsSaidAndDeepNestingIsKept) {
  EXPECT_EQ(layers_pop(), -1);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(layers_push(1), i);
  for (int i = 199; i >= 0; --i) EXPECT_EQ(layers_pop(), i);
  EXPECT_EQ(layers_pop(), -1);
}

TEST(InjectLayers, AnIdOfAnEarlierCycleIsNoLayer) {
  bool is_new = false;
  const std::uint32_t slot = id_slot(77, &is_new);
  const std::uint64_t in_third = std::uint64_t{3} << 32 | slot;
  EXPECT_EQ(layers_decode(in_third, 3), 77U);
  EXPECT_EQ(layers_decode(in_third, 4), 0U);
}

}  // namespace
