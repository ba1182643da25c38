// A real snmpd that answers as a power strip whose load the test sets, with a bad network in between.
#pragma once

#include <sys/socket.h>

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "base/text.h"
#include "meter/snmp/kind.h"
#include "meter/subject.h"
#include "meter_net/servers.h"
#include "meter_net/udp_relay.h"

namespace rubato::meter::testing {

/// snmpd with one community and one user of v3, answering the objects in `values`.
class Agent {
 public:
  Agent() : port_(free_port(SOCK_DGRAM)) {
    show();
    start();
  }

  struct Shown {
    std::string type;  // as pass_persist calls it: integer, gauge, counter, counter64, string
    std::string value;
  };
  std::map<std::string, Shown> values;  // by object, with a dot in front

  void show() {
    std::string lines;
    for (const auto& [oid, shown] : values) lines += cat(oid, " ", shown.type, " ", shown.value, "\n");
    folder_.write("values", lines);
  }
  void start() {
    const std::string configuration =
        folder_
            .write("snmpd.conf", cat("agentaddress udp:127.0.0.1:", port_,
                                     "\n"
                                     "rocommunity secret 127.0.0.1\n"
                                     "createUser meter SHA-256 authpassword AES privpassword\n"
                                     "createUser oldmeter SHA authpassword AES privpassword\n"
                                     "rouser meter authPriv\n"
                                     "rouser oldmeter authPriv\n"
                                     "pass_persist .1.3.6.1.4.1 /usr/bin/python3 -u ",
                                     source_file("tests/meter_net/agent_values.py").string(), " ",
                                     folder_.file("values").string(), "\n"))
            .string();
    server_ = std::make_unique<Process>(
        std::vector<std::string>{unpacked("usr/sbin/snmpd").string(), "-f", "-Lo", "-C", "-c", configuration,
                                 "-p", folder_.file("pid").string(), "-I", "-smux"},
        folder_.file("log"),
        std::vector<std::string>{"SNMP_PERSISTENT_DIR=" + folder_.file("state").string()});
  }
  void stop() { server_.reset(); }
  [[nodiscard]] bool is_up() const { return server_ != nullptr; }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::string log() const { return folder_.read("log"); }

 private:
  TempFolder folder_;
  std::uint16_t port_;
  std::unique_ptr<Process> server_;
};

class SnmpSubject : public Subject {
 public:
  /// `table` lacks host and port; `power` and `energy` are the objects it reads.
  SnmpSubject(std::map<std::string, std::string, std::less<>> table, std::string power, std::string energy,
              double watts_per_count, double joules_per_count)
      : relay_(agent.port()),
        power_oid_(std::move(power)),
        energy_oid_(std::move(energy)),
        watts_per_count_(watts_per_count),
        joules_per_count_(joules_per_count) {
    table["kind"] = "snmp";
    table["host"] = "127.0.0.1";
    table["port"] = cat(relay_.port());
    around_.clock = clock_;
    around_.tables.push_back(MeterTable{"strip", std::move(table), "meters.toml"});
    show(Watts(100));
  }

  /// The agent may need a moment until it listens.
  Result<std::unique_ptr<Meter>> open() override {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(15);
    for (;;) {
      auto opened = open_now();
      if (opened || opened.error().code != ErrorCode::timeout || std::chrono::steady_clock::now() > deadline)
        return opened;
    }
  }
  Result<std::unique_ptr<Meter>> open_now() { return snmp::kind().open("strip", around_); }
  std::shared_ptr<const Clock> clock() const override { return clock_; }
  void advance(Seconds span, Watts power) override {
    clock_->advance(span);
    energy_ += power * span;
    show(power);
  }
  std::set<Fault> faults() const override {
    return {Fault::silence,      Fault::garbage, Fault::half_packet,  Fault::negative_power,
            Fault::absurd_power, Fault::jump,    Fault::counter_fell, Fault::vanished};
  }
  void break_it(Fault fault) override {
    clock_->advance(Seconds(1));
    if (fault == Fault::silence) relay_.relay(Relaying::nothing);
    if (fault == Fault::half_packet) relay_.relay(Relaying::half);
    if (fault == Fault::garbage) relay_.relay(Relaying::noise);
    if (fault == Fault::jump) energy_ += Joules(1e9);
    if (fault == Fault::counter_fell) energy_ = Joules(0);
    show(Watts(100));
    if (fault == Fault::negative_power) set(power_oid_, "integer", "-100");
    if (fault == Fault::absurd_power)
      set(power_oid_, "integer", cat(static_cast<std::int64_t>(2e6 / watts_per_count_)));
    if (fault == Fault::vanished) agent.stop();
  }
  void mend() override {
    relay_.relay(Relaying::well);
    if (!agent.is_up()) agent.start();
    show(Watts(100));
  }
  Watts power_step() const override { return Watts(watts_per_count_); }
  Joules energy_step() const override { return Joules(joules_per_count_); }

  void set(const std::string& oid, const std::string& type, const std::string& value) {
    agent.values["." + oid] = {type, value};
    agent.show();
  }
  void show(Watts power) {
    agent.values["." + power_oid_] = {"integer", cat(std::llround(power.value() / watts_per_count_))};
    agent.values["." + energy_oid_] = {energy_type,
                                       cat(static_cast<std::int64_t>(energy_.value() / joules_per_count_))};
    agent.show();
  }
  [[nodiscard]] UdpRelay& relay() { return relay_; }

  Agent agent;
  std::string energy_type = "counter";

 private:
  UdpRelay relay_;
  std::shared_ptr<VirtualClock> clock_ = std::make_shared<VirtualClock>();
  std::string power_oid_, energy_oid_;
  double watts_per_count_, joules_per_count_;
  Joules energy_{3.6e6};
  Surroundings around_;
};

}  // namespace rubato::meter::testing
