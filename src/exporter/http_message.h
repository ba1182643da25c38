// What a server and the pages it serves say to each other, without sockets: tests ask pages directly.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rubato::exporter {

/// A GET or HEAD. Everything in it is a stranger's text.
struct HttpRequest {
  std::string path;                            // decoded, without the query
  std::map<std::string, std::string> headers;  // names in lower case; several of one name joined by ", "
  std::map<std::string, std::string> query;    // the first of each name

  /// Empty where there is none.
  [[nodiscard]] std::string_view header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string_view() : std::string_view(found->second);
  }
};

/// An answer that goes on: bytes as they come, until it ends or the client goes.
class HttpStream {
 public:
  virtual ~HttpStream() = default;
  /// At most `most` bytes; 0: none for now, or the end.
  [[nodiscard]] virtual std::size_t read(char* buffer, std::size_t most) = 0;
  [[nodiscard]] virtual bool ended() const = 0;
  /// There is something to read, or the end.
  [[nodiscard]] virtual bool ready() const = 0;
  /// Called from any thread whenever it becomes ready; never while it is being read.
  virtual void on_ready(std::function<void()> wake) = 0;
};

class HttpLater;

struct HttpAnswer {
  unsigned status = 200;
  std::string_view content_type;  // of static storage
  std::shared_ptr<const std::string> body;
  std::vector<std::pair<std::string, std::string>> headers{};
  std::shared_ptr<HttpStream> stream{};  // instead of a body
  std::shared_ptr<HttpLater> later{};    // instead of all of it
};

[[nodiscard]] inline HttpAnswer text_answer(unsigned status, std::string text) {
  return {status, "text/plain; charset=utf-8", std::make_shared<const std::string>(std::move(text))};
}

/// An answer somebody else is still working on. Given once, from any thread.
class HttpLater {
 public:
  void give(HttpAnswer answer) {
    std::function<void()> wake;
    {
      const std::lock_guard lock(mutex_);
      answer_ = std::move(answer);
      wake = wake_;
    }
    if (wake) wake();
  }
  [[nodiscard]] std::optional<HttpAnswer> answer() const {
    const std::lock_guard lock(mutex_);
    return answer_;
  }
  void on_ready(std::function<void()> wake) {
    const std::lock_guard lock(mutex_);
    wake_ = std::move(wake);
  }

 private:
  mutable std::mutex mutex_;
  std::optional<HttpAnswer> answer_;
  std::function<void()> wake_;
};

}  // namespace rubato::exporter
