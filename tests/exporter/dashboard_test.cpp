// What the addresses of the dashboard answer, in virtual time.
#include "exporter/dashboard.h"

#include <gmock/gmock.h>
#include <sys/file.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/fd.h"
#include "fake_gpu.h"
#include "record/sample_run.h"

namespace rubato::exporter {
namespace {

using nlohmann::json;
using record::testing_data::Folder;
using testing::HasSubstr;
using testing::StartsWith;
using testing_data::FakeGpu;

const std::string kToken = "0123456789abcdef0123456789abcdef";
const std::string kHostile = "</script><script>alert(1)</script>\u202e";

std::string header_of(const HttpAnswer& answer, const std::string& name) {
  for (const auto& [key, value] : answer.headers)
    if (key == name) return value;
  return {};
}

record::RunState run_state() {
  record::RunState state{.run_id = "20261121-081500-1a2b",
                         .mode = "run",
                         .command = {"python", kHostile},
                         .started_at = "2026-11-21T08:15:00Z"};
  state.job_pid = 4711;
  state.doing = "hold";
  state.setting.power_limit = 150_W;
  state.why = kHostile;
  state.iteration = IterationEstimate{};
  state.iteration->period = 0.4_s;
  state.gpus.push_back({.uuid = "GPU-51000000", .name = "Tesla V100-PCIE-16GB", .found_limit = 200_W});
  return state;
}

class DashboardTest : public testing::Test {
 protected:
  DashboardTest() {
    gpu_.here = {{4711, 9'000'000'000}};
    const auto run = runtime_.path() / "marks-20261121-081500-1a2b";
    std::filesystem::create_directory(run);
    lock_.reset(::open(run.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    EXPECT_EQ(flock(lock_.get(), LOCK_EX), 0);
    EXPECT_TRUE(record::save_run_state(run, run_state()));
    std::filesystem::create_directories(root_.path() / "proc/4711");
    std::ofstream(root_.path() / "proc/4711/comm") << "trainer\n";
  }
  void pass(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      clock_.advance(1_s);
      unix_s_ += 1;
      exporter_.step(clock_.now(), unix_s_);
      dashboard_.step({clock_.now(), unix_s_, clock_.now().ns, {0.5_s, 12'000'000, 1'790'000'000}});
    }
  }
  HttpAnswer ask(const std::string& path) {
    return dashboard_.answer({path, {{"host", "localhost"}, {"authorization", "Bearer " + kToken}}, {}});
  }
  /// What comes of an answer that comes later.
  HttpAnswer made(const std::string& path) {
    const HttpAnswer asked = ask(path);
    EXPECT_NE(asked.later, nullptr) << path;
    if (!asked.later) return asked;
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!asked.later->answer()) {
      if (std::chrono::steady_clock::now() > patience) {
        ADD_FAILURE() << path << ": no answer in a minute";
        return asked;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return *asked.later->answer();
  }
  json document(const std::string& path) {
    const HttpAnswer answer = ask(path);
    EXPECT_EQ(answer.status, 200U) << path;
    EXPECT_EQ(answer.content_type, "application/json");
    return json::parse(*answer.body);
  }

  VirtualClock clock_;
  double unix_s_ = 1'790'000'000;
  Folder runs_, runtime_, root_;
  ScopedFd lock_;
  FakeGpu gpu_{clock_};
  Exporter exporter_{
      {.version = "0.1.0", .backend = "sim", .driver_version = "550.1", .journals = runtime_.path()},
      {{&gpu_, gpu_.sensor()}},
      clock_.now()};
  std::mutex records_;
  RunBook book_{{runs_.path()}, 20, records_};
  ReportMaker reports_{
      [](const std::filesystem::path& record, const std::atomic<bool>&) -> Result<std::string> {
        if (record.filename() == "20261121-081500-bad.sqlite")
          return fail(ErrorCode::io, "it is damaged", "rubato show");
        return cat("<!doctype html>", record.filename().string());
      }};
  Dashboard dashboard_{
      {.host = "node1", .runtime_folder = runtime_.path(), .root = FsRoot(root_.path()), .most_viewers = 2},
      Access({.token = kToken, .where_token = "a file"}),
      exporter_,
      book_,
      reports_,
      clock_};
};

std::string read_events(HttpStream& stream) {
  std::string text(100'000, ' ');
  text.resize(stream.read(text.data(), text.size()));
  return text;
}

TEST_F(DashboardTest, EveryAddressNeedsTheTokenAndEveryAnswerForbidsWhatItCan) {
  pass(1);
  for (const char* path :
       {"/", "/runs/x", "/runs/x/report", "/api/node", "/api/runs", "/api/history", "/events", "/nothing"}) {
    const HttpAnswer locked = dashboard_.answer({path, {{"host", "localhost"}}, {}});
    EXPECT_EQ(locked.status, 401U) << path;
    for (const HttpAnswer& answer : {locked, ask(path)}) {
      EXPECT_EQ(header_of(answer, "X-Content-Type-Options"), "nosniff") << path;
      EXPECT_EQ(header_of(answer, "Cache-Control"), "no-store") << path;
      EXPECT_EQ(header_of(answer, "Referrer-Policy"), "no-referrer") << path;
      EXPECT_EQ(header_of(answer, "Access-Control-Allow-Origin"), "") << path;
    }
  }
  EXPECT_EQ(ask("/nothing").status, 404U);
  EXPECT_EQ(ask("/runs/").status, 404U);
}

TEST_F(DashboardTest, ThePageAllowsItsOwnScriptAloneAndNoFrameAroundIt) {
  const HttpAnswer page = ask("/");
  EXPECT_THAT(*page.body, HasSubstr("<noscript>"));
  const std::string policy = header_of(page, "Content-Security-Policy");
  EXPECT_THAT(policy, StartsWith("default-src 'none'; script-src 'sha256-"));
  EXPECT_THAT(policy, HasSubstr("frame-ancestors 'none'"));
  EXPECT_EQ(policy.find("unsafe"), std::string::npos);
  EXPECT_EQ(ask("/runs/20261121-081500-1a2b").body, page.body);
}

TEST_F(DashboardTest, TheNodeSaysWhatTheGpuAndTheRunSay) {
  pass(3);
  static_cast<void>(ask("/api/node"));  // somebody looks
  pass(2);
  const json node = document("/api/node");
  EXPECT_EQ(node["schema"], "rubato.dashboard_node/1");
  const json& gpu = node["gpus"][0];
  EXPECT_EQ(gpu["power_w"], 100);
  EXPECT_EQ(gpu["power_limit_requested_w"], 150);
  EXPECT_EQ(gpu["power_limit_enforced_w"], 150);
  EXPECT_EQ(gpu["power_limit_found_w"], 200);
  EXPECT_EQ(gpu["limiter"], json::array({"power_cap"}));
  EXPECT_EQ(gpu["kind"], "modelled");
  EXPECT_EQ(gpu["answers"], true);
  const json& run = node["runs"][0];
  EXPECT_EQ(run["command"][1], kHostile);
  EXPECT_EQ(run["doing"], "hold");
  const json& process = node["processes"][0];
  EXPECT_EQ(process["name"], "trainer");
  EXPECT_EQ(process["run_id"], "20261121-081500-1a2b");
  EXPECT_EQ(process["memory_bytes"], 9'000'000'000);
  EXPECT_EQ(ask("/api/node").body->find('\n'), std::string::npos) << "an event is one line";
}

TEST_F(DashboardTest, BeforeTheFirstLookThereIsNoDocumentOfNothing) {
  const HttpAnswer answer = ask("/api/node");
  EXPECT_EQ(answer.status, 503U);
  EXPECT_EQ(header_of(answer, "Retry-After"), "1");
}

TEST_F(DashboardTest, ProcessesAreNotAskedForWhileNobodyLooks) {
  pass(5);
  EXPECT_THAT(document("/api/node")["processes_unknown"].get<std::string>(), HasSubstr("ask again"));
  pass(2);
  EXPECT_EQ(document("/api/node")["processes"].size(), 1U);
}

TEST_F(DashboardTest, AGpuThatIsSilentHasNoFiguresOfNow) {
  pass(2);
  gpu_.silent = true;
  pass(20);
  const json gpu = document("/api/node")["gpus"][0];
  EXPECT_EQ(gpu["answers"], false);
  EXPECT_GT(gpu["reading_age_s"], 5);
  for (const char* key : {"power_w", "sm_clock_mhz", "temperature_c", "limiter", "power_limit_enforced_w"})
    EXPECT_TRUE(gpu[key].is_null()) << key;
  const json history = document("/api/history");
  EXPECT_EQ(history["gpus"][0]["power_w"].front(), 100);
  EXPECT_TRUE(history["gpus"][0]["power_w"].back().is_null());
}

TEST_F(DashboardTest, TheHistoryIsTheLastQuarterOfAnHour) {
  pass(1000);
  const json history = document("/api/history");
  const json& at = history["gpus"][0]["at_s"];
  EXPECT_EQ(at.size(), 901U);
  EXPECT_EQ(at.back(), unix_s_);
  EXPECT_EQ(at.front(), unix_s_ - 900);
  EXPECT_EQ(history["gpus"][0]["power_w"].size(), 901U);
  EXPECT_EQ(history["runs"][0]["iteration_s"].back(), 0.4);
}

TEST_F(DashboardTest, ViewersGetEverySecondAndThereIsALimit) {
  pass(1);
  auto first = ask("/events");
  ASSERT_NE(first.stream, nullptr);
  EXPECT_EQ(first.content_type, "text/event-stream");
  auto second = ask("/events");
  const HttpAnswer third = ask("/events");
  EXPECT_EQ(third.status, 503U);
  EXPECT_EQ(header_of(third, "Retry-After"), "10");
  pass(1);
  std::string text(100'000, ' ');
  text.resize(first.stream->read(text.data(), text.size()));
  EXPECT_THAT(text, HasSubstr("event: node\ndata: {\"schema\":\"rubato.dashboard_node/1\""));
  EXPECT_EQ(document("/api/node")["own"]["viewers"], 2);
}

TEST_F(DashboardTest, WhatIsSentSaysHowOldItIs) {
  const auto early = ask("/events").stream;
  EXPECT_EQ(read_events(*early), "retry: 2000\n\nevent: runs\ndata: {}\n\n") << "nothing was seen yet";
  pass(1);
  EXPECT_THAT(read_events(*early), HasSubstr(R"(,"age_s":0})"));
  clock_.advance(20_s);  // the step hangs in the driver
  const auto late = ask("/events").stream;
  const std::string begin = read_events(*late);
  EXPECT_THAT(begin, HasSubstr("event: node"));
  EXPECT_THAT(begin, HasSubstr(R"(,"age_s":20})"));
  EXPECT_THAT(begin, HasSubstr("event: runs"));
  EXPECT_EQ(document("/api/node")["age_s"], 20);
}

TEST_F(DashboardTest, RunsAreListedWithWhatCameOfThemAndTheirReport) {
  {
    auto writer =
        record::Writer::create(runs_.path(), record::testing_data::run_info("20261121-081500-done"));
    ASSERT_TRUE(writer);
    (*writer)->device(record::testing_data::device_info());
    record::RunEnd end;
    end.end = record::testing_data::kBegin + 10_s;
    end.exit_code = 3;
    ASSERT_TRUE((*writer)->finish(end));
  }
  std::ofstream(runs_.path() / "20261121-081500-junk.sqlite") << "no database";
  EXPECT_EQ(document("/api/runs")["runs"].size(), 0U) << "not read yet";
  while (book_.step()) {
  }
  const json runs = document("/api/runs");
  ASSERT_EQ(runs["runs"].size(), 1U);
  EXPECT_EQ(runs["unreadable"], 1);
  const json& run = runs["runs"][0];
  EXPECT_EQ(run["run_id"], "20261121-081500-done");
  EXPECT_EQ(run["exit_status"]["code"], 3);
  EXPECT_EQ(run["duration_s"], 10);
  EXPECT_EQ(run["running"], false);
  EXPECT_EQ(run["gpus"][0]["power_limit_found_w"], 200);

  const HttpAnswer report = made("/runs/20261121-081500-done/report");
  EXPECT_EQ(*report.body, "<!doctype html>20261121-081500-done.sqlite");
  EXPECT_THAT(header_of(report, "Content-Security-Policy"), HasSubstr("frame-ancestors 'none'"));
  for (const char* path : {"/runs/../../etc/passwd/report", "/runs/..%2f..%2fetc/report", "/runs/x/report",
                           "/runs/20261121-081500-done.sqlite/report"})
    EXPECT_EQ(ask(path).status, 404U) << path;
}

TEST_F(DashboardTest, ARunThatIsNotListedYetHasItsReportAndADamagedOneAReason) {
  std::ofstream(runs_.path() / "20261121-081500-new.sqlite") << "being written";
  EXPECT_EQ(*made("/runs/20261121-081500-new/report").body, "<!doctype html>20261121-081500-new.sqlite");
  std::ofstream(runs_.path() / "20261121-081500-bad.sqlite") << "no database";
  const HttpAnswer bad = made("/runs/20261121-081500-bad/report");
  EXPECT_EQ(bad.status, 500U);
  EXPECT_THAT(*bad.body, HasSubstr("it is damaged"));
  EXPECT_THAT(*bad.body, HasSubstr("rubato show"));
}

TEST_F(DashboardTest, AListThatHasChangedIsAnnounced) {
  pass(1);
  auto viewer = ask("/events").stream;
  std::string text(100'000, ' ');
  static_cast<void>(viewer->read(text.data(), text.size()));
  pass(2);
  text.resize(viewer->read(text.data(), text.size()));
  EXPECT_EQ(text.find("event: runs"), std::string::npos);
  book_.step();
  pass(1);
  text.resize(100'000);
  text.resize(viewer->read(text.data(), text.size()));
  EXPECT_THAT(text, HasSubstr("event: runs"));
  // Looked at again, and nothing new: nobody asks for the list again.
  const auto before = book_.state();
  book_.step();
  EXPECT_EQ(book_.state(), before);
}

}  // namespace
}  // namespace rubato::exporter
