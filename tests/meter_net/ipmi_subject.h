// A real ipmi_sim that measures the power the test sets, with a bad network in between.
#pragma once

#include <sys/socket.h>

#include <cmath>
#include <memory>
#include <string>

#include "base/text.h"
#include "meter/ipmi/kind.h"
#include "meter/subject.h"
#include "meter_net/servers.h"
#include "meter_net/udp_relay.h"

namespace rubato::meter::testing {

/// The management controller of a machine; empty where it could not be built here, with the compiler's words.
class ControllerSim {
 public:
  ControllerSim() : port_(free_port(SOCK_DGRAM)) {
    built_ = run({"/usr/bin/cc", "-shared", "-fPIC", "-w", "-I", unpacked("usr/include").string(), "-o",
                  folder_.file("dcmi.so").string(), source_file("tests/meter_net/dcmi_module.c").string()},
                 folder_.file("log")) == 0;
    measure("100");
    start();
  }
  [[nodiscard]] bool is_built() const { return built_; }
  [[nodiscard]] std::string log() const { return folder_.read("log"); }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] bool is_up() const { return server_ != nullptr; }
  void measure(const std::string& watts) { folder_.write("watts", watts + "\n"); }
  void stop() { server_.reset(); }
  void start() {
    constexpr const char* kMethods = "none md2 md5 straight";
    const std::string lan =
        folder_
            .write("lan.conf", cat("name \"sim\"\n"
                                   "loadlib \"",
                                   folder_.file("dcmi.so").string(), "\" \"", folder_.file("watts").string(),
                                   "\"\n"
                                   "set_working_mc 0x20\n"
                                   "  startlan 1\n"
                                   "    addr 127.0.0.1 ",
                                   port_,
                                   "\n"
                                   "    priv_limit admin\n"
                                   "    allowed_auths_callback ",
                                   kMethods,
                                   "\n"
                                   "    allowed_auths_user ",
                                   kMethods,
                                   "\n"
                                   "    allowed_auths_operator ",
                                   kMethods,
                                   "\n"
                                   "    allowed_auths_admin ",
                                   kMethods,
                                   "\n"
                                   "    guid a123456789abcdefa123456789abcdef\n"
                                   "  endlan\n"
                                   "  user 2 true \"meter\" \"meterpw\" admin 10 ",
                                   kMethods,
                                   "\n"
                                   "  user 3 true \"guest\" \"guestpw\" user 10 ",
                                   kMethods, "\n"))
            .string();
    const std::string emulator =
        folder_
            .write("sim.emu",
                   "mc_setbmc 0x20\n"
                   "mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr\n"
                   "mc_enable 0x20\n")
            .string();
    std::filesystem::create_directories(folder_.file("state"));
    server_ = std::make_unique<Process>(
        std::vector<std::string>{unpacked("usr/bin/ipmi_sim").string(), "-n", "-c", lan, "-f", emulator, "-s",
                                 folder_.file("state").string()},
        folder_.file("log"));
  }

 private:
  TempFolder folder_;
  std::uint16_t port_;
  bool built_ = false;
  std::unique_ptr<Process> server_;
};

class IpmiSubject : public Subject {
 public:
  explicit IpmiSubject(std::map<std::string, std::string, std::less<>> login = {{"user", "meter"},
                                                                                {"password", "meterpw"},
                                                                                {"privilege", "admin"}})
      : relay_(sim.port()) {
    login["kind"] = "ipmi";
    login["host"] = "127.0.0.1";
    login["port"] = cat(relay_.port());
    around_.clock = clock_;
    around_.tables.push_back(MeterTable{"node", std::move(login), "meters.toml"});
  }

  Result<std::unique_ptr<Meter>> open() override {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(15);
    for (;;) {
      auto opened = open_now();
      if (opened || opened.error().code != ErrorCode::timeout || std::chrono::steady_clock::now() > deadline)
        return opened;
    }
  }
  Result<std::unique_ptr<Meter>> open_now() { return ipmi::kind().open("node", around_); }
  std::shared_ptr<const Clock> clock() const override { return clock_; }
  void advance(Seconds span, Watts power) override {
    clock_->advance(span);
    sim.measure(cat(std::llround(power.value())));
  }
  // DCMI tells power as an unsigned 16-bit number of watts: it can be neither negative nor absurd.
  std::set<Fault> faults() const override {
    return {Fault::silence, Fault::garbage, Fault::half_packet, Fault::vanished};
  }
  void break_it(Fault fault) override {
    clock_->advance(Seconds(1));
    if (fault == Fault::silence) relay_.relay(Relaying::nothing);
    if (fault == Fault::garbage) relay_.relay(Relaying::noise);
    if (fault == Fault::half_packet) relay_.relay(Relaying::half);
    if (fault == Fault::vanished) sim.stop();
  }
  void mend() override {
    relay_.relay(Relaying::well);
    if (!sim.is_up()) sim.start();
    sim.measure("100");
  }
  Watts power_step() const override { return Watts(1); }
  [[nodiscard]] UdpRelay& relay() { return relay_; }

  ControllerSim sim;

 private:
  UdpRelay relay_;
  std::shared_ptr<VirtualClock> clock_ = std::make_shared<VirtualClock>();
  Surroundings around_;
};

}  // namespace rubato::meter::testing
