// The connection to an MQTT broker: made again with growing pauses when it breaks, run only inside listen(),
// so that no thread of its own is needed.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "meter/endpoint.h"

struct mosquitto;
struct mosquitto_message;

namespace rubato::meter::mqtt {

struct Message {
  std::string topic;
  std::string payload;
  TimePoint arrived;
};

struct BrokerLogin {
  Endpoint where;    // numeric without TLS, which needs the name
  std::string name;  // for messages
  std::string user;  // empty: none
  std::string password;
  std::string tls_ca;  // a file or folder; empty: no TLS
  std::vector<std::string> topics;
};

class Broker {
 public:
  Broker(BrokerLogin login, std::shared_ptr<const Clock> clock)
      : login_(std::move(login)), clock_(std::move(clock)) {}
  Broker(const Broker&) = delete;
  Broker& operator=(const Broker&) = delete;

  /// Until something arrived, or the connection is lost, or `at_most` of wall time is over. What the broker
  /// kept from before (retained messages) is dropped: nothing says how old it is. Errors say since when there
  /// is no connection.
  [[nodiscard]] Result<std::vector<Message>> listen(Seconds at_most);
  /// Connected, logged in and subscribed, or why not, after at most `at_most`.
  [[nodiscard]] Status connect(Seconds at_most);
  [[nodiscard]] bool is_up() const { return stage_ == Stage::up; }
  /// Without waiting; nothing is kept for later where there is no connection.
  void publish(const std::string& topic, const std::string& payload);

 private:
  using Wall = std::chrono::steady_clock;
  enum class Stage { down, connecting, up };
  struct Destroy {
    void operator()(mosquitto* m) const;
  };

  void begin();
  void step(Seconds at_most);
  void lose(Error why);
  [[nodiscard]] Error gone() const;
  [[nodiscard]] std::string how_to_try() const;
  static void on_connect(mosquitto* m, void* self, int code);
  static void on_subscribe(mosquitto* m, void* self, int id, int count, const int* granted);
  static void on_message(mosquitto* m, void* self, const mosquitto_message* message);

  BrokerLogin login_;
  std::shared_ptr<const Clock> clock_;
  std::unique_ptr<mosquitto, Destroy> connection_;
  Stage stage_ = Stage::down;
  Wall::time_point begun_, retry_at_;
  Seconds pause_;
  std::optional<TimePoint> down_since_;
  std::optional<Error> why_;      // there was no connection at the last attempt
  std::optional<Error> refusal_;  // what the broker said in this one
  std::vector<Message> arrived_;
};

}  // namespace rubato::meter::mqtt
