// Tells the client of a guard, now and then, that the driver is slow and not stuck.
#pragma once

#include "base/call_count.h"
#include "base/clock.h"
#include "wire/channel.h"
#include "wire/lease_client.h"
#include "wire/message.h"

namespace rubato::guard {

/// Speaks before driver calls, one for each process.
class SignOfLife final : public CallWatcher {
 public:
  explicit SignOfLife(wire::SocketChannel& channel) : channel_(channel), told_(clock_.now()) {
    set_call_watcher(this);
  }
  ~SignOfLife() override { set_call_watcher(nullptr); }
  SignOfLife(const SignOfLife&) = delete;
  SignOfLife& operator=(const SignOfLife&) = delete;

  void call_begins() noexcept override { tell(); }
  void tell() noexcept {
    const TimePoint now = clock_.now();
    if (now - told_ < wire::kHeartbeatPeriod) return;
    told_ = now;
    (void)channel_.send(wire::encode({0, wire::Heartbeat{}}));  // a client that is gone is noticed elsewhere
  }

 private:
  RealClock clock_;  // the client's patience is on the wall clock
  wire::SocketChannel& channel_;
  TimePoint told_;
};

}  // namespace rubato::guard
