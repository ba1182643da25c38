#include "exporter/http_server.h"

#include <microhttpd.h>
#include <netinet/in.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/fd.h"
#include "base/text.h"
#include "exporter/http_suspended.h"

namespace rubato::exporter {
namespace {

// Request line and headers; a request that needs more is refused by the library.
constexpr std::size_t kConnectionMemory = 16U << 10U;
constexpr std::size_t kBlock = 32U << 10U;
// What may wait in the kernel for a client of a stream: little, so that one that does not read is noticed.
constexpr int kStreamSendBuffer = 64 << 10;

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

/// One stream on its connection.
struct Flow {
  std::shared_ptr<HttpStream> stream;
  MHD_Connection* connection = nullptr;
  SuspendedConnections* suspended = nullptr;
};

ssize_t read_flow(void* of, std::uint64_t, char* buffer, std::size_t most) {
  const Flow& flow = *static_cast<Flow*>(of);
  if (flow.suspended->ending()) return MHD_CONTENT_READER_END_OF_STREAM;
  if (const std::size_t got = flow.stream->read(buffer, most); got > 0) return static_cast<ssize_t>(got);
  if (flow.stream->ended()) return MHD_CONTENT_READER_END_OF_STREAM;
  flow.suspended->suspend(flow.connection);
  // What came between the two would have woken nobody.
  if (flow.stream->ready()) flow.suspended->resume(flow.connection);
  return 0;
}

void free_flow(void* of) {
  Flow* flow = static_cast<Flow*>(of);
  flow->stream->on_ready({});
  delete flow;
}

MHD_Response* streamed(MHD_Connection* connection, const std::shared_ptr<HttpStream>& stream,
                       SuspendedConnections& suspended) {
  if (const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD))
    setsockopt(info->connect_fd, SOL_SOCKET, SO_SNDBUF, &kStreamSendBuffer, sizeof kStreamSendBuffer);
  stream->on_ready([connection, &suspended] { suspended.resume(connection); });
  return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, kBlock, read_flow,
                                           new Flow{stream, connection, &suspended}, free_flow);
}

MHD_Result send(MHD_Connection* connection, const HttpAnswer& answer, SuspendedConnections& suspended) {
  MHD_Response* response = answer.stream
                               ? streamed(connection, answer.stream, suspended)
                               : MHD_create_response_from_callback(answer.body->size(), kBlock, read_body,
                                                                   new Body(answer.body), free_body);
  if (response == nullptr) return MHD_NO;
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, std::string(answer.content_type).c_str());
  for (const auto& [name, value] : answer.headers)
    MHD_add_response_header(response, name.c_str(), value.c_str());
  const MHD_Result queued = MHD_queue_response(connection, answer.status, response);
  MHD_destroy_response(response);
  return queued;
}

HttpAnswer refusal() {
  HttpAnswer out = text_answer(MHD_HTTP_METHOD_NOT_ALLOWED, "this page can only be read\n");
  out.headers.emplace_back(MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
  return out;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

MHD_Result keep_header(void* request, MHD_ValueKind, const char* name, const char* value) {
  std::string& kept = static_cast<HttpRequest*>(request)->headers[lower(name)];
  if (!kept.empty()) kept += ", ";
  if (value != nullptr) kept += value;
  return MHD_YES;
}

MHD_Result keep_argument(void* request, MHD_ValueKind, const char* name, const char* value) {
  static_cast<HttpRequest*>(request)->query.try_emplace(name, value == nullptr ? "" : value);
  return MHD_YES;
}

HttpRequest request_of(MHD_Connection* connection, const char* path) {
  HttpRequest request{path, {}, {}};
  MHD_get_connection_values(connection, MHD_HEADER_KIND, keep_header, &request);
  MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, keep_argument, &request);
  return request;
}

// Our own socket, so that what went wrong has its errno.
Result<ScopedFd> bound_socket(const ListenAddress& at, const HttpLimits& limits, const char* option) {
  const auto wrong = [&at](const std::string& hint) {
    return fail(from_errno(errno, cat("cannot listen on ", at.host, " port ", at.port), hint));
  };
  ScopedFd fd(socket(at.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.is_open()) return wrong("");
  const int yes = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&at.address), at.size) != 0)
    return wrong(cat("another port: ", option, " 127.0.0.1:9837; `ss -ltnp` shows who has this one"));
  if (listen(fd.get(), static_cast<int>(limits.connections)) != 0) return wrong("");
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
    suspended_.end();
    if (daemon_ != nullptr) MHD_stop_daemon(daemon_);  // closes the socket
  }

  Status start(const ListenAddress& at, const HttpLimits& limits, const char* option) {
    auto fd = bound_socket(at, limits, option);
    if (!fd) return fail(fd.error());
    port_ = port_of(fd->get());
    daemon_ = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, nullptr, nullptr,
                               asked, this, MHD_OPTION_LISTEN_SOCKET, fd->get(), MHD_OPTION_CONNECTION_LIMIT,
                               limits.connections, MHD_OPTION_CONNECTION_TIMEOUT, limits.idle_s,
                               MHD_OPTION_CONNECTION_MEMORY_LIMIT, kConnectionMemory,
                               MHD_OPTION_NOTIFY_COMPLETED, over, nullptr, MHD_OPTION_END);
    if (daemon_ == nullptr)
      return fail(ErrorCode::internal, cat("libmicrohttpd cannot serve on ", at.host, " port ", port_),
                  "`ulimit -n` and `ulimit -u` may be too low");
    static_cast<void>(fd->release());
    return {};
  }
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  /// One request, from its headers to the end of its answer.
  struct Exchange {
    std::shared_ptr<HttpLater> later;
  };

  static MHD_Result asked(void* impl, MHD_Connection* connection, const char* url, const char* method,
                          const char*, const char*, std::size_t* upload_size, void** seen) {
    // First called with the headers alone; a body, if one comes, is thrown away before there is an answer.
    if (*seen == nullptr) {
      *seen = new Exchange;
      return MHD_YES;
    }
    if (*upload_size > 0) {
      *upload_size = 0;
      return MHD_YES;
    }
    return static_cast<Impl*>(impl)->answer(connection, url, method, *static_cast<Exchange*>(*seen));
  }

  static void over(void*, MHD_Connection*, void** seen, MHD_RequestTerminationCode) {
    const auto* exchange = static_cast<Exchange*>(*seen);
    if (exchange != nullptr && exchange->later) exchange->later->on_ready({});
    delete exchange;
    *seen = nullptr;
  }

  MHD_Result answer(MHD_Connection* connection, const char* url, std::string_view method,
                    Exchange& exchange) {
    if (exchange.later) return finish(connection, exchange);
    if (method != MHD_HTTP_METHOD_GET && method != MHD_HTTP_METHOD_HEAD)
      return send(connection, refusal(), suspended_);
    const HttpAnswer given = handler_(request_of(connection, url));
    if (!given.later) return send(connection, given, suspended_);
    exchange.later = given.later;
    return finish(connection, exchange);
  }

  // The library calls again once the connection was woken.
  MHD_Result finish(MHD_Connection* connection, const Exchange& exchange) {
    if (const auto given = exchange.later->answer()) return send(connection, *given, suspended_);
    if (suspended_.ending())
      return send(connection, text_answer(MHD_HTTP_SERVICE_UNAVAILABLE, "the server ends\n"), suspended_);
    exchange.later->on_ready([this, connection] { suspended_.resume(connection); });
    suspended_.suspend(connection);
    if (exchange.later->answer()) suspended_.resume(connection);
    return MHD_YES;
  }

  HttpHandler handler_;
  SuspendedConnections suspended_;
  MHD_Daemon* daemon_ = nullptr;
  std::uint16_t port_ = 0;
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

Result<std::unique_ptr<HttpServer>> HttpServer::start(const ListenAddress& address, HttpHandler handler,
                                                      HttpLimits limits, const char* option) {
  auto impl = std::make_unique<Impl>(std::move(handler));
  if (const Status started = impl->start(address, limits, option); !started) return fail(started.error());
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

std::uint16_t HttpServer::port() const {
  return impl_->port();
}

}  // namespace rubato::exporter
