#include <gmock/gmock.h>
#include <rapidcheck.h>

#include "base/duration_histogram.h"
#include "base/text.h"
#include "wire/escape.h"
#include "wire/message.h"

namespace rubato::wire {
namespace {

using ::testing::HasSubstr;

/// Any bytes at all, short enough that nothing is cut.
rc::Gen<std::string> any_text() {
  return rc::gen::resize(40, rc::gen::arbitrary<std::string>());
}
rc::Gen<GpuId> any_gpu() {
  return rc::gen::map(rc::gen::resize(20, rc::gen::nonEmpty(rc::gen::arbitrary<std::string>())),
                      [](const std::string& name) { return GpuId{name.substr(0, 96)}; });
}
double any_value() {
  return *rc::gen::inRange(-1'000'000, 1'000'000) / 1000.0;
}
ClockRange any_range() {
  return {Megahertz(any_value()), Megahertz(any_value())};
}
template <class T, class Make>
std::optional<T> maybe(Make make) {
  return *rc::gen::arbitrary<bool>() ? std::optional<T>(make()) : std::nullopt;
}
std::optional<ApplicationClocks> maybe_application_clocks() {
  return maybe<ApplicationClocks>([] {
    return ApplicationClocks{Megahertz(any_value()), Megahertz(any_value())};
  });
}
std::optional<Watts> maybe_watts() {
  return maybe<Watts>([] { return Watts(any_value()); });
}

Body any_body() {
  switch (*rc::gen::inRange(0, 15)) {
    case 0:
      return Hello{*any_text(), *any_text()};
    case 1: {
      const auto knobs = *rc::gen::resize(
          5, rc::gen::container<std::vector<Knob>>(rc::gen::element(
                 Knob::power_limit, Knob::sm_clock, Knob::memory_clock, Knob::application_clocks)));
      return Acquire{*rc::gen::resize(8, rc::gen::container<std::vector<GpuId>>(any_gpu())), knobs,
                     maybe<ClockRange>(any_range), maybe<double>(any_value)};
    }
    case 2:
      return Apply{*any_gpu(), Setting{maybe_watts(), maybe<ClockRange>(any_range),
                                       maybe<ClockRange>(any_range), maybe_application_clocks()}};
    case 3:
      return Restore{*any_gpu()};
    case 4:
      return Heartbeat{};
    case 5:
      return Release{};
    case 6:
      return Welcome{*rc::gen::arbitrary<std::int32_t>(), *any_text(), *any_text()};
    case 7: {
      Granted granted;
      for (int i = *rc::gen::inRange(0, 5); i > 0; --i) {
        granted.found.push_back({*any_gpu(),
                                 {Watts(any_value()), Watts(any_value()), Watts(any_value()),
                                  Watts(any_value()), Watts(any_value())},
                                 *any_text(),
                                 maybe_application_clocks()});
      }
      return granted;
    }
    case 8:
      return Applied{*any_gpu(), maybe_watts(), maybe_watts(), maybe_application_clocks(),
                     maybe<TimePoint>([] { return TimePoint{*rc::gen::arbitrary<std::int64_t>()}; })};
    case 9: {
      Restored restored;
      for (int i = *rc::gen::inRange(0, 5); i > 0; --i) {
        restored.reports.push_back({*any_gpu(),
                                    *rc::gen::element(Restoration::not_needed, Restoration::restored,
                                                      Restoration::failed, Restoration::left_alone),
                                    *any_text()});
      }
      return restored;
    }
    case 10:
      return StatusRequest{};
    case 11: {
      StatusReply reply{*any_text(), {}, *any_text()};
      for (int i = *rc::gen::inRange(0, 5); i > 0; --i)
        reply.gpus.push_back(
            {*any_gpu(), *any_text(), *any_text(), *rc::gen::arbitrary<bool>(), *any_text()});
      return reply;
    }
    case 12:
      return TimesRequest{*any_text()};
    case 13: {
      Timed timed{*any_text(), {}};
      for (int i = *rc::gen::inRange(0, 5); i > 0; --i) {
        TimedPart part{*any_text(), Seconds(any_value()), Seconds(any_value()), {}};
        for (int j = *rc::gen::inRange(0, 5); j > 0; --j)
          part.bins.push_back(
              {Seconds(std::abs(any_value())), *rc::gen::inRange<std::uint64_t>(0, 1U << 30U)});
        timed.parts.push_back(std::move(part));
      }
      return timed;
    }
    default:
      return Refused{
          Error{static_cast<ErrorCode>(*rc::gen::inRange(0, static_cast<int>(ErrorCode::internal) + 1)),
                *any_text(), *any_text()}};
  }
}

TEST(Codec, WhatIsEncodedIsDecodedToTheSameBytesAgainForEveryMessage) {
  EXPECT_TRUE(rc::check("decode then encode is the identity", [] {
    const Message message{static_cast<std::uint64_t>(*rc::gen::inRange(0, 1'000'000)), any_body()};
    const std::string datagram = encode(message);
    const auto decoded = decode(datagram);
    RC_ASSERT(decoded.has_value());
    RC_ASSERT(decoded->sequence == message.sequence);
    RC_ASSERT(decoded->body.index() == message.body.index());
    RC_ASSERT(encode(*decoded) == datagram);
  }));
}

TEST(Codec, TimesOfAMillionRequestsInEveryBinFitIntoOneMessage) {
  Timed all{"apply", {}};
  DurationHistogram every;
  for (std::size_t bin = 0; bin < DurationHistogram::kBins; ++bin) every.add(every.up_to(bin) + 1e-9_s);
  for (const char* name : {"total", "own", "work", "hand-over", "behind", "driver", "journal", "queue"}) {
    TimedPart& part = all.parts.emplace_back(TimedPart{name, Seconds(1.0 / 3), Seconds(1.0 / 3), {}});
    for (std::size_t bin = 0; bin < DurationHistogram::kBins; ++bin)
      part.bins.push_back({every.up_to(bin), 1'000'000});
  }
  const auto arrived = decode(encode({7, all}));
  ASSERT_TRUE(arrived.has_value()) << arrived.error().what;
  const auto& parts = std::get<Timed>(arrived->body).parts;
  ASSERT_EQ(parts.size(), 8U);
  EXPECT_EQ(parts.back().bins.size(), DurationHistogram::kBins);
  EXPECT_EQ(parts.back().bins.at(1).up_to, 1.25e-6_s);
}

TEST(Codec, BinsThatAreNoneAreCorrupt) {
  for (const char* bin : {"1", "1 x", "-1 2", "1 -2", "nan 1", "1 2 3"}) {
    const auto read = decode(cat("rubato-lease/1 timed 7\nrequest apply\npart own\nbin ", bin, "\n"));
    EXPECT_EQ(read.has_value() ? ErrorCode::internal : read.error().code, ErrorCode::corrupt) << bin;
  }
}

TEST(Codec, ApplicationClocksArriveInBothReplies) {
  const ApplicationClocks clocks{877_MHz, 1005_MHz};
  const Granted granted{{Found{{"GPU-a"}, {}, "", clocks}, Found{{"GPU-b"}, {}, "", {}}}};
  const auto found = std::get<Granted>(decode(encode({7, granted})).value().body).found;
  EXPECT_EQ(found.at(0).application_clocks, clocks);
  EXPECT_FALSE(found.at(1).application_clocks);
  const Applied applied{{"GPU-a"}, 150_W, 150_W, clocks};
  EXPECT_EQ(std::get<Applied>(decode(encode({7, applied})).value().body).application_clocks, clocks);
}

TEST(Codec, WhenTheDriverWasAskedForALockArrivesToTheNanosecond) {
  Applied applied{{"GPU-a"}, 150_W, 150_W};
  EXPECT_FALSE(std::get<Applied>(decode(encode({7, applied})).value().body).lock_asked);
  applied.lock_asked = TimePoint{9'007'199'254'740'993};  // no double holds it
  EXPECT_EQ(std::get<Applied>(decode(encode({7, applied})).value().body).lock_asked, applied.lock_asked);
  EXPECT_EQ(decode("rubato-lease/1 applied 7\ngpu GPU-a\nlock-asked-ns soon\n").error().code,
            ErrorCode::corrupt);
}

TEST(Codec, WhatRubatodManagesArrivesWithItsReasons) {
  const StatusReply sent{"observe",
                         {{{"GPU-a"}, "NVIDIA H100", "yours", true, {}},
                          {{"GPU-b"}, "NVIDIA H100", "away", false, "a guard has it"}},
                         "GPU-b: no rule"};
  const auto arrived = std::get<StatusReply>(decode(encode({7, sent})).value().body);
  EXPECT_EQ(arrived.mode, "observe");
  EXPECT_EQ(arrived.last_refusal, "GPU-b: no rule");
  ASSERT_EQ(arrived.gpus.size(), 2U);
  EXPECT_TRUE(arrived.gpus[0].allowed);
  EXPECT_EQ(arrived.gpus[1].state, "away");
  EXPECT_EQ(arrived.gpus[1].why_not, "a guard has it");
}

TEST(Codec, WhatTheSchedulerTellsAndHearsArrives) {
  const auto begin =
      std::get<JobBegin>(decode(encode({7, JobBegin{12, 1000, {{"GPU-a"}, {"GPU-b"}}}})).value().body);
  EXPECT_EQ(begin.slurm_job, 12);
  EXPECT_EQ(begin.user, 1000);
  EXPECT_EQ(begin.gpus, (std::vector<GpuId>{{"GPU-a"}, {"GPU-b"}}));
  const auto end = std::get<JobEnd>(decode(encode({7, JobEnd{{}, {{"GPU-a"}}}})).value().body);
  EXPECT_FALSE(end.slurm_job);
  EXPECT_EQ(end.gpus, (std::vector<GpuId>{{"GPU-a"}}));
  const Cleared sent{{{{{"GPU-a"}, Restoration::restored, "power limit 200 W"}, 1234.5_J, 60_s},
                      {{{"GPU-b"}, Restoration::failed, "it hangs"}}}};
  const auto arrived = std::get<Cleared>(decode(encode({7, sent})).value().body);
  ASSERT_EQ(arrived.gpus.size(), 2U);
  EXPECT_EQ(arrived.gpus[0].energy, 1234.5_J);
  EXPECT_EQ(arrived.gpus[0].duration, 60_s);
  EXPECT_EQ(arrived.gpus[1].report.outcome, Restoration::failed);
  EXPECT_EQ(arrived.gpus[1].report.detail, "it hangs");
  EXPECT_FALSE(arrived.gpus[1].energy || arrived.gpus[1].duration);
  for (const char* bad :
       {"job-begin 1\ngpu GPU-a\nuser 5\n", "job-begin 1\nslurm-job 4\nuser -1\ngpu GPU-a\n",
        "job-end 1\nslurm-job many\n", "cleared 1\ngpu GPU-a\noutcome fine\n"})
    EXPECT_EQ(decode(std::string("rubato-lease/1 ") + bad).error().code, ErrorCode::corrupt) << bad;
}

TEST(Codec, AGuardOfAnEarlierVersionSaysLessInItsWelcomeAndIsUnderstood) {
  const auto welcome = std::get<Welcome>(decode("rubato-lease/1 welcome 3\nguard-pid 12\n").value().body);
  EXPECT_EQ(welcome.guard_pid, 12);
  EXPECT_EQ(welcome.server, "");
}

TEST(Codec, EveryFieldOfASettingArrives) {
  const Setting setting{150.125_W, ClockRange{135_MHz, 1005.5_MHz}, ClockRange{877_MHz, 877_MHz},
                        ApplicationClocks{877_MHz, 1005_MHz}};
  const auto decoded = decode(encode({7, Apply{{"GPU-a"}, setting}}));
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->sequence, 7U);
  EXPECT_EQ(std::get<Apply>(decoded->body).gpu.uuid, "GPU-a");
  EXPECT_EQ(std::get<Apply>(decoded->body).setting, setting);
}

TEST(Codec, NewlinesPercentSignsAndControlBytesTravelInValues) {
  const std::string nasty = std::string("100 % of\nline two\r\x7f end ") + '\0';
  const auto decoded = decode(encode({1, Refused{Error{ErrorCode::busy, nasty, "%0a"}}}));
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(std::get<Refused>(decoded->body).error.what, nasty);
  EXPECT_EQ(std::get<Refused>(decoded->body).error.hint, "%0a");
}

TEST(Codec, AnyBytesAreDecodedOrRefusedWithoutHarm) {
  EXPECT_TRUE(rc::check("any bytes", [] {
    const auto decoded = decode(*rc::gen::arbitrary<std::string>());
    RC_ASSERT(decoded.has_value() || !decoded.error().what.empty());
  }));
  EXPECT_TRUE(rc::check("a message with bytes changed, lost and added", [] {
    std::string datagram = encode({1, any_body()});
    for (int i = *rc::gen::inRange(1, 4); i > 0 && !datagram.empty(); --i) {
      const auto at = *rc::gen::inRange<std::size_t>(0, datagram.size());
      switch (*rc::gen::inRange(0, 3)) {
        case 0:
          datagram[at] = *rc::gen::arbitrary<char>();
          break;
        case 1:
          datagram.erase(at, 1);
          break;
        default:
          datagram.insert(at, 1, *rc::gen::arbitrary<char>());
      }
    }
    const auto decoded = decode(datagram);
    RC_ASSERT(decoded.has_value() || !decoded.error().what.empty());
  }));
}

TEST(Codec, UnknownKeysAreIgnored) {
  const auto decoded = decode("rubato-lease/1 restore 3\nshape round\ngpu GPU-a\n");
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(std::get<Restore>(decoded->body).gpu.uuid, "GPU-a");
}

TEST(Codec, WhatIsWrongIsNamed) {
  const auto what = [](std::string_view datagram) {
    const auto decoded = decode(datagram);
    EXPECT_FALSE(decoded.has_value()) << datagram;
    return decoded ? std::string() : cat(name_of(decoded.error().code), ": ", decoded.error().what);
  };
  EXPECT_THAT(what("rubato-lease/2 hello 1\n"),
              HasSubstr("not_supported: the other end speaks rubato-lease/2"));
  EXPECT_THAT(what("rubato-lease/1 dance 1\n"),
              HasSubstr("corrupt: line 1 of a lease message has an unknown verb"));
  EXPECT_THAT(what(""), HasSubstr("line 1"));
  EXPECT_THAT(what("rubato-lease/1 hello -1\n"), HasSubstr("sequence"));
  EXPECT_THAT(what("rubato-lease/1 apply 1\ngpu G\npower-limit inf\n"), HasSubstr("line 3"));
  EXPECT_THAT(what("rubato-lease/1 apply 1\ngpu G\nsm-clock 5\n"), HasSubstr("2 are needed"));
  EXPECT_THAT(what("rubato-lease/1 apply 1\ngpu G\npower-limit 1\npower-limit 2\n"), HasSubstr("repeats"));
  EXPECT_THAT(what("rubato-lease/1 apply 1\n"), HasSubstr("no GPU"));
  EXPECT_THAT(what("rubato-lease/1 restore 1\ngpu a%0\n"), HasSubstr("escape"));
  EXPECT_THAT(what(std::string(kLargestMessage + 1, 'x')), HasSubstr("16385 bytes"));
}

TEST(Codec, ListsAreBounded) {
  std::string many = "rubato-lease/1 acquire 1\n";
  for (std::size_t i = 0; i <= kMostGpus; ++i) many += cat("gpu GPU-", i, "\n");
  EXPECT_FALSE(decode(many).has_value());
}

TEST(Codec, LinesAreBoundedBeforeAnyIsReadAndAHeartbeatHasNone) {
  std::string lines;
  for (std::size_t i = 0; i < 257; ++i) lines += "a\n";
  for (const char* verb : {"hello", "status", "release", "acquire", "times"}) {
    const auto read = decode(cat("rubato-lease/1 ", verb, " 1\n", lines));
    ASSERT_FALSE(read) << verb;
    EXPECT_THAT(read.error().what, HasSubstr("257 lines")) << verb;
  }
  while (lines.size() < 16'000) lines += "a\n";
  EXPECT_THAT(decode("rubato-lease/1 state 1\n" + lines).error().what, HasSubstr("at most 1024"));
  EXPECT_TRUE(decode("rubato-lease/1 heartbeat 1\n" + lines + "\x01"));
  EXPECT_THAT(decode("rubato-lease/1" + std::string(16'000, ' ')).error().what, HasSubstr("line 1"));
  EXPECT_THAT(decode("rubato-lease/1 apply 1\ngpu G\npower-limit" + std::string(16'000, ' ')).error().what,
              HasSubstr("16000 numbers"));
}

TEST(Codec, TheLongestRequestsAndRepliesAreWithinTheBounds) {
  Acquire request{{}, {}, ClockRange{1_MHz, 2_MHz}, 0.05};
  StatusReply state{"manage", {}, "why"};
  Cleared cleared;
  Granted granted;
  for (std::size_t i = 0; i < kMostGpus; ++i) {
    const GpuId gpu{cat("GPU-", i)};
    request.gpus.push_back(gpu);
    state.gpus.push_back({gpu, "H100", "away", false, "why", 7, 8});
    cleared.gpus.push_back({{gpu, Restoration::failed, "why"}, 1.5_J, 2.5_s});
    granted.found.push_back({gpu, {}, "note", ApplicationClocks{1_MHz, 2_MHz}});
  }
  for (const Body& body : {Body(request), Body(state), Body(cleared), Body(granted)}) {
    const auto read = decode(encode({1, body}));
    EXPECT_TRUE(read) << read.error().what;
  }
}

TEST(Codec, ALongReportIsCutAndStillArrivesWithEveryGpu) {
  Restored restored;
  for (std::size_t i = 0; i < kMostGpus; ++i) {
    restored.reports.push_back({GpuId{cat("GPU-", i)}, Restoration::restored, std::string(3000, 'x')});
  }
  const std::string datagram = encode({1, restored});
  EXPECT_LE(datagram.size(), kLargestMessage);
  EXPECT_EQ(std::get<Restored>(decode(datagram).value().body).reports.size(), kMostGpus);
}

TEST(Escape, BrokenEscapesAndRawControlBytesAreRefused) {
  EXPECT_EQ(unescape("a%20b"), "a b");
  EXPECT_FALSE(unescape("%2").has_value());
  EXPECT_FALSE(unescape("%zz").has_value());
  EXPECT_FALSE(unescape("a\nb").has_value());
  EXPECT_EQ(escape("a b%", Spaces::escaped), "a%20b%25");
}

}  // namespace
}  // namespace rubato::wire
