#include "exporter/access.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cctype>

#include "base/fnv1a.h"
#include "base/text.h"
#include "exporter/access_token.h"

namespace rubato::exporter {
namespace {

// As long as a browser keeps it: a month.
constexpr int kCookieSeconds = 30 * 86'400;
constexpr std::string_view kBearer = "Bearer ";

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// "[::1]:9838" is "::1", "localhost:9838" is "localhost". The port is not compared: a tunnel has another.
std::string host_of(std::string_view header) {
  if (header.starts_with('[')) return lower_case(header.substr(1, header.find(']') - 1));
  return lower_case(header.substr(0, header.rfind(':')));
}

bool is_address(const std::string& host) {
  in6_addr any{};
  return inet_pton(AF_INET, host.c_str(), &any) == 1 || inet_pton(AF_INET6, host.c_str(), &any) == 1;
}

/// Asked by a page of another site, for anything but to go there.
bool from_elsewhere(const HttpRequest& request) {
  const std::string_view site = request.header("sec-fetch-site");
  if (site.empty() || site == "same-origin" || site == "none") return false;
  return request.header("sec-fetch-mode") != "navigate" || request.header("sec-fetch-dest") != "document";
}

}  // namespace

Access::Access(AccessOptions options)
    // Cookies of one machine are shared by all its ports: each dashboard has its own.
    : options_(std::move(options)), cookie_(cat("rubato-", hex(fnv1a(options_.token), 16))) {
  for (std::string& name : options_.names) name = lower_case(name);
}

bool Access::known_host(std::string_view header) const {
  const std::string host = host_of(header);
  return host == "localhost" || is_address(host) || std::ranges::count(options_.names, host) > 0;
}

bool Access::carries_token(const HttpRequest& request) const {
  const std::string_view authorization = request.header("authorization");
  if (authorization.starts_with(kBearer) &&
      same_token(trim(authorization.substr(kBearer.size())), options_.token))
    return true;
  for (const std::string& one : split(request.header("cookie"), ';')) {
    const std::string_view pair = trim(one);
    const std::size_t equals = pair.find('=');
    if (equals != std::string_view::npos && pair.substr(0, equals) == cookie_ &&
        same_token(pair.substr(equals + 1), options_.token))
      return true;
  }
  return false;
}

HttpAnswer Access::let_in(const HttpRequest& request) const {
  HttpAnswer out = text_answer(303, "the token is right\n");
  // Only what this server serves: never another place, and no line break into the header.
  const bool plain = std::ranges::all_of(request.path, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '-' || c == '.' || c == '_';
  });
  out.headers.emplace_back("Location", plain && !request.path.starts_with("//") ? request.path : "/");
  out.headers.emplace_back(
      "Set-Cookie",
      cat(cookie_, "=", options_.token, "; Path=/; Max-Age=", kCookieSeconds, "; HttpOnly; SameSite=Lax"));
  return out;
}

HttpAnswer Access::locked() const {
  HttpAnswer out = text_answer(
      401,
      cat("This dashboard opens with its token only, and the one given is missing or not the right one.\n\n",
          "The token is in ", options_.where_token, ".\n",
          "Browser:  put /?token=TOKEN behind the address, once; a cookie remembers it.\n",
          "Program:  send the header  Authorization: Bearer TOKEN\n"));
  out.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"rubato\"");
  return out;
}

std::optional<HttpAnswer> Access::answer(const HttpRequest& request) const {
  const std::string_view host = request.header("host");
  if (!known_host(host))
    return text_answer(421,
                       cat("This dashboard does not go by the name '", host,
                           "'.\n\nOpen it by its address in numbers or as ",
                           "localhost, or start rubato-exporter with --http-name for each name it has.\n"));
  if (from_elsewhere(request))
    return text_answer(403, "A page of another site asked for this. Open the dashboard itself.\n");
  const auto token = request.query.find("token");
  if (token != request.query.end() && same_token(token->second, options_.token)) return let_in(request);
  if (token != request.query.end() || !carries_token(request)) return locked();
  return std::nullopt;
}

}  // namespace rubato::exporter
