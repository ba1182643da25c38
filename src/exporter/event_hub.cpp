#include "exporter/event_hub.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "base/text.h"

namespace rubato::exporter {
namespace {

// What a browser waits before it asks again after the connection was lost.
constexpr std::string_view kRetry = "retry: 2000\n\n";

std::shared_ptr<const std::string> frame_of(const EventHub::Event& event) {
  return std::make_shared<const std::string>(cat("event: ", event.name, "\ndata: ", event.data, "\n\n"));
}

}  // namespace

class EventHub::Client final : public HttpStream {
 public:
  explicit Client(std::size_t most) : most_(most) {}

  /// False: it is over, and was until now.
  bool push(const Frame& frame) {
    std::function<void()> wake;
    bool fits = true;
    {
      const std::lock_guard lock(mutex_);
      if (ended_) return true;
      fits = waiting_.size() < most_;
      if (fits) {
        waiting_.push_back(frame);
      } else {
        waiting_.clear();
        ended_ = true;
      }
      wake = wake_;
    }
    if (wake) wake();
    return fits;
  }

  std::size_t read(char* buffer, std::size_t most) override {
    const std::lock_guard lock(mutex_);
    std::size_t written = 0;
    while (written < most && !waiting_.empty()) {
      const std::string& frame = *waiting_.front();
      const std::size_t part = frame.copy(buffer + written, most - written, sent_);
      written += part;
      sent_ += part;
      if (sent_ < frame.size()) break;
      waiting_.pop_front();
      sent_ = 0;
    }
    return written;
  }
  bool ended() const override {
    const std::lock_guard lock(mutex_);
    return ended_;
  }
  bool ready() const override {
    const std::lock_guard lock(mutex_);
    return ended_ || !waiting_.empty();
  }
  void on_ready(std::function<void()> wake) override {
    const std::lock_guard lock(mutex_);
    wake_ = std::move(wake);
  }

 private:
  const std::size_t most_;
  mutable std::mutex mutex_;
  std::deque<Frame> waiting_;
  std::size_t sent_ = 0;  // of the first
  bool ended_ = false;
  std::function<void()> wake_;
};

std::vector<std::shared_ptr<EventHub::Client>> EventHub::living() {
  std::vector<std::shared_ptr<Client>> out;
  for (const auto& one : clients_)
    if (auto client = one.lock(); client && !client->ended()) out.push_back(std::move(client));
  clients_.assign(out.begin(), out.end());
  return out;
}

std::shared_ptr<HttpStream> EventHub::subscribe(std::span<const Event> first) {
  const std::lock_guard lock(mutex_);
  if (living().size() >= most_clients_) return nullptr;
  // The first ones come at once, and do not count.
  auto client = std::make_shared<Client>(most_waiting_ + first.size() + 1);
  client->push(std::make_shared<const std::string>(kRetry));
  for (const Event& event : first) client->push(frame_of(event));
  clients_.push_back(client);
  return client;
}

void EventHub::publish(const Event& event) {
  const auto frame = frame_of(event);
  const std::lock_guard lock(mutex_);
  for (const auto& client : living())
    if (!client->push(frame)) ++dropped_;
}

std::size_t EventHub::clients() {
  const std::lock_guard lock(mutex_);
  return living().size();
}

std::uint64_t EventHub::dropped() {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

}  // namespace rubato::exporter
