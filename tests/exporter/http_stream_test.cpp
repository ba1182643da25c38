// Answers that go on and answers that come later, on a real loopback socket.
#include <gmock/gmock.h>

#include <chrono>
#include <thread>

#include "base/text.h"
#include "exporter/event_hub.h"
#include "exporter/http_server.h"
#include "exporter/report_maker.h"
#include "loopback_client.h"

namespace rubato::exporter {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using testing_data::connected_to;
using testing_data::hear;
using testing_data::say;

constexpr std::string_view kEvents = "GET /events HTTP/1.1\r\nHost: h\r\n\r\n";
constexpr std::string_view kReport = "GET /report HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
constexpr std::string_view kPage = "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";

class HttpStreamTest : public testing::Test {
 protected:
  void SetUp() override {
    auto server = HttpServer::start(*parse_listen_address("127.0.0.1:0"), [this](const HttpRequest& request) {
      if (request.path == "/events") {
        HttpAnswer out{200, "text/event-stream", nullptr};
        out.stream = hub_.subscribe();
        return out.stream ? out : text_answer(503, "full\n");
      }
      if (request.path == "/report") return reports_.ask("/a/record.sqlite", {{"X-Report", "yes"}});
      return text_answer(200, cat("host ", request.header("host"), ", q ",
                                  request.query.contains("q") ? request.query.at("q") : ""));
    });
    ASSERT_TRUE(server) << server.error().what;
    server_ = std::move(*server);
  }
  void TearDown() override { reports_.end(); }
  ScopedFd asked(std::string_view request) {
    ScopedFd fd = connected_to(server_->port());
    say(fd, request);
    return fd;
  }

  std::mutex making_;
  EventHub hub_{64, 4};
  ReportMaker reports_{
      [this](const std::filesystem::path& file, const std::atomic<bool>&) -> Result<std::string> {
        const std::lock_guard wait(making_);
        return cat("report of ", file.string());
      }};
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpStreamTest, HeadersAndArgumentsOfARequestAreTold) {
  EXPECT_THAT(hear(asked("GET /?q=a%20b&q=c HTTP/1.1\r\nHOST: h\r\nConnection: close\r\n\r\n")),
              HasSubstr("host h, q a b"));
}

TEST_F(HttpStreamTest, EventsComeWhenTheyArePublished) {
  const ScopedFd client = asked(kEvents);
  EXPECT_THAT(hear(client, "retry: 2000"), StartsWith("HTTP/1.1 200"));
  for (const char* word : {"one", "two", "three"}) {
    hub_.publish({"node", word});
    EXPECT_THAT(hear(client, word), HasSubstr(cat("data: ", word)));
  }
  EXPECT_EQ(hub_.clients(), 1U);
}

TEST_F(HttpStreamTest, AClientThatGoesIsForgotten) {
  {
    const ScopedFd client = asked(kEvents);
    hear(client, "retry");
    EXPECT_EQ(hub_.clients(), 1U);
  }
  // Its connection is noticed to be gone when something is to be sent.
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (hub_.clients() > 0 && std::chrono::steady_clock::now() < patience) {
    hub_.publish({"node", "x"});
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(hub_.clients(), 0U);
}

TEST_F(HttpStreamTest, OnesThatDoNotReadHoldUpNobodyAndAreDropped) {
  const std::string large(200'000, 'x');
  std::vector<ScopedFd> deaf;
  for (int i = 0; i < 8; ++i) {
    deaf.push_back(asked(kEvents));
    hear(deaf.back(), "retry");
  }
  const ScopedFd reader = asked(kEvents);
  hear(reader, "retry");
  for (int i = 0; i < 100; ++i) {
    hub_.publish({"node", cat(large, i, "end")});
    EXPECT_THAT(hear(reader, cat(i, "end")), HasSubstr(cat(i, "end")));
  }
  EXPECT_EQ(hub_.dropped(), 8U);
  EXPECT_THAT(hear(asked(kPage)), HasSubstr("200 OK"));
}

TEST_F(HttpStreamTest, AnAnswerComesLaterAndOthersMeanwhile) {
  std::unique_lock hold(making_);
  const ScopedFd first = asked(kReport);
  const ScopedFd second = asked(kReport);
  EXPECT_THAT(hear(asked(kPage)), HasSubstr("200 OK"));
  hold.unlock();
  for (const ScopedFd* one : {&first, &second}) {
    const std::string answer = hear(*one);
    EXPECT_THAT(answer, HasSubstr("X-Report: yes"));
    EXPECT_THAT(answer, HasSubstr("report of /a/record.sqlite"));
  }
}

TEST_F(HttpStreamTest, TooManyReportsAtOnceAreRefused) {
  const std::unique_lock hold(making_);
  int refused = 0;
  for (int i = 0; i < 20; ++i) {
    const HttpAnswer answer = reports_.ask("/a/record.sqlite", {});
    if (answer.later) continue;
    EXPECT_EQ(answer.status, 503U);
    ++refused;
  }
  // Eight wait, and one may be in the making.
  EXPECT_GE(refused, 11);
  EXPECT_LE(refused, 12);
}

TEST_F(HttpStreamTest, ItEndsWhileClientsWait) {
  const ScopedFd viewer = asked(kEvents);
  hear(viewer, "retry");
  ScopedFd patient;
  {
    const std::unique_lock hold(making_);
    patient = asked(kReport);
    EXPECT_THAT(hear(asked(kPage)), HasSubstr("200 OK"));
  }
  reports_.end();
  server_.reset();
  hear(viewer);   // closed
  hear(patient);  // answered or closed
}

}  // namespace
}  // namespace rubato::exporter
