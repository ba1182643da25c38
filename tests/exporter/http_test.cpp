// The server on a real loopback socket: what a well-meaning and a bad client get.
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "base/text.h"
#include "exporter/http_server.h"
#include "loopback_client.h"

namespace rubato::exporter {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using testing_data::connected_to;
using testing_data::hear;
using testing_data::say;

class HttpTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto address = parse_listen_address("127.0.0.1:0");
    ASSERT_TRUE(address);
    auto server = HttpServer::start(*address, [this](const HttpRequest& request) {
      ++answered_;
      const bool known = request.path == "/metrics";
      return HttpAnswer{known ? 200U : 404U, "text/plain", known ? page_ : not_here_};
    });
    ASSERT_TRUE(server) << server.error().what;
    server_ = std::move(*server);
  }
  ScopedFd connected() { return connected_to(server_->port()); }
  std::string ask(std::string_view request) {
    const ScopedFd fd = connected();
    say(fd, request);
    return hear(fd);
  }

  std::shared_ptr<const std::string> page_ = std::make_shared<const std::string>(3'000'000, 'x');
  std::shared_ptr<const std::string> not_here_ = std::make_shared<const std::string>("not here\n");
  std::atomic<int> answered_{0};
  std::unique_ptr<HttpServer> server_;
};

constexpr std::string_view kScrape = "GET /metrics HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";

TEST_F(HttpTest, APageOfAnySizeComesWhole) {
  const std::string answer = ask(kScrape);
  EXPECT_THAT(answer.substr(0, 20), StartsWith("HTTP/1.1 200"));
  EXPECT_TRUE(answer.ends_with("\r\n\r\n" + *page_));
}

TEST_F(HttpTest, OtherPathsAndMethodsAreRefused) {
  EXPECT_THAT(ask("GET /etc/passwd HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.1 404"));
  EXPECT_EQ(answered_, 1);
  const std::string posted =
      ask("POST /metrics HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello");
  EXPECT_THAT(posted, StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(posted, HasSubstr("Allow: GET, HEAD"));
  EXPECT_EQ(answered_, 1) << "the page was not asked for";
  const std::string head = ask("HEAD /metrics HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(head, HasSubstr("Content-Length: 3000000"));
  EXPECT_TRUE(head.ends_with("\r\n\r\n"));
}

TEST_F(HttpTest, GarbageIsAnsweredOrClosedAndHarmsNobody) {
  { say(connected(), {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc", 9}); }  // TLS, and gone
  for (const std::string& garbage : {std::string("GET\r\n\r\n"), std::string("GET / HTTP/9.9\r\n\r\n"),
                                     "GET /" + std::string(100'000, 'a') + " HTTP/1.1\r\n\r\n",
                                     "GET / HTTP/1.1\r\nX: " + std::string(100'000, 'a')}) {
    const ScopedFd fd = connected();
    // It may close before it has heard all of it.
    static_cast<void>(send(fd.get(), garbage.data(), garbage.size(), MSG_NOSIGNAL));
    shutdown(fd.get(), SHUT_WR);
    EXPECT_THAT(hear(fd), Not(HasSubstr(" 200 "))) << garbage.substr(0, 20);
  }
  EXPECT_THAT(ask(kScrape).substr(0, 20), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpTest, AHundredClientsThatHangHoldUpNobody) {
  std::vector<ScopedFd> silent;
  std::vector<ScopedFd> half;
  std::vector<ScopedFd> deaf;  // they ask for the page and never read it
  for (int i = 0; i < 34; ++i) {
    silent.push_back(connected());
    half.push_back(connected());
    say(half.back(), "GET /metrics HT");
    deaf.push_back(connected());
    say(deaf.back(), kScrape);
  }
  EXPECT_TRUE(ask(kScrape).ends_with(*page_));
}

TEST_F(HttpTest, SeveralScrapeAtOnce) {
  std::vector<std::thread> scrapers;
  std::atomic<int> whole{0};
  for (int i = 0; i < 8; ++i)
    scrapers.emplace_back([&] {
      if (ask(kScrape).ends_with(*page_)) ++whole;
    });
  for (auto& scraper : scrapers) scraper.join();
  EXPECT_EQ(whole, 8);
}

TEST_F(HttpTest, APortThatIsTakenIsAnErrorThatNamesIt) {
  const auto address = parse_listen_address(cat("127.0.0.1:", server_->port()));
  const auto second = HttpServer::start(*address, [](const HttpRequest&) { return HttpAnswer{}; });
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().what, HasSubstr(cat(server_->port())));
  EXPECT_FALSE(second.error().hint.empty());
}

TEST(HttpServer, ServesOverIpv6Too) {
  auto server = HttpServer::start(*parse_listen_address("[::1]:0"), [](const HttpRequest&) {
    return HttpAnswer{200, "text/plain", std::make_shared<const std::string>("six")};
  });
  if (!server) GTEST_SKIP() << server.error().what;
  const ScopedFd fd(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 there{};
  there.sin6_family = AF_INET6;
  there.sin6_port = htons((*server)->port());
  there.sin6_addr = in6addr_loopback;
  ASSERT_EQ(connect(fd.get(), reinterpret_cast<const sockaddr*>(&there), sizeof there), 0);
  say(fd, kScrape);
  EXPECT_TRUE(hear(fd).ends_with("six"));
}

TEST(ListenAddress, IsAnAddressInNumbersAndAPort) {
  EXPECT_TRUE(parse_listen_address("127.0.0.1:9836")->loopback);
  EXPECT_TRUE(parse_listen_address("127.3.2.1:1")->loopback);
  EXPECT_TRUE(parse_listen_address("localhost:9836")->loopback);
  EXPECT_TRUE(parse_listen_address("[::1]:9836")->loopback);
  EXPECT_FALSE(parse_listen_address("0.0.0.0:9836")->loopback);
  EXPECT_FALSE(parse_listen_address("[::]:9836")->loopback);
  EXPECT_EQ(url_of(*parse_listen_address("[::1]:0"), 80), "http://[::1]:80/metrics");
  for (const char* wrong :
       {"", ":", "9836", ":9836", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:x",
        "::1:9836", "[127.0.0.1]:1", "[]:1", "example.org:80", "*:80", "[::1]"}) {
    const auto parsed = parse_listen_address(wrong);
    ASSERT_FALSE(parsed) << wrong;
    EXPECT_EQ(parsed.error().code, ErrorCode::invalid_argument);
    EXPECT_FALSE(parsed.error().hint.empty());
  }
}

}  // namespace
}  // namespace rubato::exporter
