#include "exporter/http_server.h"

#include <microhttpd.h>
#include <netinet/in.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/fd.h"
#include "base/text.h"

namespace rubato::exporter {
namespace {

// As many as may scrape at once and as many again that hang; more wait in the kernel's queue.
constexpr unsigned kMostConnections = 256;
// Without a byte in either direction. Prometheus itself gives up after 10 s.
constexpr unsigned kIdleSeconds = 10;
// Request line and headers; a request that needs more is refused by the library.
constexpr std::size_t kConnectionMemory = 16U << 10U;

using Body = std::shared_ptr<const std::string>;

// The response keeps the page alive until the last byte of it is sent.
ssize_t read_body(void* of, std::uint64_t position, char* buffer, std::size_t most) {
  const std::string& text = **static_cast<Body*>(of);
  if (position >= text.size()) return MHD_CONTENT_READER_END_OF_STREAM;
  return static_cast<ssize_t>(text.copy(buffer, most, static_cast<std::size_t>(position)));
}

void free_body(void* of) {
  delete static_cast<Body*>(of);
}

MHD_Result send(MHD_Connection* connection, const HttpAnswer& answer) {
  constexpr std::size_t kBlock = 32U << 10U;
  MHD_Response* response = MHD_create_response_from_callback(answer.body->size(), kBlock, read_body,
                                                             new Body(answer.body), free_body);
  if (response == nullptr) return MHD_NO;
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, std::string(answer.content_type).c_str());
  if (answer.status == MHD_HTTP_METHOD_NOT_ALLOWED)
    MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
  const MHD_Result queued = MHD_queue_response(connection, answer.status, response);
  MHD_destroy_response(response);
  return queued;
}

HttpAnswer refusal() {
  static const Body kText = std::make_shared<const std::string>("this page can only be read\n");
  return {MHD_HTTP_METHOD_NOT_ALLOWED, "text/plain; charset=utf-8", kText};
}

MHD_Result answer(void* handler, MHD_Connection* connection, const char* url, const char* method, const char*,
                  const char*, std::size_t* upload_size, void** seen) {
  // First called with the headers alone; a body, if one comes, is thrown away before there is an answer.
  static int begun = 0;
  if (std::exchange(*seen, static_cast<void*>(&begun)) == nullptr) return MHD_YES;
  if (*upload_size > 0) {
    *upload_size = 0;
    return MHD_YES;
  }
  const std::string_view verb = method;
  if (verb != MHD_HTTP_METHOD_GET && verb != MHD_HTTP_METHOD_HEAD) return send(connection, refusal());
  const char* accept = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
  return send(connection, (*static_cast<HttpHandler*>(handler))(url, accept == nullptr ? "" : accept));
}

// Our own socket, so that what went wrong has its errno.
Result<ScopedFd> bound_socket(const ListenAddress& at) {
  const auto wrong = [&at](const char* hint) {
    return fail(from_errno(errno, cat("cannot listen on ", at.host, " port ", at.port), hint));
  };
  ScopedFd fd(socket(at.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.is_open()) return wrong("");
  const int yes = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&at.address), at.size) != 0)
    return wrong("another port: --listen 127.0.0.1:9837; `ss -ltnp` shows who has this one");
  if (listen(fd.get(), static_cast<int>(kMostConnections)) != 0) return wrong("");
  return fd;
}

std::uint16_t port_of(int fd) {
  sockaddr_storage there{};
  socklen_t size = sizeof there;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&there), &size) != 0) return 0;
  const auto* four = reinterpret_cast<const sockaddr_in*>(&there);
  const auto* six = reinterpret_cast<const sockaddr_in6*>(&there);
  return ntohs(there.ss_family == AF_INET6 ? six->sin6_port : four->sin_port);
}

}  // namespace

class HttpServer::Impl {
 public:
  explicit Impl(HttpHandler handler) : handler_(std::move(handler)) {}
  Impl(const Impl&) = delete;
  ~Impl() {
    if (daemon_ != nullptr) MHD_stop_daemon(daemon_);  // closes the socket
  }

  Status start(const ListenAddress& at) {
    auto fd = bound_socket(at);
    if (!fd) return fail(fd.error());
    port_ = port_of(fd->get());
    daemon_ = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC, 0, nullptr, nullptr, answer,
                               &handler_, MHD_OPTION_LISTEN_SOCKET, fd->get(), MHD_OPTION_CONNECTION_LIMIT,
                               kMostConnections, MHD_OPTION_CONNECTION_TIMEOUT, kIdleSeconds,
                               MHD_OPTION_CONNECTION_MEMORY_LIMIT, kConnectionMemory, MHD_OPTION_END);
    if (daemon_ == nullptr)
      return fail(ErrorCode::internal, cat("libmicrohttpd cannot serve on ", at.host, " port ", port_),
                  "`ulimit -n` and `ulimit -u` may be too low");
    static_cast<void>(fd->release());
    return {};
  }
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  HttpHandler handler_;
  MHD_Daemon* daemon_ = nullptr;
  std::uint16_t port_ = 0;
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

Result<std::unique_ptr<HttpServer>> HttpServer::start(const ListenAddress& address, HttpHandler handler) {
  auto impl = std::make_unique<Impl>(std::move(handler));
  if (const Status started = impl->start(address); !started) return fail(started.error());
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

std::uint16_t HttpServer::port() const {
  return impl_->port();
}

}  // namespace rubato::exporter
