// The contract of tests/meter/contract.h against real servers: snmpd, mosquitto, ipmi_sim.
#include "meter/contract.h"

#include "meter_net/ipmi_subject.h"
#include "meter_net/mqtt_subject.h"
#include "meter_net/snmp_subject.h"

namespace rubato::meter::testing {
namespace {

template <class Make>
SubjectCase with(const std::string& name, const std::string& server, Make make) {
  return {name, [=](std::string& why_not) -> std::unique_ptr<Subject> {
            why_not = why_without(server);
            if (!why_not.empty()) return nullptr;
            return make();
          }};
}

std::unique_ptr<Subject> objects_by_v2c() {
  return std::make_unique<SnmpSubject>(
      std::map<std::string, std::string, std::less<>>{{"community", "secret"},
                                                      {"power_oid", "1.3.6.1.4.1.9999.1.0"},
                                                      {"power_unit", "dW"},
                                                      {"energy_oid", "1.3.6.1.4.1.9999.2.0"},
                                                      {"energy_unit", "J"}},
      "1.3.6.1.4.1.9999.1.0", "1.3.6.1.4.1.9999.2.0", 0.1, 1);
}

std::unique_ptr<Subject> raritan_by_v3() {
  auto subject = std::make_unique<SnmpSubject>(
      std::map<std::string, std::string, std::less<>>{{"user", "meter"},
                                                      {"auth_password", "authpassword"},
                                                      {"priv_password", "privpassword"},
                                                      {"preset", "raritan"},
                                                      {"outlets", "3"}},
      "1.3.6.1.4.1.13742.6.5.4.3.1.4.1.3.5", "1.3.6.1.4.1.13742.6.5.4.3.1.4.1.3.8", 1, 3600);
  for (const auto& [sensor, unit] : {std::pair{"5", "3"}, std::pair{"8", "5"}}) {
    subject->set(cat("1.3.6.1.4.1.13742.6.3.5.4.1.6.1.3.", sensor), "integer", unit);
    subject->set(cat("1.3.6.1.4.1.13742.6.3.5.4.1.7.1.3.", sensor), "gauge", "0");
  }
  return subject;
}

INSTANTIATE_TEST_SUITE_P(Snmp, MeterContract,
                         ::testing::Values(with("objects_by_v2c", "snmpd", objects_by_v2c),
                                           with("raritan_by_v3", "snmpd", raritan_by_v3)),
                         case_name);
INSTANTIATE_TEST_SUITE_P(Mqtt, MeterContract,
                         ::testing::Values(with("tasmota", "mosquitto",
                                                [] { return std::make_unique<MqttSubject>(); })),
                         case_name);
INSTANTIATE_TEST_SUITE_P(Ipmi, MeterContract,
                         ::testing::Values(with("dcmi", "ipmi_sim",
                                                [] { return std::make_unique<IpmiSubject>(); })),
                         case_name);

}  // namespace
}  // namespace rubato::meter::testing
