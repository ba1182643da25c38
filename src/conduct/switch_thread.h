// Sends a plan's requests beside a real job: a thread that sleeps until the next one is due. One request at a
// time; what became due meanwhile is dropped where it is late by then.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "conduct/switcher.h"

namespace rubato::conduct {

class SwitchThread final : public Switcher {
 public:
  SwitchThread(std::shared_ptr<const Clock> clock, govern::SwitchLimits limits);
  ~SwitchThread() override;

  void send_by(SendClocks send) override;
  void plan(std::vector<govern::TimedSwitch> upcoming) override;
  void stop() override;
  [[nodiscard]] SwitcherState state() const override;

 private:
  void loop();

  std::shared_ptr<const Clock> clock_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;  // something new to send, or the end
  std::condition_variable idle_;     // no request is under way
  govern::SwitchQueue queue_;
  SendClocks send_;
  SwitcherState state_;
  bool sending_ = false;
  bool over_ = false;
  std::thread thread_;  // last: it uses everything above
};

}  // namespace rubato::conduct
