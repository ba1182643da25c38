// A smart plug, or anything else that publishes watts or joules over MQTT, as a Meter. Readings come when the
// device sends them and carry the time of their arrival.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "meter/meter.h"
#include "meter/mqtt/broker.h"
#include "meter/mqtt/json_number.h"
#include "meter/mqtt/plan.h"
#include "meter/watched_register.h"

namespace rubato::meter::mqtt {

class MqttMeter final : public Meter {
 public:
  /// Connected and subscribed, or why not; whether the device exists shows with its first message.
  [[nodiscard]] static Result<std::unique_ptr<Meter>> open(std::string name, Plan plan,
                                                           std::shared_ptr<const Clock> clock);

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] const std::vector<MeterChannel>& channels() const override { return plan_.channels; }
  [[nodiscard]] Seconds period() const override;
  [[nodiscard]] Result<std::vector<MeterReading>> read() override;
  [[nodiscard]] std::optional<Error> complaint() const override { return complaint_; }
  [[nodiscard]] CallCost cost() const override { return cost_; }

 private:
  MqttMeter(std::string name, Plan plan, BrokerLogin login, std::shared_ptr<const Clock> clock);
  void take(const Message& message, std::vector<MeterReading>& readings);
  [[nodiscard]] Result<double> value(const JsonMessage& json, const Field& field,
                                     const std::string& whose) const;
  void ask();
  [[nodiscard]] Status heard_lately() const;
  void complain(Error error) {
    if (!complaint_) complaint_ = std::move(error);
  }

  std::string name_;
  Plan plan_;
  std::shared_ptr<const Clock> clock_;
  Broker broker_;
  std::vector<WatchedRegister> registers_;  // by channel
  TimePoint opened_;
  std::optional<TimePoint> heard_, asked_;
  Seconds longest_silence_{};
  std::optional<Error> complaint_;
  CallCost cost_;
};

}  // namespace rubato::meter::mqtt
