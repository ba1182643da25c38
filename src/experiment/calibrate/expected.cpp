#include "experiment/calibrate/expected.h"

#include <bit>

namespace rubato::experiment {
namespace {

/// -127/64 to 127/64, spread over all of it.
float operand(std::uint32_t i) {
  const auto steps = static_cast<int>(((i * 2654435761U) >> 16U) % 255U) - 127;
  return static_cast<float>(steps) / 64.0F;
}

double product(const std::vector<float>& a, const std::vector<float>& b, unsigned depth, unsigned row,
               unsigned column) {
  double sum = 0;
  for (unsigned k = 0; k < depth; ++k)
    sum += static_cast<double>(a[row * depth + k]) * static_cast<double>(b[column * depth + k]);
  return sum;
}

}  // namespace

TensorOperands tensor_operands(unsigned depth) {
  TensorOperands out{.depth = depth};
  const unsigned count = 16 * depth;
  for (unsigned i = 0; i < count; ++i) {
    out.a.push_back(operand(i));
    out.b.push_back(operand(i + count));
    out.c.push_back(-out.b.back());
  }
  // One element of column 0 differs, so that every turn leaves something behind.
  out.c.front() += out.c.front() > 0 ? -1.0F / 64 : 1.0F / 64;
  return out;
}

std::vector<float> expected_matrix(const TensorOperands& o, unsigned turns) {
  std::vector<float> out;
  for (unsigned row = 0; row < 16; ++row) {
    for (unsigned column = 0; column < 16; ++column) {
      const double by_b = product(o.a, o.b, o.depth, row, column);
      const double by_c = product(o.a, o.c, o.depth, row, column);
      out.push_back(static_cast<float>(by_b + turns * (by_b + by_c)));
    }
  }
  return out;
}

std::uint16_t to_half(float exact) {
  const auto bits = std::bit_cast<std::uint32_t>(exact);
  const auto sign = static_cast<std::uint16_t>((bits >> 16U) & 0x8000U);
  const auto exponent = static_cast<int>((bits >> 23U) & 0xFFU) - 127 + 15;
  if (exponent <= 0) return sign;  // operands are zero or at least 1/64
  return static_cast<std::uint16_t>(sign | (static_cast<unsigned>(exponent) << 10U) |
                                    ((bits >> 13U) & 0x3FFU));
}

std::uint16_t to_bfloat16(float exact) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(exact) >> 16U);
}

}  // namespace rubato::experiment
