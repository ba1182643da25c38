// Physical quantities as types: a watt cannot be passed for a joule. SI inside, vendor units only in
// backends.
#pragma once

#include <cmath>
#include <compare>

namespace rubato {

template <class Tag>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(double value) : value_(value) {}

  /// The number in the unit the type is named after.
  [[nodiscard]] constexpr double value() const { return value_; }

  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity operator-() const { return Quantity(-value_); }
  constexpr Quantity& operator+=(Quantity other) {
    value_ += other.value_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    value_ -= other.value_;
    return *this;
  }
  constexpr Quantity& operator*=(double factor) {
    value_ *= factor;
    return *this;
  }

  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.value_ + b.value_); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.value_ - b.value_); }
  friend constexpr Quantity operator*(Quantity a, double factor) { return Quantity(a.value_ * factor); }
  friend constexpr Quantity operator*(double factor, Quantity a) { return Quantity(a.value_ * factor); }
  friend constexpr Quantity operator/(Quantity a, double divisor) { return Quantity(a.value_ / divisor); }
  friend constexpr double operator/(Quantity a, Quantity b) { return a.value_ / b.value_; }

 private:
  double value_ = 0.0;
};

using Watts = Quantity<struct WattsTag>;
using Joules = Quantity<struct JoulesTag>;
using Seconds = Quantity<struct SecondsTag>;
using Megahertz = Quantity<struct MegahertzTag>;
using Celsius = Quantity<struct CelsiusTag>;

constexpr Joules operator*(Watts power, Seconds time) {
  return Joules(power.value() * time.value());
}
constexpr Joules operator*(Seconds time, Watts power) {
  return power * time;
}
constexpr Watts operator/(Joules energy, Seconds time) {
  return Watts(energy.value() / time.value());
}
constexpr Seconds operator/(Joules energy, Watts power) {
  return Seconds(energy.value() / power.value());
}

template <class Tag>
[[nodiscard]] constexpr Quantity<Tag> abs(Quantity<Tag> q) {
  return q.value() < 0 ? -q : q;
}

inline namespace literals {
constexpr Watts operator""_W(long double v) {
  return Watts(static_cast<double>(v));
}
constexpr Watts operator""_W(unsigned long long v) {
  return Watts(static_cast<double>(v));
}
constexpr Joules operator""_J(long double v) {
  return Joules(static_cast<double>(v));
}
constexpr Joules operator""_J(unsigned long long v) {
  return Joules(static_cast<double>(v));
}
constexpr Seconds operator""_s(long double v) {
  return Seconds(static_cast<double>(v));
}
constexpr Seconds operator""_s(unsigned long long v) {
  return Seconds(static_cast<double>(v));
}
constexpr Seconds operator""_ms(unsigned long long v) {
  return Seconds(static_cast<double>(v) * 1e-3);
}
constexpr Megahertz operator""_MHz(long double v) {
  return Megahertz(static_cast<double>(v));
}
constexpr Megahertz operator""_MHz(unsigned long long v) {
  return Megahertz(static_cast<double>(v));
}
}  // namespace literals

}  // namespace rubato
