#include "report/packed_series.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "report/render.h"
#include "report/series_outline.h"

namespace rubato::report {
namespace {

using Json = nlohmann::json;
using Column = std::vector<std::optional<double>>;

std::string unbase64(const std::string& text) {
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  unsigned bits = 0;
  int held = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6U | static_cast<unsigned>(letters.find(c));
    held += 6;
    if (held < 8) continue;
    held -= 8;
    out += static_cast<char>(bits >> static_cast<unsigned>(held) & 0xffU);
  }
  return out;
}

std::string inflated(const std::string& packed) {
  std::string out(1U << 22U, '\0');
  uLongf size = out.size();
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(out.data()), &size,
                       reinterpret_cast<const Bytef*>(packed.data()), packed.size()),
            Z_OK);
  out.resize(size);
  return out;
}

/// As docs/formats.md#packed-series says it, apart from the page's own reader.
std::map<std::string, Column> read_back(const PackedSeries& series) {
  const Json head = Json::parse(render_json(series.head));
  const std::string packed = unbase64(series.base64);
  const std::string bytes = head["deflated"].get<bool>() ? inflated(packed) : packed;
  const auto count = head["count"].get<std::size_t>();
  std::map<std::string, Column> out;
  std::size_t at = 0;
  for (const Json& column : head["columns"]) {
    const auto present = column["present"].get<std::size_t>();
    std::vector<bool> there(count, true);
    if (present < count) {
      for (std::size_t i = 0; i < count; ++i)
        there[i] = (static_cast<unsigned char>(bytes.at(at + i / 8)) >> (i % 8) & 1U) != 0;
      at += (count + 7) / 8;
    }
    auto value = column["first"].get<std::int64_t>();
    const auto step = column["step"].get<std::int64_t>();
    std::size_t n = 0;
    Column& values = out[column["name"].get<std::string>()];
    for (std::size_t i = 0; i < count; ++i) {
      if (!there[i]) {
        values.emplace_back();
        continue;
      }
      std::uint64_t code = 0;
      for (std::size_t plane = 0; plane < column["bytes"].get<std::size_t>(); ++plane)
        code |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes.at(at + plane * present + n)))
                << (8 * plane);
      const auto difference = static_cast<std::int64_t>(code >> 1U) ^ -static_cast<std::int64_t>(code & 1U);
      if (n > 0) value += step + difference;
      values.emplace_back(static_cast<double>(value) * column["quantum"].get<double>());
      ++n;
    }
    at += column["bytes"].get<std::size_t>() * present;
  }
  EXPECT_EQ(at, bytes.size());
  return out;
}

SeriesPacker::Read of(const Column& column) {
  return [&column](std::size_t i) { return column.at(i); };
}

TEST(PackedSeries, ComesBackToTheQuantum) {
  Column times, watts, limits;
  for (int i = 0; i < 1000; ++i) {
    times.emplace_back(0.1 * i + (i % 7) * 1e-3 + (i > 500 ? 3600 : 0));
    watts.emplace_back(i % 10 == 3 ? std::nullopt : std::optional(250 + 100 * std::sin(i)));
    limits.emplace_back(200);
  }
  SeriesPacker packer(times.size());
  packer.moments(1e-3, of(times));
  packer.values("power_w", 0.1, of(watts));
  packer.values("limit_w", 0.1, of(limits));
  const auto packed = std::move(packer).finish(7);
  ASSERT_TRUE(packed);
  EXPECT_EQ(packed->id, 7);
  const auto back = read_back(*packed);
  ASSERT_EQ(back.size(), 3U);
  for (std::size_t i = 0; i < times.size(); ++i) {
    EXPECT_NEAR(*back.at("time_s")[i], *times[i], 0.5001e-3);
    ASSERT_EQ(back.at("power_w")[i].has_value(), watts[i].has_value()) << i;
    EXPECT_NEAR(back.at("power_w")[i].value_or(0), watts[i].value_or(0), 0.05001);
    EXPECT_DOUBLE_EQ(*back.at("limit_w")[i], 200);
  }
  // Noise of a byte a sample, and hardly anything for what is regular.
  EXPECT_LT(packed->base64.size(), 5000U);
}

TEST(PackedSeries, TakesWhatIsNoNumberAsNotRead) {
  const Column times = {1, 2, 3, 4, 5};
  const Column strange = {1e300, -2.5, std::numeric_limits<double>::quiet_NaN(),
                          -std::numeric_limits<double>::infinity(), 7e12};
  const Column nothing(5);
  SeriesPacker packer(5);
  packer.moments(1e-3, of(times));
  EXPECT_TRUE(packer.only_moments());
  packer.values("nothing", 1, of(nothing));
  EXPECT_TRUE(packer.only_moments());
  packer.values("strange", 0.5, of(strange));
  const auto back = read_back(*std::move(packer).finish(0));
  EXPECT_EQ(back.at("strange"), (Column{std::nullopt, -2.5, std::nullopt, std::nullopt, 7e12}));
  EXPECT_FALSE(back.contains("nothing"));
}

TEST(PackedSeries, OfNothingIsNothing) {
  SeriesPacker packer(0);
  packer.moments(1, of({}));
  EXPECT_TRUE(packer.only_moments());
}

TEST(Base64, IsThatOfTheStandard) {
  // RFC 4648, section 10.
  const std::array<std::pair<std::string_view, std::string_view>, 7> all = {{{"", ""},
                                                                             {"f", "Zg=="},
                                                                             {"fo", "Zm8="},
                                                                             {"foo", "Zm9v"},
                                                                             {"foob", "Zm9vYg=="},
                                                                             {"fooba", "Zm9vYmE="},
                                                                             {"foobar", "Zm9vYmFy"}}};
  for (const auto& [bytes, text] : all) EXPECT_EQ(base64(bytes), text);
  EXPECT_EQ(base64("\xff\xfe\x00"), "//4=");  // the literal ends at its zero
}

TEST(SeriesOutline, HasMeanExtremesAndCountOfEachPiece) {
  SeriesOutline outline(10, 5);
  const Column values = {3.0, 5.0, std::nullopt, 7.04, 100.0};
  const std::vector<double> moments = {-1, 1, 1.5, 2, 11};
  const auto at = [&](std::size_t i) { return std::optional(moments[i]); };
  outline.add("0.power_w", 0.1, 5, at, [&](std::size_t i) { return values[i]; });
  outline.add("1.nothing", 0.1, 5, at, [](std::size_t) { return std::optional<double>(); });
  auto packed = std::move(outline).finish(9);
  ASSERT_TRUE(packed);
  const Json head = Json::parse(render_json(packed->head));
  EXPECT_EQ(head["id"], 9);
  EXPECT_DOUBLE_EQ(head["width_s"].get<double>(), 2);
  auto read = read_back(*packed);
  EXPECT_EQ(read.count("1.nothing.mean"), 0U);
  const std::vector<double> middles = {1, 3, 5, 7, 9};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(*read["time_s"][i], middles[i], 1e-9);
  EXPECT_NEAR(*read["0.power_w.low"][0], 3, 1e-9);
  EXPECT_NEAR(*read["0.power_w.high"][0], 5, 1e-9);
  EXPECT_NEAR(*read["0.power_w.mean"][0], 4, 1e-9);
  EXPECT_NEAR(*read["0.power_w.count"][0], 2, 1e-9);
  EXPECT_NEAR(*read["0.power_w.high"][1], 7.0, 1e-9) << "as a page has the sample itself";
  EXPECT_NEAR(*read["0.power_w.mean"][1], 7.04, 1e-9);
  EXPECT_FALSE(read["0.power_w.low"][2]);
  EXPECT_NEAR(*read["0.power_w.low"][4], 100, 1e-9);
}

}  // namespace
}  // namespace rubato::report
