// A page over HTTP, by GNU libmicrohttpd: all connections on one thread, each with a limit on memory and on
// idle time, so that one that is slow or says nothing holds up nobody.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "exporter/listen_address.h"

namespace rubato::exporter {

struct HttpAnswer {
  unsigned status = 200;
  std::string_view content_type;
  std::shared_ptr<const std::string> body;
};

/// Called on the server's thread, for GET and HEAD; anything else is answered 405 without it. `accept`: the
/// header of that name, or empty.
using HttpHandler = std::function<HttpAnswer(std::string_view path, std::string_view accept)>;

class HttpServer {
 public:
  /// Serves from its return until it is destroyed. Errors: busy or no_permission where the address cannot be
  /// bound, naming it.
  [[nodiscard]] static Result<std::unique_ptr<HttpServer>> start(const ListenAddress& address,
                                                                 HttpHandler handler);
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
