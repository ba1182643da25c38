// A real mosquitto, and a smart plug that publishes to it what the test lets it draw.
#pragma once

#include <sys/socket.h>

#include <memory>
#include <string>

#include "base/text.h"
#include "meter/mqtt/kind.h"
#include "meter/subject.h"
#include "meter_net/servers.h"

namespace rubato::meter::testing {

class BrokerServer {
 public:
  BrokerServer() : port_(free_port(SOCK_STREAM)) { start(); }
  void start(const std::string& more = "allow_anonymous true\n") {
    const std::string configuration =
        folder_.write("mosquitto.conf", cat("listener ", port_, " 127.0.0.1\nuser root\n", more)).string();
    server_ = std::make_unique<Process>(
        std::vector<std::string>{unpacked("usr/sbin/mosquitto").string(), "-c", configuration},
        folder_.file("log"));
    static_cast<void>(accepts(port_));
  }
  void stop() { server_.reset(); }
  [[nodiscard]] bool is_up() const { return server_ != nullptr; }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] TempFolder& folder() { return folder_; }
  void publish(const std::string& topic, const std::string& payload,
               const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{unpacked("usr/bin/mosquitto_pub").string(),
                                   "-h",
                                   "127.0.0.1",
                                   "-p",
                                   cat(port_),
                                   "-t",
                                   topic,
                                   "-m",
                                   payload};
    words.insert(words.end(), more.begin(), more.end());
    run(words, folder_.file("log"));
  }

 private:
  TempFolder folder_;
  std::uint16_t port_;
  std::unique_ptr<Process> server_;
};

/// A plug with Tasmota's messages.
class MqttSubject : public Subject {
 public:
  MqttSubject() { around_.clock = clock_; }

  Result<std::unique_ptr<Meter>> open() override {
    return mqtt::kind().open(cat("tasmota@127.0.0.1:", broker.port(), "/plug1"), around_);
  }
  std::shared_ptr<const Clock> clock() const override { return clock_; }
  void advance(Seconds span, Watts power) override {
    clock_->advance(span);
    energy_ += power * span;
    publish(number(power.value()));
  }
  std::set<Fault> faults() const override {
    return {Fault::garbage, Fault::half_packet,  Fault::negative_power, Fault::absurd_power,
            Fault::jump,    Fault::counter_fell, Fault::vanished};
  }
  void break_it(Fault fault) override {
    clock_->advance(Seconds(1));
    if (fault == Fault::jump) energy_ += Joules(1e9);
    if (fault == Fault::counter_fell) energy_ = Joules(0);
    if (fault == Fault::jump || fault == Fault::counter_fell) publish("100");
    if (fault == Fault::negative_power) publish("-100");
    if (fault == Fault::absurd_power) publish("2e6");
    if (fault == Fault::garbage) broker.publish("tele/plug1/SENSOR", "\x01\x02 no telemetry");
    if (fault == Fault::half_packet) broker.publish("tele/plug1/SENSOR", message("100").substr(0, 40));
    if (fault == Fault::vanished) broker.stop();
  }
  void mend() override {
    if (!broker.is_up()) broker.start();
  }
  Watts power_step() const override { return Watts(0.1); }
  Joules energy_step() const override { return Joules(3600); }

  [[nodiscard]] std::string message(const std::string& power) const {
    return cat(R"({"Time":"2026-11-21T12:00:00","ENERGY":{"Total":)", number(energy_.value() / 3.6e6, 3),
               R"(,"Power":)", power, R"(,"Voltage":230}})");
  }
  void publish(const std::string& power) { broker.publish("tele/plug1/SENSOR", message(power)); }

  BrokerServer broker;

 private:
  std::shared_ptr<VirtualClock> clock_ = std::make_shared<VirtualClock>();
  Surroundings around_;
  Joules energy_{3.6e6};
};

}  // namespace rubato::meter::testing
