#include "meter/snmp/preset.h"

#include <initializer_list>

namespace rubato::meter::snmp {
namespace {

Oid joined(std::string_view base, std::initializer_list<std::uint64_t> tail) {
  Oid oid = *parse_oid(base);
  oid.insert(oid.end(), tail);
  return oid;
}

MeterChannel channel_of(std::string_view kind, unsigned number, std::string_view place,
                        std::string_view source) {
  MeterChannel channel;
  channel.name = cat(kind, "-", number);
  channel.place = place;
  channel.has_power = true;
  channel.has_energy = true;
  channel.sensor.source = source;
  return channel;
}

// APC by Schneider Electric, Rack PDU of the second generation (AP8xxx, AP7xxxB), PowerNet-MIB, branch rPDU2.
// Object numbers, types and units as public monitoring software uses them; not tried on a device. Models
// without metered outlets answer -1 or noSuchInstance there.
ChannelPlan apc(unsigned unit, std::optional<unsigned> outlet) {
  constexpr std::string_view kSource =
      "PowerNet-MIB rPDU2; its energy register moves in steps of 0.1 kWh; update period, averaging and "
      "accuracy are "
      "not in the MIB";
  ChannelPlan plan;
  if (outlet) {
    plan.channel = channel_of("outlet", *outlet, cat("outlet ", *outlet), kSource);
    // rPDU2OutletMeteredStatusPower, W; rPDU2OutletMeteredStatusEnergy, tenths of kWh. The index runs on over
    // daisy-chained units, so `unit` has no part in it.
    plan.power = Quantity{joined("1.3.6.1.4.1.318.1.1.26.9.4.3.1.7", {*outlet}), 1, {}, {}, 0, {}};
    plan.energy = Quantity{joined("1.3.6.1.4.1.318.1.1.26.9.4.3.1.11", {*outlet}), 3.6e5, {}, {}, 0, {}};
  } else {
    plan.channel = channel_of("pdu", unit, cat("all outlets of PDU ", unit), kSource);
    // rPDU2DeviceStatusPower, hundredths of kW; rPDU2DeviceStatusEnergy, tenths of kWh.
    plan.power = Quantity{joined("1.3.6.1.4.1.318.1.1.26.4.3.1.5", {unit}), 10, {}, {}, 0, {}};
    plan.energy = Quantity{joined("1.3.6.1.4.1.318.1.1.26.4.3.1.9", {unit}), 3.6e5, {}, {}, 0, {}};
  }
  return plan;
}

// Raritan PX2, PX3 and Xerus, PDU2-MIB: tables indexed by unit, inlet or outlet, and sensor type. Object
// numbers and enumerations as public monitoring software and Raritan's SNMP MIB User Guide (2019) give them;
// not tried on a device.
ChannelPlan raritan(unsigned unit, std::optional<unsigned> outlet) {
  constexpr std::uint64_t kActivePower = 5;   // SensorTypeEnumeration
  constexpr std::uint64_t kActiveEnergy = 8;  // SensorTypeEnumeration
  constexpr std::int64_t kWatt = 3;           // SensorUnitsEnumeration
  constexpr std::int64_t kWattHour = 5;       // SensorUnitsEnumeration
  constexpr std::string_view kSource =
      "PDU2-MIB; its energy register moves in steps of 1 Wh; update period, averaging and accuracy are not "
      "in the MIB";
  // measurementsOutletSensorValue and measurementsInletSensorValue; …SensorUnits and …SensorDecimalDigits.
  const std::string_view values = outlet ? "1.3.6.1.4.1.13742.6.5.4.3.1.4" : "1.3.6.1.4.1.13742.6.5.2.3.1.4";
  const std::string_view units = outlet ? "1.3.6.1.4.1.13742.6.3.5.4.1.6" : "1.3.6.1.4.1.13742.6.3.3.4.1.6";
  const std::string_view digits = outlet ? "1.3.6.1.4.1.13742.6.3.5.4.1.7" : "1.3.6.1.4.1.13742.6.3.3.4.1.7";
  const std::uint64_t index = outlet.value_or(1);
  ChannelPlan plan;
  plan.channel = outlet ? channel_of("outlet", *outlet, cat("outlet ", *outlet, " of PDU ", unit), kSource)
                        : channel_of("inlet", 1, cat("inlet 1 of PDU ", unit, ": all its outlets"), kSource);
  plan.power = Quantity{
      joined(values, {unit, index, kActivePower}), 1,     joined(digits, {unit, index, kActivePower}),
      joined(units, {unit, index, kActivePower}),  kWatt, "watt"};
  plan.energy = Quantity{
      joined(values, {unit, index, kActiveEnergy}), 3600,      joined(digits, {unit, index, kActiveEnergy}),
      joined(units, {unit, index, kActiveEnergy}),  kWattHour, "watt-hour"};
  return plan;
}

}  // namespace

const std::array<Preset, 2>& presets() {
  static const std::array<Preset, 2> all{
      Preset{"apc", "APC by Schneider Electric rack PDU, second generation (PowerNet-MIB rPDU2)", apc, false},
      Preset{"raritan", "Raritan PX2, PX3, Xerus (PDU2-MIB)", raritan, true}};
  return all;
}

const Preset* find_preset(std::string_view name) {
  for (const Preset& preset : presets())
    if (preset.name == name) return &preset;
  return nullptr;
}

}  // namespace rubato::meter::snmp
