// A machine's management controller as a Meter: what it measures at the machine's own supplies, by DCMI.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "meter/ipmi/controller.h"
#include "meter/ipmi/login.h"
#include "meter/ipmi/patient.h"
#include "meter/meter.h"

namespace rubato::meter::ipmi {

class IpmiMeter final : public Meter {
 public:
  /// Asks once, so that a wrong login or a controller without DCMI is known before a job starts.
  [[nodiscard]] static Result<std::unique_ptr<Meter>> open(std::string name, const Target& target,
                                                           std::shared_ptr<const Clock> clock);

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] const std::vector<MeterChannel>& channels() const override { return channels_; }
  [[nodiscard]] Seconds period() const override { return period_; }
  [[nodiscard]] Result<std::vector<MeterReading>> read() override;
  [[nodiscard]] CallCost cost() const override { return cost_; }

 private:
  IpmiMeter(std::string name, const Target& target, std::shared_ptr<const Clock> clock);
  [[nodiscard]] Result<DcmiReading> ask(Seconds at_most);

  std::string name_;
  std::string controller_;  // for messages
  Seconds period_;
  std::shared_ptr<const Clock> clock_;
  std::vector<MeterChannel> channels_;
  Patient<Result<DcmiReading>> patient_;
  CallCost cost_;
};

}  // namespace rubato::meter::ipmi
