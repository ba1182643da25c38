// The registers of Microchip's MCP39F511N that are read here. None of this was checked on hardware; each
// figure says what it rests on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/units.h"

namespace rubato::meter::mcp39f511n {

inline constexpr std::size_t kChannels = 2;

/// USB ids of the MCP2221 serial bridge on Microchip's board ADM00706; other devices with that bridge share
/// them.
inline constexpr std::string_view kVendor = "04d8";
inline constexpr std::string_view kProduct = "00dd";

/// Active power of both channels, 32 bits each, in 10 mW, sign and magnitude apart. Address, width and unit
/// as the measuring tool pinpoint reads them (its source mcp_com).
inline constexpr std::uint16_t kPowerAddress = 0x0016;
inline constexpr std::size_t kPowerBytes = 4;
inline constexpr Watts kPowerUnit{0.01};

/// Import active energy of both channels, 64 bits each. NOT VERIFIED: the address follows from the order of
/// the registers (two of 32 bits each for active, reactive and apparent power come before), the unit of 1 mWh
/// is from memory of the data sheet DS20005473. The meter is believed only after UnitCheck has seen the
/// register move as fast as the power says.
inline constexpr std::uint16_t kEnergyAddress = 0x002e;
inline constexpr std::size_t kEnergyBytes = 8;
inline constexpr Joules kEnergyUnit{3.6};

/// How often the registers change: 2^N line cycles, N = 2 when it leaves the factory (80 ms at 50 Hz). NOT
/// VERIFIED; the figure decides only how often is asked.
inline constexpr Seconds kPeriod{0.1};

/// Class 0.5 % over 4000:1, data sheet title.
inline constexpr double kAccuracy = 0.005;

}  // namespace rubato::meter::mcp39f511n
