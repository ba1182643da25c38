// A power distribution unit, or anything else with an SNMP agent, as a Meter: one request per look.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "meter/meter.h"
#include "meter/snmp/session.h"
#include "meter/snmp/target.h"
#include "meter/watched_register.h"

namespace rubato::meter::snmp {

class SnmpMeter final : public Meter {
 public:
  /// Asks once, so that a wrong object or login is known before a job starts.
  [[nodiscard]] static Result<std::unique_ptr<Meter>> open(std::string name, Target target,
                                                           std::shared_ptr<const Clock> clock);

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] const std::vector<MeterChannel>& channels() const override { return channels_; }
  [[nodiscard]] Seconds period() const override { return target_.period; }
  [[nodiscard]] Result<std::vector<MeterReading>> read() override;
  [[nodiscard]] std::optional<Error> complaint() const override { return complaint_; }
  [[nodiscard]] CallCost cost() const override { return cost_; }

 private:
  /// What was seen of one quantity before.
  struct Memory {
    std::optional<ValueType> type;
    std::optional<WatchedRegister> energy;
  };
  struct Counted {
    Value value;
    double factor = 0;  // of one count, in W or J
    double number = 0;
  };

  SnmpMeter(std::string name, Target target, Endpoint where, std::shared_ptr<const Clock> clock);
  [[nodiscard]] Result<std::vector<Value>> ask();
  [[nodiscard]] Result<Counted> count(const Quantity& quantity, Memory& memory, const std::string& whose,
                                      const Value*& next) const;
  [[nodiscard]] EnergyRegister::Told energy(const Counted& counted, Memory& memory, const std::string& whose,
                                            TimePoint at) const;
  [[nodiscard]] std::vector<MeterReading> interpret(const std::vector<Value>& values, TimePoint at);

  std::string name_;
  Target target_;
  Endpoint where_;
  std::shared_ptr<const Clock> clock_;
  std::vector<MeterChannel> channels_;
  std::vector<Oid> oids_;
  std::vector<Memory> power_memory_, energy_memory_;
  std::optional<Session> session_;
  std::optional<Error> complaint_;
  CallCost cost_;
};

}  // namespace rubato::meter::snmp
