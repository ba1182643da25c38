// Server-sent events (WHATWG HTML, "Server-sent events") to many clients. Each has a queue of its own with a
// bound: one that does not read as fast as there is news is ended, and asks again when it can; nobody waits
// for it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exporter/http_message.h"

namespace rubato::exporter {

class EventHub {
 public:
  /// `most_clients` at once; `most_waiting` events in the queue of each.
  EventHub(std::size_t most_clients, std::size_t most_waiting)
      : most_clients_(most_clients), most_waiting_(most_waiting) {}

  /// An event; both are one line.
  struct Event {
    std::string_view name;
    std::string_view data;
  };

  /// Begins with events of its own. Null: there are as many clients as there may be.
  [[nodiscard]] std::shared_ptr<HttpStream> subscribe(std::span<const Event> first = {});
  void publish(const Event& event);

  [[nodiscard]] std::size_t clients();
  /// Ended because they did not read.
  [[nodiscard]] std::uint64_t dropped();

 private:
  class Client;
  using Frame = std::shared_ptr<const std::string>;
  [[nodiscard]] std::vector<std::shared_ptr<Client>> living();

  std::size_t most_clients_;
  std::size_t most_waiting_;
  std::mutex mutex_;  // of what follows
  std::vector<std::weak_ptr<Client>> clients_;
  std::uint64_t dropped_ = 0;
};

}  // namespace rubato::exporter
