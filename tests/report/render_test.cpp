#include "report/render.h"

#include <gmock/gmock.h>

#include <limits>

#include "report/format.h"
#include "report/layout.h"

namespace rubato::report {
namespace {

TEST(Json, KeepsOrderAndWritesMissingAsNull) {
  const Value value =
      Object{{"z", 1}, {"a", Missing{"no sensor"}}, {"w", Amount{0.1 + 0.2, "W"}}, {"on", true}};
  EXPECT_EQ(render_json(value), "{\n  \"z\": 1,\n  \"a\": null,\n  \"w\": 0.3,\n  \"on\": true\n}\n");
}

TEST(Json, HasNoNumberThatIsNotFinite) {
  EXPECT_EQ(render_json(Amount{std::numeric_limits<double>::infinity(), "J"}), "null\n");
  EXPECT_EQ(render_json(Amount{std::numeric_limits<double>::quiet_NaN(), "J"}), "null\n");
}

TEST(Json, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(render_json("a\xff"), "\"a\xEF\xBF\xBD\"\n");
}

TEST(Text, AlignsKeysAndSaysWhySomethingIsMissing) {
  const Value value =
      Object{{"power_limit", Amount{150, "W", 0}}, {"fan", Missing{"no fan"}}, {"mig", false}};
  EXPECT_EQ(render_text(value), "power limit  150 W\nfan          - (no fan)\nmig          no\n");
}

TEST(Table, HasOneSpaceBetweenColumnsWhereTwoWouldNotFit) {
  Table table({{"a", true}, {"b", true}});
  table.add({"12345", "67890"});
  EXPECT_EQ(table.text(0, {.width = 12}), "    a      b\n12345  67890\n");
  EXPECT_EQ(table.text(0, {.width = 11}), "    a     b\n12345 67890\n");
  EXPECT_EQ(table.text(0, {.width = 10}), "    a      b\n12345  67890\n") << "neither fits";
}

TEST(Table, CutsATextAtItsEndBeforeItMovesColumnsTogether) {
  Table table({{"a", true}, {"b"}});
  table.add({"12345", "a long sentence"});
  EXPECT_EQ(table.text(0, {.width = 16}), "    a  b\n12345  a long s…\n");
}

TEST(Table, CutsAFigureAtItsEndBetweenWords) {
  Table table({{"name"}, {"joules", true}});
  table.add({"a", "1397 J ± 2 %"});
  table.add({"b", "1397123456 J"});
  TextOptions narrow;
  narrow.width = 16;
  EXPECT_EQ(table.text(0, narrow), "name      joules\na     1397 J ± …\nb              …\n");
}

TEST(Text, ShowsAListOfEqualObjectsAsATable) {
  const Value value = Array{Object{{"name", "V100"}, {"power", Amount{9.5, "W"}}},
                            Object{{"name", "A"}, {"power", Amount{150, "W"}}}};
  EXPECT_EQ(render_text(value), "name    power\nV100    9.5 W\nA     150.0 W\n");
}

TEST(Text, CountsCharactersNotBytes) {
  EXPECT_EQ(width_of("± 5 µs"), 6U);
  EXPECT_EQ(cut("±±±±", 3), "±±…");
  EXPECT_EQ(padded("±", 3, true), "  ±");
}

TEST(Text, WrapsAtSpacesAndKeepsTheIndent) {
  EXPECT_EQ(wrapped("aa bb cc", "- ", 7), "- aa bb\n  cc\n");
}

TEST(Format, UsesAsManyDigitsAsMeanSomething) {
  EXPECT_EQ(text_of(812.3_J), "812 J");
  EXPECT_EQ(text_of(12'345_J), "12.35 kJ");
  EXPECT_EQ(text_of(Seconds(1e-15)), "0 s");
  EXPECT_EQ(text_of(0.0234_s), "23.4 ms");
  EXPECT_EQ(text_of(1.2_s), "1.20 s");
  EXPECT_EQ(text_of(200_s), "3 min 20 s");
  EXPECT_EQ(text_of(59.97_s), "1 min 00 s");
  EXPECT_EQ(text_of(7500_s), "2 h 05 min");
  EXPECT_EQ(percent(0.214), "21.4 %");
  EXPECT_EQ(percent(0.0004), "0.04 %");
  EXPECT_EQ(percent(-0.00001), "0.00 %");
}

TEST(Format, WritesAnErrorBandInTheUnitOfItsEnergy) {
  EXPECT_EQ(band_text(1278_J, 12'780_J), "1.28 kJ");
  EXPECT_EQ(band_text(25.3_J, 12'780_J), "0.03 kJ");
  EXPECT_EQ(band_text(2_J, 12'780_J), "0.002 kJ");
  EXPECT_EQ(band_text(255_J, 5100_J), "255 J");
  EXPECT_EQ(band_text(0.31_J, 5100_J), "0.3 J");
  EXPECT_EQ(band_text(0_J, 5100_J), "0 J");
}

TEST(Format, QuotesACommandLikeAShellWould) {
  EXPECT_EQ(command_line({"sh", "-c", "it's $HOME", ""}), "sh -c 'it'\\''s $HOME' ''");
}

}  // namespace
}  // namespace rubato::report
