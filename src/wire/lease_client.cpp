#include "wire/lease_client.h"

#include <limits>

#include "base/call_count.h"
#include "base/text.h"

namespace rubato::wire {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

}  // namespace

LeaseClient::LeaseClient(std::unique_ptr<Channel> channel, std::shared_ptr<const Clock> clock)
    : channel_(std::move(channel)), clock_(std::move(clock)), next_heartbeat_ns_(kNever) {}

template <class Reply>
Result<Reply> LeaseClient::ask(Body request) {
  const std::uint64_t mine = ++sequence_;
  if (const Status sent = channel_->send(encode({mine, std::move(request)})); !sent) {
    if (sent.error().code == ErrorCode::unavailable) gone_ = true;
    return fail(sent.error());
  }
  for (;;) {
    const auto datagram = channel_->receive(kReplyPatience);
    if (!datagram) {
      Error error = datagram.error();
      if (error.code == ErrorCode::unavailable) gone_ = true;
      if (error.code == ErrorCode::timeout) {
        error.what = cat("the guard has not answered for ", kReplyPatience);
        error.hint = "the driver may hang: look at dmesg and nvidia-smi";
      }
      return fail(std::move(error));
    }
    auto message = decode(*datagram);
    if (!message) return fail(message.error());
    if (std::holds_alternative<Heartbeat>(message->body)) note_sign_of_life();
    if (keep_last_words(*message)) continue;
    // 0: the guard could not even read the request's number.
    const bool unreadable = message->sequence == 0 && std::holds_alternative<Refused>(message->body);
    // The late reply to a request that was given up.
    if (message->sequence < mine && !unreadable) continue;
    if (auto* refused = std::get_if<Refused>(&message->body)) return fail(std::move(refused->error));
    if (auto* reply = std::get_if<Reply>(&message->body); reply != nullptr && message->sequence == mine) {
      return std::move(*reply);
    }
    return fail(ErrorCode::corrupt, "the guard sent a reply to something that was not asked");
  }
}

Status LeaseClient::hello(std::string client, std::string token) {
  const auto welcome = ask<Welcome>(Hello{std::move(client), std::move(token)});
  if (!welcome) return fail(welcome.error());
  return {};
}

Result<Granted> LeaseClient::acquire(Acquire request) {
  auto granted = ask<Granted>(std::move(request));
  if (granted) next_heartbeat_ns_ = (clock_->now() + kHeartbeatPeriod).ns;
  return granted;
}

Result<Applied> LeaseClient::apply(const GpuId& gpu, const Setting& setting) {
  return ask<Applied>(Apply{gpu, setting});
}

Result<RestorationReport> LeaseClient::restore(const GpuId& gpu) {
  auto restored = ask<Restored>(Restore{gpu});
  if (!restored) return fail(restored.error());
  if (restored->reports.size() != 1) {
    return fail(ErrorCode::corrupt, cat("the guard reports on ", restored->reports.size(),
                                        " GPUs; one restoration was asked for"));
  }
  return std::move(restored->reports.front());
}

Result<std::vector<RestorationReport>> LeaseClient::release() {
  // First: should the reply be lost, silence makes the guard restore all the same.
  next_heartbeat_ns_ = kNever;
  auto restored = ask<Restored>(Release{});
  if (!restored) return fail(restored.error());
  return std::move(restored->reports);
}

bool LeaseClient::keep_last_words(Message& message) {
  auto* restored = message.sequence == 0 ? std::get_if<Restored>(&message.body) : nullptr;
  if (restored == nullptr) return false;
  last_words_ = std::move(restored->reports);
  return true;
}

std::optional<std::vector<RestorationReport>> LeaseClient::last_words() {
  // What was sent and never read is told as an error before what was said.
  for (int errors = 0; errors < 2 && !last_words_;) {
    const auto datagram = channel_->receive(Seconds(0));
    auto message = datagram ? decode(*datagram) : Result<Message>(fail(datagram.error()));
    if (!message || !keep_last_words(*message)) errors += message ? 0 : 1;
  }
  return last_words_;
}

TimePoint LeaseClient::next_due() const {
  return TimePoint{next_heartbeat_ns_.load()};
}

Status LeaseClient::step(TimePoint now) {
  std::int64_t due = next_heartbeat_ns_.load();
  if (now.ns < due) return {};
  // Exchanged only if release() has not ended the heartbeats meanwhile.
  if (!next_heartbeat_ns_.compare_exchange_strong(due, (now + kHeartbeatPeriod).ns)) return {};
  const Status sent = channel_->send(encode({0, Heartbeat{}}));
  // A guard that was stopped for minutes has not read those before; it is no less alive for it.
  if (sent || sent.error().code == ErrorCode::timeout) return {};
  if (sent.error().code == ErrorCode::unavailable) gone_ = true;
  return sent;
}

}  // namespace rubato::wire
