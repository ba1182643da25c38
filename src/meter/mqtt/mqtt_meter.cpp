#include "meter/mqtt/mqtt_meter.h"

#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/text.h"

namespace rubato::meter::mqtt {
namespace {

constexpr Seconds kListen{0.9};  // in one read(), below the period
constexpr Seconds kPeriod{
    1.0};  // a message is stamped when it is picked up, so somebody must listen all the time
constexpr Seconds kPatience{1.8};   // for the first connection
constexpr double kQuietFactor = 3;  // of the longest silence between two messages so far
constexpr double kJoulesPerCount = 1e-3;
constexpr Joules kStep{36e3};  // 0.01 kWh, the coarsest register of a plug

BrokerLogin login_of(const Plan& plan, Endpoint where) {
  BrokerLogin login{std::move(where), plan.broker.text(), plan.user, plan.password, plan.tls_ca, {}};
  for (const Feed& feed : plan.feeds)
    if (std::find(login.topics.begin(), login.topics.end(), feed.topic) == login.topics.end())
      login.topics.push_back(feed.topic);
  return login;
}

}  // namespace

MqttMeter::MqttMeter(std::string name, Plan plan, BrokerLogin login, std::shared_ptr<const Clock> clock)
    : name_(std::move(name)),
      plan_(std::move(plan)),
      clock_(std::move(clock)),
      broker_(std::move(login), clock_),
      opened_(clock_->now()) {
  for (const MeterChannel& channel : plan_.channels)
    registers_.emplace_back(cat(name_, ", ", channel.name), kJoulesPerCount, std::nullopt, kStep);
}

Result<std::unique_ptr<Meter>> MqttMeter::open(std::string name, Plan plan,
                                               std::shared_ptr<const Clock> clock) {
  Endpoint where = plan.broker;
  // With TLS the certificate is checked against the name, so the library must have it.
  if (plan.tls_ca.empty()) {
    auto found = numeric(plan.broker, SOCK_STREAM);
    if (!found) return fail(found.error());
    where = *found;
  }
  BrokerLogin login = login_of(plan, std::move(where));
  std::unique_ptr<MqttMeter> meter(
      new MqttMeter(std::move(name), std::move(plan), std::move(login), std::move(clock)));
  if (auto connected = meter->broker_.connect(kPatience); !connected) return fail(connected.error());
  return meter;
}

Seconds MqttMeter::period() const {
  return kPeriod;
}

void MqttMeter::ask() {
  if (!plan_.poll || (asked_ && clock_->now() - *asked_ < plan_.poll->every)) return;
  asked_ = clock_->now();
  broker_.publish(plan_.poll->topic, plan_.poll->payload);
}

Result<std::vector<MeterReading>> MqttMeter::read() {
  complaint_.reset();
  const auto wall_before = std::chrono::steady_clock::now();
  ask();
  auto messages = broker_.listen(kListen);
  ++cost_.calls;
  cost_.inside +=
      Seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_before).count());
  if (!messages) return fail(messages.error());
  std::vector<MeterReading> readings;
  for (const Message& message : *messages) take(message, readings);
  if (!readings.empty()) return readings;
  if (complaint_) return fail(*complaint_);
  if (auto heard = heard_lately(); !heard) return fail(heard.error());
  return readings;
}

Status MqttMeter::heard_lately() const {
  const Seconds silent = clock_->now() - heard_.value_or(opened_);
  if (silent <= std::max(*plan_.channels.front().quiet_for, longest_silence_ * kQuietFactor)) return {};
  const std::string& topic = plan_.feeds.front().topic;
  return fail(ErrorCode::timeout,
              cat(name_, ": nothing came on ", topic, " for ", number(silent.value(), 0), " s",
                  heard_ ? "" : ", since it was opened"),
              cat("is the device on, and its topic right? mosquitto_sub -h ", plan_.broker.host, " -p ",
                  plan_.broker.port, " -v -t ", topic));
}

Result<double> MqttMeter::value(const JsonMessage& json, const Field& field, const std::string& whose) const {
  if (!field.unit_path.empty()) {
    auto unit = json.text(field.unit_path);
    if (!unit) return fail(unit.error().code, cat(whose, ": ", unit.error().what), unit.error().hint);
    if (*unit != field.unit)
      return fail(ErrorCode::corrupt,
                  cat(whose, ": the message states the unit '", *unit, "', needed '", field.unit, "'"),
                  "its readings are left out until the unit is back; set the unit in meters.toml where it "
                  "changed for good");
  }
  auto number = json.number(field.path);
  if (!number) return fail(number.error().code, cat(whose, ": ", number.error().what), number.error().hint);
  return *number * field.factor;
}

void MqttMeter::take(const Message& message, std::vector<MeterReading>& readings) {
  auto json = JsonMessage::parse(message.payload);
  if (!json)
    return complain(
        {json.error().code, cat(name_, ", ", message.topic, ": ", json.error().what), json.error().hint});
  for (const Feed& feed : plan_.feeds) {
    if (feed.topic != message.topic) continue;
    const std::string whose = cat(name_, ", ", feed.topic);
    MeterReading reading;
    reading.channel = feed.channel;
    reading.at = message.arrived;
    if (feed.power) {
      auto watts = value(*json, *feed.power, whose);
      const Status possible = watts ? possible_power(whose, Watts(*watts)) : Status(fail(watts.error()));
      if (possible)
        reading.power = Watts(*watts);
      else
        complain(possible.error());
    }
    if (feed.energy) {
      auto joules = value(*json, *feed.energy, whose);
      EnergyRegister::Told told;
      if (!joules)
        told.trouble = joules.error();
      else if (!std::isfinite(*joules) || *joules < 0 || *joules > 1e15)
        told.trouble = Error{ErrorCode::corrupt, cat(whose, ": the energy register shows ", Joules(*joules)),
                             "the reading is left out; check energy_unit and energy_scale in meters.toml"};
      else
        told = registers_[feed.channel].add(
            static_cast<std::uint64_t>(std::llround(*joules / kJoulesPerCount)), message.arrived);
      reading.energy = told.energy;
      if (told.trouble) complain(*told.trouble);
    }
    if (!reading.power && !reading.energy) continue;
    if (heard_) longest_silence_ = std::max(longest_silence_, message.arrived - *heard_);
    heard_ = message.arrived;
    const auto same = std::find_if(readings.begin(), readings.end(),
                                   [&](const MeterReading& r) { return r.channel == reading.channel; });
    if (same == readings.end()) {
      readings.push_back(reading);
    } else {
      same->at = reading.at;
      if (reading.power) same->power = reading.power;
      if (reading.energy) same->energy = reading.energy;
    }
  }
}

}  // namespace rubato::meter::mqtt
