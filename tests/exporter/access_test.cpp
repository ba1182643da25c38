// Who gets in, and what whoever does not is told.
#include "exporter/access.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>

#include "exporter/access_token.h"
#include "record/sample_run.h"

namespace rubato::exporter {
namespace {

using record::testing_data::Folder;
using testing::HasSubstr;
using testing::Not;

const std::string kToken = "0123456789abcdef0123456789abcdef";

HttpRequest request(std::map<std::string, std::string> headers, std::string path = "/") {
  headers.try_emplace("host", "127.0.0.1:9838");
  return {std::move(path), std::move(headers), {}};
}
HttpRequest link(const std::string& token, std::string path = "/") {
  HttpRequest out = request({}, std::move(path));
  out.query["token"] = token;
  return out;
}
std::string header_of(const HttpAnswer& answer, const std::string& name) {
  for (const auto& [key, value] : answer.headers)
    if (key == name) return value;
  return {};
}

class AccessTest : public testing::Test {
 protected:
  unsigned status(const HttpRequest& asked) const {
    const auto answer = access_.answer(asked);
    return answer ? answer->status : 200;
  }
  std::string cookie() const {
    const std::string set = header_of(*access_.answer(link(kToken)), "Set-Cookie");
    return set.substr(0, set.find(';'));
  }
  Access access_{{.token = kToken, .names = {"Node1.example.org"}, .where_token = "the file /run/t"}};
};

TEST_F(AccessTest, WithoutTheTokenNothingIsShownAndItSaysWhereTheTokenIs) {
  const auto answer = access_.answer(request({}));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 401);
  EXPECT_THAT(*answer->body, HasSubstr("/run/t"));
  EXPECT_THAT(*answer->body, HasSubstr("?token="));
  EXPECT_THAT(*answer->body, Not(HasSubstr(kToken)));
  EXPECT_THAT(header_of(*answer, "WWW-Authenticate"), HasSubstr("Bearer"));
}

TEST_F(AccessTest, AHeaderOrTheCookieOfALinkOpensIt) {
  EXPECT_EQ(status(request({{"authorization", "Bearer " + kToken}})), 200);
  EXPECT_EQ(status(request({{"cookie", "other=1; " + cookie()}})), 200);
  for (const std::string& wrong :
       {kToken.substr(1), kToken + "0", std::string("x"), std::string(), std::string(5000, 'a')}) {
    EXPECT_EQ(status(request({{"authorization", "Bearer " + wrong}})), 401) << wrong.size();
    EXPECT_EQ(status(request({{"cookie", cookie().substr(0, cookie().find('=') + 1) + wrong}})), 401);
    EXPECT_EQ(status(link(wrong)), 401);
  }
  EXPECT_EQ(status(request({{"cookie", "another=" + kToken}})), 401) << "a cookie of another name";
  EXPECT_EQ(status(request({{"authorization", "Basic " + kToken}})), 401);
}

TEST_F(AccessTest, ALinkLeavesACookieThatNoScriptReadsAndTheAddressWithoutTheToken) {
  const auto answer = access_.answer(link(kToken, "/runs/20261121-081500-1a2b"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 303);
  EXPECT_EQ(header_of(*answer, "Location"), "/runs/20261121-081500-1a2b");
  const std::string set = header_of(*answer, "Set-Cookie");
  EXPECT_THAT(set, HasSubstr("HttpOnly"));
  EXPECT_THAT(set, HasSubstr("SameSite=Lax"));
  for (const char* hostile : {"//evil.example/", "/a\r\nSet-Cookie: x=y", "/%0d", "/<script>"})
    EXPECT_EQ(header_of(*access_.answer(link(kToken, hostile)), "Location"), "/") << hostile;
}

TEST_F(AccessTest, ANameThatSomebodyPointsHereIsRefused) {
  const std::string right = "Bearer " + kToken;
  for (const char* host :
       {"localhost", "LOCALHOST:80", "127.0.0.1", "10.0.0.7:9838", "[::1]:9838", "node1.example.org:1"})
    EXPECT_EQ(status(request({{"host", host}, {"authorization", right}})), 200) << host;
  for (const char* host : {"evil.example", "evil.example:9838", "localhost.evil.example",
                           "127.0.0.1.evil.example", "", ":", "[", "localhost, evil.example", "1.2.3"}) {
    const auto answer = access_.answer(request({{"host", host}, {"authorization", right}}));
    ASSERT_TRUE(answer) << host;
    EXPECT_EQ(answer->status, 421) << host;
    EXPECT_THAT(*answer->body, HasSubstr("--http-name"));
  }
  HttpRequest none{"/", {{"authorization", right}}, {}};
  EXPECT_EQ(status(none), 421);
}

TEST_F(AccessTest, APageOfAnotherSiteMayGoHereAndNothingElse) {
  const auto from = [&](const char* site, const char* mode, const char* dest) {
    return status(request({{"cookie", cookie()},
                           {"sec-fetch-site", site},
                           {"sec-fetch-mode", mode},
                           {"sec-fetch-dest", dest}}));
  };
  EXPECT_EQ(from("same-origin", "cors", "empty"), 200);
  EXPECT_EQ(from("none", "navigate", "document"), 200);
  EXPECT_EQ(from("cross-site", "navigate", "document"), 200);
  EXPECT_EQ(from("cross-site", "no-cors", "script"), 403);
  EXPECT_EQ(from("cross-site", "navigate", "iframe"), 403);
  EXPECT_EQ(from("same-site", "cors", "empty"), 403) << "another port of this machine";
}

TEST(AccessToken, IsMadeOnceForItsUserAlone) {
  const Folder folder;
  const auto file = folder.path() / "token";
  const auto first = access_token(file, true);
  ASSERT_TRUE(first) << first.error().what;
  EXPECT_EQ(first->size(), 64U);
  struct stat info {};
  ASSERT_EQ(stat(file.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  EXPECT_EQ(*access_token(file, true), *first);
  const Folder other;
  EXPECT_NE(*access_token(other.path() / "token", true), *first);
}

TEST(AccessToken, OneThatIsNoSecretOrNoTokenIsRefused) {
  const Folder folder;
  const auto file = folder.path() / "token";
  const auto written = [&](const std::string& text, mode_t mode) {
    std::ofstream(file) << text;
    chmod(file.c_str(), mode);
    return access_token(file, false);
  };
  EXPECT_EQ(access_token(file, false).error().code, ErrorCode::not_found);
  EXPECT_EQ(*written(kToken + "\n", 0600), kToken);
  EXPECT_EQ(*written(kToken, 0640), kToken) << "a group may read it where its owner says so";
  for (const mode_t open : {0644U, 0620U, 0606U, 0666U}) {
    const auto refused = written(kToken, open);
    ASSERT_FALSE(refused) << open;
    EXPECT_EQ(refused.error().code, ErrorCode::no_permission);
    EXPECT_THAT(refused.error().hint, HasSubstr("chmod 600"));
  }
  for (const std::string& text : {std::string(), std::string("short"), std::string("two words of a token"),
                                  "0123456789abcdef;" + kToken, std::string(300, 'a')}) {
    const auto refused = written(text, 0600);
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  }
  std::filesystem::create_symlink("/etc/passwd", folder.path() / "link");
  EXPECT_FALSE(access_token(folder.path() / "link", true));
  EXPECT_FALSE(access_token(folder.path(), true));
}

TEST(AccessToken, ComparesTheWholeOfIt) {
  EXPECT_TRUE(same_token(kToken, kToken));
  EXPECT_FALSE(same_token("", kToken));
  EXPECT_FALSE(same_token(kToken + kToken, kToken)) << "a repetition of it";
  for (std::size_t i = 0; i < kToken.size(); ++i) {
    std::string wrong = kToken;
    wrong[i] = 'x';
    EXPECT_FALSE(same_token(wrong, kToken)) << i;
  }
}

}  // namespace
}  // namespace rubato::exporter
