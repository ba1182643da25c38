#include "meter/mqtt/broker.h"

#include <mosquitto.h>
#include <pthread.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>

#include "base/text.h"

namespace rubato::meter::mqtt {
namespace {

constexpr Seconds kPatience{1.5};  // for connection, login and subscription
constexpr Seconds kFirstPause{0.5};
constexpr Seconds kLongestPause{30};
// MQTT 3.1.1, section 3.2.2.3.
constexpr int kBadUserOrPassword = 4;
constexpr int kNotAuthorised = 5;
constexpr int kKeepAliveS =
    15;  // a broker that vanished without a word is noticed after one and a half of these
constexpr std::size_t kMostAtOnce = 256;

/// Writing to a broker that is gone must not end the program; TLS writes without the flag that prevents it.
class NoBrokenPipe {
 public:
  NoBrokenPipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoBrokenPipe() {
    const timespec now{};
    if (!was_pending_)
      while (sigtimedwait(&pipe_, nullptr, &now) > 0) {
      }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoBrokenPipe(const NoBrokenPipe&) = delete;
  NoBrokenPipe& operator=(const NoBrokenPipe&) = delete;

 private:
  sigset_t pipe_{}, before_{};
  bool was_pending_ = false;
};

Seconds since(std::chrono::steady_clock::time_point then) {
  return Seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count());
}

bool is_folder(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

std::string in_words(int code) {
  return code == MOSQ_ERR_ERRNO ? std::strerror(errno) : mosquitto_strerror(code);
}

}  // namespace

void Broker::Destroy::operator()(mosquitto* m) const {
  const NoBrokenPipe guard;
  if (m != nullptr) mosquitto_destroy(m);
}

void Broker::lose(Error why) {
  connection_.reset();
  stage_ = Stage::down;
  if (!down_since_) {
    down_since_ = clock_->now();
    pause_ = kFirstPause;
  }
  retry_at_ =
      Wall::now() + std::chrono::duration_cast<Wall::duration>(std::chrono::duration<double>(pause_.value()));
  pause_ = std::min(pause_ * 2, kLongestPause);
  why_ = std::move(why);
}

Error Broker::gone() const {
  if (!why_)
    return {ErrorCode::unavailable, cat("the MQTT broker ", login_.name, " has not answered yet"),
            "wait a moment"};
  const Seconds span = down_since_ ? clock_->now() - *down_since_ : Seconds(0);
  if (span < Seconds(1)) return *why_;
  return {why_->code, cat(why_->what, "; no readings for ", number(span.value(), 0), " s"), why_->hint};
}

// As the broker is asked here: without its authority's certificate one that wants TLS never answers.
std::string Broker::how_to_try() const {
  std::string tls;
  if (!login_.tls_ca.empty())
    tls = cat(is_folder(login_.tls_ca) ? " --capath " : " --cafile ", login_.tls_ca);
  return cat("mosquitto_sub -h ", login_.where.host, " -p ", login_.where.port, tls,
             login_.user.empty() ? "" : cat(" -u ", login_.user, " -P PASSWORD"),
             " -t '#' shows whether it answers");
}

void Broker::on_connect(mosquitto* m, void* self, int code) {
  auto& broker = *static_cast<Broker*>(self);
  if (code != 0) {
    const bool login = code == kBadUserOrPassword || code == kNotAuthorised;
    broker.refusal_ =
        Error{login ? ErrorCode::no_permission : ErrorCode::unavailable,
              cat("the MQTT broker ", broker.login_.name, " refuses: ", mosquitto_connack_string(code)),
              login ? "check user and password in meters.toml" : "it is tried again"};
    return;
  }
  std::vector<char*> topics;
  for (std::string& topic : broker.login_.topics) topics.push_back(topic.data());
  static_cast<void>(mosquitto_subscribe_multiple(m, nullptr, static_cast<int>(topics.size()), topics.data(),
                                                 0, 0, nullptr));
}

void Broker::on_subscribe(mosquitto*, void* self, int, int count, const int* granted) {
  auto& broker = *static_cast<Broker*>(self);
  constexpr int kRefused = 128;  // MQTT 3.1.1, section 3.9.3
  for (int i = 0; i < count; ++i)
    if (granted[i] >= kRefused) {
      broker.refusal_ = Error{ErrorCode::no_permission,
                              cat("the MQTT broker ", broker.login_.name, " does not let this user read ",
                                  broker.login_.topics[static_cast<std::size_t>(i)]),
                              "allow it in the broker's access list"};
      return;
    }
  broker.stage_ = Stage::up;
  broker.down_since_.reset();
  broker.why_.reset();
}

void Broker::on_message(mosquitto*, void* self, const mosquitto_message* message) {
  auto& broker = *static_cast<Broker*>(self);
  if (message->retain || broker.arrived_.size() >= kMostAtOnce) return;
  const auto* text = static_cast<const char*>(message->payload);
  broker.arrived_.push_back(
      {message->topic,
       text == nullptr ? std::string() : std::string(text, static_cast<std::size_t>(message->payloadlen)),
       broker.clock_->now()});
}

void Broker::begin() {
  static std::once_flag once;
  std::call_once(once, [] { mosquitto_lib_init(); });
  begun_ = Wall::now();
  refusal_.reset();
  connection_.reset(mosquitto_new(nullptr, true, this));
  mosquitto* m = connection_.get();
  if (m == nullptr)
    return lose({ErrorCode::internal, "libmosquitto has no memory for a connection", "it is tried again"});
  mosquitto_connect_callback_set(m, on_connect);
  mosquitto_subscribe_callback_set(m, on_subscribe);
  mosquitto_message_callback_set(m, on_message);
  int code = MOSQ_ERR_SUCCESS;
  if (!login_.user.empty()) code = mosquitto_username_pw_set(m, login_.user.c_str(), login_.password.c_str());
  if (code == MOSQ_ERR_SUCCESS && !login_.tls_ca.empty()) {
    const bool folder = is_folder(login_.tls_ca);
    code = mosquitto_tls_set(m, folder ? nullptr : login_.tls_ca.c_str(),
                             folder ? login_.tls_ca.c_str() : nullptr, nullptr, nullptr, nullptr);
  }
  if (code == MOSQ_ERR_SUCCESS)
    code = mosquitto_connect_async(m, login_.where.host.c_str(), login_.where.port, kKeepAliveS);
  stage_ = Stage::connecting;
  if (code != MOSQ_ERR_SUCCESS)
    lose({ErrorCode::unavailable, cat("cannot reach the MQTT broker ", login_.name, ": ", in_words(code)),
          how_to_try()});
}

void Broker::step(Seconds at_most) {
  const auto milliseconds = std::max(0, static_cast<int>(at_most.value() * 1e3));
  const bool was_up = is_up();
  const int code = mosquitto_loop(connection_.get(), milliseconds, 1);
  if (refusal_) return lose(*refusal_);
  const std::string hint = how_to_try();
  if (code != MOSQ_ERR_SUCCESS)
    return lose({ErrorCode::unavailable,
                 cat(was_up ? "the connection to the MQTT broker " : "cannot reach the MQTT broker ",
                     login_.name, was_up ? " broke: " : ": ", in_words(code)),
                 hint});
  if (stage_ == Stage::connecting && since(begun_) > kPatience)
    lose({ErrorCode::timeout, cat("the MQTT broker ", login_.name, " did not answer within ", kPatience),
          hint});
}

Result<std::vector<Message>> Broker::listen(Seconds at_most) {
  const NoBrokenPipe guard;
  const auto begin_of_call = Wall::now();
  if (stage_ == Stage::down) {
    if (why_ && Wall::now() < retry_at_) return fail(gone());
    begin();
  }
  while (stage_ != Stage::down && arrived_.empty()) {
    const Seconds left = at_most - since(begin_of_call);
    if (left <= Seconds(0)) break;
    step(left);
  }
  // A device may send power and energy apart: what follows at once belongs to it.
  for (std::size_t i = 0; stage_ != Stage::down && !arrived_.empty() && i < kMostAtOnce; ++i) {
    const std::size_t before = arrived_.size();
    step(Seconds(0.02));
    if (arrived_.size() == before) break;
  }
  if (arrived_.empty() && !is_up()) return fail(gone());
  return std::exchange(arrived_, {});
}

Status Broker::connect(Seconds at_most) {
  const NoBrokenPipe guard;
  const auto begin_of_call = Wall::now();
  if (stage_ == Stage::down) begin();
  while (stage_ == Stage::connecting) {
    const Seconds left = at_most - since(begin_of_call);
    if (left <= Seconds(0)) break;
    step(left);
  }
  if (!is_up()) return fail(gone());
  return {};
}

void Broker::publish(const std::string& topic, const std::string& payload) {
  const NoBrokenPipe guard;
  if (is_up())
    static_cast<void>(mosquitto_publish(connection_.get(), nullptr, topic.c_str(),
                                        static_cast<int>(payload.size()), payload.data(), 0, false));
}

}  // namespace rubato::meter::mqtt
