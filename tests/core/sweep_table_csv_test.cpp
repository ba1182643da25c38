#include "core/sweep_table_csv.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <set>

#include "base/text.h"

namespace rubato {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::string_view kHeader =
    "gpu,workload,group,power_limit_w,sm_clock_mhz,memory_clock_mhz,time_s,power_w,energy_j\n";

std::string with(std::string_view rows) {
  return cat(kHeader, rows);
}
SweepTable good(std::string_view text) {
  const auto table = parse_sweep_table(text);
  EXPECT_TRUE(table) << table.error().what;
  return table.value_or(SweepTable{});
}
std::string complaint(std::string_view text) {
  const auto table = parse_sweep_table(text, "t.csv");
  EXPECT_FALSE(table);
  if (table) return {};
  EXPECT_EQ(table.error().code, ErrorCode::invalid_argument);
  return table.error().what;
}

TEST(SweepTableCsv, ReadsARowWithItsSettingAndWhatItCost) {
  const SweepTable table = good(cat("# Source: me\n#\n", with("V100,resnet,cnn,150,,877,2,100,200\n")));
  EXPECT_THAT(table.comments, testing::ElementsAre("Source: me", ""));
  ASSERT_EQ(table.rows.size(), 1U);
  const SweepRow& row = table.rows[0];
  EXPECT_EQ(row.gpu, "V100");
  EXPECT_EQ(row.group, "cnn");
  EXPECT_EQ(row.power_limit, 150_W);
  EXPECT_EQ(row.sm_clock, std::nullopt);
  EXPECT_EQ(row.memory_clock, 877_MHz);
  EXPECT_EQ(row.time, 2_s);
  EXPECT_EQ(row.power, 100_W);
  EXPECT_EQ(row.energy, 200_J);
  EXPECT_EQ(row.is_default, std::nullopt);
}

TEST(SweepTableCsv, TakesColumnsInAnyOrderAndFeatures) {
  const SweepTable table = good(
      "energy_j,power_w,time_s,default,feature_dram_active,memory_clock_mhz,sm_clock_mhz,power_limit_w,group,"
      "workload,gpu\n"
      "200,100,2,1,0.5,,1005,,cnn,resnet,V100\n"
      "300,100,3,0,,,900,,cnn,resnet,V100\n");
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].is_default, true);
  EXPECT_EQ(table.rows[0].features.at("dram_active"), 0.5);
  EXPECT_EQ(table.rows[1].is_default, false);
  EXPECT_TRUE(table.rows[1].features.empty());
  EXPECT_EQ(table.rows[1].sm_clock, 900_MHz);
}

TEST(SweepTableCsv, TakesWhatSpreadsheetsMakeOfIt) {
  const SweepTable table = good(
      "\xEF\xBB\xBF\"gpu\", workload "
      ",group,power_limit_w,sm_clock_mhz,memory_clock_mhz,time_s,power_w,energy_j\r\n"
      "\"A \"\"big\"\" one\",\"a,b\",g,\"150\",,, 2 ,100,200\r\n\r\n");
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.rows[0].gpu, "A \"big\" one");
  EXPECT_EQ(table.rows[0].workload, "a,b");
  EXPECT_EQ(table.rows[0].power_limit, 150_W);
  EXPECT_EQ(table.rows[0].time, 2_s);
}

TEST(SweepTableCsv, NamesLineColumnAndValueOfWhatIsWrong) {
  EXPECT_THAT(complaint(cat("# c\n", with("V,w,g,150,,,2,100,200\nV,w,g,abc,,,2,100,200\n"))),
              AllOf(HasSubstr("t.csv, line 4"), HasSubstr("power_limit_w"), HasSubstr("'abc'")));
  for (const std::string_view value : {"nan", "inf", "-1", "0", "1e300", "1e-300", "0x10", "1 2", "", "١"})
    EXPECT_THAT(complaint(with(cat("V,w,g,150,,,", value, ",100,200\n"))),
                AllOf(HasSubstr("line 2"), HasSubstr("time_s")))
        << value;
  EXPECT_THAT(complaint(with("V,,g,150,,,2,100,200\n")), HasSubstr("column workload is empty"));
  EXPECT_THAT(complaint(with("V,a\tb,g,150,,,2,100,200\n")), HasSubstr("control character"));
}

TEST(SweepTableCsv, NamesAColumnItDoesNotKnowOrMisses) {
  EXPECT_THAT(complaint("gpu,wattage\n"), HasSubstr("'wattage'"));
  EXPECT_THAT(complaint("gpu,workload,group,power_limit_w,sm_clock_mhz,memory_clock_mhz,time_s,power_w\n"),
              HasSubstr("column energy_j is missing"));
  EXPECT_THAT(complaint("gpu,gpu\n"), HasSubstr("twice"));
  EXPECT_THAT(complaint("feature_\n"), HasSubstr("'feature_'"));
  EXPECT_THAT(complaint(""), AllOf(HasSubstr("no header line"), testing::Not(HasSubstr("line 0"))));
  EXPECT_THAT(complaint("# only a comment"), HasSubstr("no header line"));
}

TEST(SweepTableCsv, RefusesLinesThatAreNoRows) {
  EXPECT_THAT(complaint(with("V,w,g,150\n")), HasSubstr("it has 4 cells; the header has 9"));
  EXPECT_THAT(complaint(with("# late\n")), HasSubstr("comment"));
  EXPECT_THAT(complaint(with("\"V,w,g,150,,,2,100,200\n")), HasSubstr("does not end"));
  EXPECT_THAT(complaint(with("\"V\"x,w,g,150,,,2,100,200\n")), HasSubstr("closing quote"));
}

TEST(SweepTableCsv, RefusesTheSameSettingTwice) {
  EXPECT_THAT(complaint(with("V,w,g,150,,,2,100,200\nV,x,g,150,,,2,100,200\nV,w,g,150,,,3,100,300\n")),
              AllOf(HasSubstr("line 4"), HasSubstr("'w'"), HasSubstr("on line 2")));
  EXPECT_EQ(good(with("V,w,g,150,,,2,100,200\nV,w,g,,,,2,100,200\n")).rows.size(), 2U);
}

TEST(SweepTableCsv, SurvivesWhatIsNoTable) {
  // NOLINTBEGIN(bugprone-string-constructor): as long as they look
  constexpr std::size_t kHuge = 10'000'000;
  EXPECT_THAT(complaint(std::string(kHuge, 'x')), HasSubstr("longest allowed"));
  EXPECT_THAT(complaint(std::string(kHuge, '\n')), HasSubstr("no header line"));
  // NOLINTEND(bugprone-string-constructor)
  EXPECT_THAT(complaint(std::string("gpu,\0workload\n", 14)), AllOf(HasSubstr("byte 5"), HasSubstr("NUL")));
  // What is shown of it cannot act on a terminal.
  EXPECT_THAT(complaint("\x1b[2J\n"), testing::Not(HasSubstr("\x1b")));
}

TEST(SweepTableCsv, AFileThatCannotBeReadIsNamed) {
  const auto table = read_sweep_table("/nowhere/t.csv");
  ASSERT_FALSE(table);
  EXPECT_THAT(table.error().what, HasSubstr("/nowhere/t.csv"));
  EXPECT_FALSE(read_sweep_table("/"));
}

TEST(SweepTableCsv, IsNotWrittenWhereItCouldNotBeReadBack) {
  SweepTable table = good(with("V,w,g,150,,,2,100,200\n"));
  table.comments = {"two\nlines"};
  EXPECT_FALSE(write_sweep_table(table));
  table.comments.clear();
  table.rows[0].workload = "a\nb";
  EXPECT_FALSE(write_sweep_table(table));
  table.rows[0].workload = "w";
  table.rows[0].time = Seconds(std::nan(""));
  EXPECT_FALSE(write_sweep_table(table));
  table.rows[0].time = 1_s;
  table.rows.push_back(table.rows[0]);
  EXPECT_FALSE(write_sweep_table(table)) << "one setting twice";
}

rc::Gen<std::string> any_name() {
  const auto letter = rc::gen::oneOf(rc::gen::inRange<char>(' ', '~'), rc::gen::element('"', ',', '#', ' '));
  return rc::gen::apply([](char first, const std::string& rest) { return first + rest; }, letter,
                        rc::gen::container<std::string>(letter));
}
rc::Gen<double> any_quantity() {
  return rc::gen::map(rc::gen::inRange(-30, 30), [](int e) { return std::ldexp(1.0 + 1.0 / 3, e); });
}
template <class Unit>
rc::Gen<std::optional<Unit>> any_knob() {
  return rc::gen::map(rc::gen::inRange(-1, 5),
                      [](int k) { return k < 0 ? std::nullopt : std::optional(Unit(7.5 * (k + 1))); });
}
rc::Gen<SweepRow> any_row() {
  return rc::gen::exec([] {
    SweepRow row;
    row.gpu = *any_name();
    row.workload = *any_name();
    row.group = *any_name();
    row.power_limit = *any_knob<Watts>();
    row.sm_clock = *any_knob<Megahertz>();
    row.memory_clock = *any_knob<Megahertz>();
    row.time = Seconds(*any_quantity());
    row.power = Watts(*any_quantity());
    row.energy = Joules(*any_quantity());
    const int flag = *rc::gen::inRange(0, 3);
    if (flag > 0) row.is_default = flag == 2;
    for (const char* feature : {"sm_active", "ipc", "a b", "x,y"})
      if (*rc::gen::arbitrary<bool>()) row.features[feature] = *any_quantity();
    return row;
  });
}

RC_GTEST_PROP(SweepTableCsvProperty, WhatIsWrittenReadsBackTheSame, ()) {
  SweepTable table;
  table.comments = *rc::gen::container<std::vector<std::string>>(any_name());
  std::set<std::string> settings;
  for (SweepRow& row : *rc::gen::container<std::vector<SweepRow>>(any_row())) {
    const auto value = [](const auto& knob) { return knob ? number(knob->value()) : std::string("-"); };
    const std::string setting = cat(row.gpu, "\n", row.workload, "\n", value(row.power_limit), "\n",
                                    value(row.sm_clock), "\n", value(row.memory_clock));
    if (settings.insert(setting).second) table.rows.push_back(std::move(row));
  }
  const auto text = write_sweep_table(table);
  RC_ASSERT(text.has_value());
  const auto back = parse_sweep_table(*text);
  RC_ASSERT(back.has_value());
  RC_ASSERT(*back == table);
}

RC_GTEST_PROP(SweepTableCsvProperty, AnyBytesGiveATableOrAnError, (const std::string& bytes)) {
  const auto alone = parse_sweep_table(bytes);
  const auto behind_a_header = parse_sweep_table(cat(kHeader, bytes));
  for (const auto* table : {&alone, &behind_a_header})
    RC_ASSERT(table->has_value() || !table->error().what.empty());
}

}  // namespace
}  // namespace rubato
