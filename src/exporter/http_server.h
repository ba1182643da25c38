// Pages over HTTP, by GNU libmicrohttpd: all connections on one thread, each with a limit on memory and on
// idle time, so that one that is slow or says nothing holds up nobody.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "exporter/http_message.h"
#include "exporter/listen_address.h"

namespace rubato::exporter {

/// Called on the server's thread, for GET and HEAD; anything else is answered 405 without it.
using HttpHandler = std::function<HttpAnswer(const HttpRequest&)>;

struct HttpLimits {
  // As many as may ask at once and as many again that hang; more wait in the kernel's queue.
  unsigned connections = 256;
  // Without a byte in either direction. Prometheus itself gives up after 10 s.
  unsigned idle_s = 10;
};

class HttpServer {
 public:
  /// Serves from its return until it is destroyed; streams and answers still to come end then. Errors: busy
  /// or no_permission where the address cannot be bound, naming it; `option` is the one it was typed after.
  [[nodiscard]] static Result<std::unique_ptr<HttpServer>> start(const ListenAddress& address,
                                                                 HttpHandler handler, HttpLimits limits = {},
                                                                 const char* option = "--listen");
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;

  /// The one chosen by the kernel where the address named none.
  [[nodiscard]] std::uint16_t port() const;

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace rubato::exporter
