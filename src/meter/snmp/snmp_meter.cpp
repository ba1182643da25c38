#include "meter/snmp/snmp_meter.h"

#include <sys/socket.h>

#include <chrono>
#include <cmath>
#include <limits>

#include "base/text.h"

namespace rubato::meter::snmp {
namespace {

/// No MIB here gives a number more digits; a higher one means the agent's table is not what the preset takes
/// it for.
constexpr std::int64_t kMostDigits = 9;

void add_oids(std::vector<Oid>& oids, const std::optional<Quantity>& quantity) {
  if (!quantity) return;
  oids.push_back(quantity->value);
  if (quantity->decimal_digits) oids.push_back(*quantity->decimal_digits);
  if (quantity->unit) oids.push_back(*quantity->unit);
}

/// RFC 2578, section 7.1: a Gauge32 stays at its top and a counter turns there. Many agents turn the gauges
/// that they count energy in all the same.
std::optional<std::uint64_t> top_of(ValueType type) {
  if (type == ValueType::counter32 || type == ValueType::gauge32)
    return std::numeric_limits<std::uint32_t>::max();
  if (type == ValueType::counter64) return std::numeric_limits<std::uint64_t>::max();
  return std::nullopt;
}

Error absent(const Oid& oid, const std::string& whose) {
  return {ErrorCode::not_found, cat(whose, ": the agent has no object ", to_text(oid)),
          "check outlet and preset: snmpwalk -v2c -c COMMUNITY HOST 1.3.6.1.4.1 lists what it has"};
}

}  // namespace

SnmpMeter::SnmpMeter(std::string name, Target target, Endpoint where, std::shared_ptr<const Clock> clock)
    : name_(std::move(name)), target_(std::move(target)), where_(std::move(where)), clock_(std::move(clock)) {
  for (const ChannelPlan& plan : target_.channels) {
    channels_.push_back(plan.channel);
    add_oids(oids_, plan.power);
    add_oids(oids_, plan.energy);
  }
  power_memory_.resize(channels_.size());
  energy_memory_.resize(channels_.size());
}

Result<std::unique_ptr<Meter>> SnmpMeter::open(std::string name, Target target,
                                               std::shared_ptr<const Clock> clock) {
  auto where = numeric(target.agent, SOCK_DGRAM);
  if (!where) return fail(where.error());
  std::unique_ptr<SnmpMeter> meter(
      new SnmpMeter(std::move(name), std::move(target), std::move(*where), std::move(clock)));
  auto first = meter->read();
  if (!first) return fail(first.error());
  if (meter->complaint_) return fail(*meter->complaint_);
  return meter;
}

Result<std::vector<Value>> SnmpMeter::ask() {
  if (!session_) {
    auto session = Session::open(where_, target_.agent.text(), target_.login);
    if (!session) return fail(session.error());
    session_.emplace(std::move(*session));
  }
  auto values = session_->get(oids_);
  // A new conversation learns an agent's new identity after its restart.
  if (!values) session_.reset();
  return values;
}

Result<std::vector<MeterReading>> SnmpMeter::read() {
  complaint_.reset();
  const auto wall_before = std::chrono::steady_clock::now();
  const TimePoint before = clock_->now();
  auto values = ask();
  const TimePoint after = clock_->now();
  ++cost_.calls;
  cost_.inside +=
      Seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_before).count());
  if (!values) return fail(values.error());
  auto readings = interpret(*values, before + (after - before) / 2);
  if (readings.empty() && complaint_) return fail(*complaint_);
  return readings;
}

/// `next` points at the quantity's own values and is moved behind them.
Result<SnmpMeter::Counted> SnmpMeter::count(const Quantity& quantity, Memory& memory,
                                            const std::string& whose, const Value*& next) const {
  const Value& value = *next++;
  const Value* digits = quantity.decimal_digits ? next++ : nullptr;
  const Value* unit = quantity.unit ? next++ : nullptr;
  if (value.type == ValueType::missing) return fail(absent(quantity.value, whose));
  const bool is_text = value.type == ValueType::text;
  if (memory.type && is_text != (*memory.type == ValueType::text))
    return fail(ErrorCode::corrupt,
                cat(whose, ": object ", to_text(quantity.value), " was ", name_of(*memory.type),
                    ", now it is ", name_of(value.type)),
                "its readings are left out until it is again what it was");
  Counted counted{value, quantity.factor, static_cast<double>(value.whole)};
  if (value.type == ValueType::counter64)
    counted.number = static_cast<double>(static_cast<std::uint64_t>(value.whole));
  if (value.type == ValueType::real) counted.number = value.real;
  if (is_text) {
    const auto number = parse_number(trim(value.text));
    if (!number)
      return fail(ErrorCode::corrupt,
                  cat(whose, ": object ", to_text(quantity.value), " holds '", value.text.substr(0, 40),
                      "', needed a number"),
                  "check that this is the object meant");
    counted.number = *number;
  }
  if (digits != nullptr) {
    if (digits->type == ValueType::missing) return fail(absent(*quantity.decimal_digits, whose));
    if (digits->whole < 0 || digits->whole > kMostDigits)
      return fail(ErrorCode::corrupt,
                  cat(whose, " states ", digits->whole, " decimal digits, needed 0 to ", kMostDigits),
                  "check preset and firmware");
    counted.factor *= std::pow(10.0, -static_cast<double>(digits->whole));
  }
  if (unit != nullptr && unit->whole != quantity.expected_unit)
    return fail(ErrorCode::corrupt,
                cat(whose, " states the unit ", unit->whole, ", needed ", quantity.expected_unit, " (",
                    quantity.unit_name, ")"),
                "its readings are left out until the unit is back; check preset and firmware");
  memory.type = value.type;
  return counted;
}

EnergyRegister::Told SnmpMeter::energy(const Counted& counted, Memory& memory, const std::string& whose,
                                       TimePoint at) const {
  const ValueType type = counted.value.type;
  const bool whole = type != ValueType::text && type != ValueType::real;
  // Registers with a point in them are counted in thousandths.
  const double thousandths = std::round(counted.number * 1000);
  const bool possible = whole ? type == ValueType::counter64 || counted.value.whole >= 0
                              : thousandths >= 0 && thousandths < std::ldexp(1.0, 63);
  if (!possible)
    return {.trouble =
                Error{ErrorCode::corrupt,
                      cat(whose, ": the energy register shows ", counted.number, ", needed a number from 0"),
                      "the reading is left out; where this goes on, this model counts no energy there"}};
  const double per_count = whole ? counted.factor : counted.factor / 1000;
  if (!memory.energy || memory.energy->joules_per_count() != per_count)
    memory.energy.emplace(whose, per_count, top_of(type), Joules(counted.factor));
  return memory.energy->add(
      static_cast<std::uint64_t>(whole ? counted.value.whole : std::llround(thousandths)), at);
}

std::vector<MeterReading> SnmpMeter::interpret(const std::vector<Value>& values, TimePoint at) {
  std::vector<MeterReading> readings;
  const Value* next = values.data();
  const auto complain = [&](const Error& error) {
    if (!complaint_) complaint_ = error;
  };
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    const ChannelPlan& plan = target_.channels[i];
    const std::string whose = cat(target_.agent.text(), ", ", channels_[i].name);
    MeterReading reading;
    reading.channel = i;
    reading.at = at;
    if (plan.power) {
      auto counted = count(*plan.power, power_memory_[i], whose, next);
      const Watts power(counted ? counted->number * counted->factor : 0);
      const Status possible = counted ? possible_power(whose, power) : Status(fail(counted.error()));
      if (possible)
        reading.power = power;
      else
        complain(possible.error());
    }
    if (plan.energy) {
      auto counted = count(*plan.energy, energy_memory_[i], whose, next);
      EnergyRegister::Told told;
      if (counted)
        told = energy(*counted, energy_memory_[i], whose, at);
      else
        told.trouble = counted.error();
      reading.energy = told.energy;
      if (told.trouble) complain(*told.trouble);
    }
    if (reading.power || reading.energy) readings.push_back(reading);
  }
  return readings;
}

}  // namespace rubato::meter::snmp
