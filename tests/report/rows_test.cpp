#include "report/rows.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <nlohmann/json.hpp>

namespace rubato::report {
namespace {

class Text final : public Sink {
 public:
  Status write(std::string_view text) override {
    if (full) return fail(ErrorCode::io, "full");
    all += text;
    return {};
  }
  std::string all;
  bool full = false;
};

class Made final : public Rows {
 public:
  explicit Made(std::vector<std::vector<Cell>> rows) : rows_(std::move(rows)) {}
  std::span<const std::string> columns() const override { return kColumns; }
  Result<bool> next(std::vector<Cell>& row) override {
    if (at_ == fail_at) return fail(ErrorCode::corrupt, "broken");
    if (at_ == rows_.size()) return false;
    row = rows_[at_++];
    return true;
  }
  std::size_t fail_at = std::numeric_limits<std::size_t>::max();

 private:
  inline static const std::array<std::string, 3> kColumns = {"time_s", "gpu", "why"};
  std::vector<std::vector<Cell>> rows_;
  std::size_t at_ = 0;
};

Made two_rows() {
  return Made(
      {{0.1, std::int64_t{0}, std::string("a, \"b\"\nc")}, {1e-9, std::monostate{}, std::string("plain")}});
}

TEST(Rows, AsCsvQuoteWhatHasToBeAndLeaveOutWhatIsMissing) {
  Made rows = two_rows();
  Text text;
  ASSERT_TRUE(write_csv(rows, text));
  EXPECT_EQ(text.all, "time_s,gpu,why\n0.1,0,\"a, \"\"b\"\"\nc\"\n1e-09,,plain\n");
}

TEST(Rows, WithBitsOfHashesAreUnsigned) {
  constexpr std::uint64_t kHash = 16'877'474'089'224'050'737U;
  Made rows({{0.5, kHash, std::string()}});
  Text csv;
  ASSERT_TRUE(write_csv(rows, csv));
  EXPECT_EQ(csv.all, "time_s,gpu,why\n0.5,16877474089224050737,\n");
  Made again({{0.5, kHash, std::string()}});
  Text json;
  ASSERT_TRUE(write_json(again, json));
  EXPECT_EQ(nlohmann::json::parse(json.all)["rows"][0][1], kHash);
}

TEST(Rows, AsJsonAreColumnsAndArrays) {
  Made rows = two_rows();
  Text text;
  ASSERT_TRUE(write_json(rows, text));
  const auto parsed = nlohmann::json::parse(text.all);
  EXPECT_EQ(parsed["columns"], nlohmann::json({"time_s", "gpu", "why"}));
  EXPECT_EQ(parsed["rows"][0], nlohmann::json({0.1, 0, "a, \"b\"\nc"}));
  EXPECT_TRUE(parsed["rows"][1][1].is_null());
}

TEST(Rows, WithoutAnyAreStillValid) {
  Made rows({});
  Text csv, json;
  ASSERT_TRUE(write_csv(rows, csv));
  ASSERT_TRUE(write_json(rows, json));
  EXPECT_EQ(csv.all, "time_s,gpu,why\n");
  EXPECT_TRUE(nlohmann::json::parse(json.all)["rows"].empty());
}

TEST(Rows, NeverHoldANumberThatIsNone) {
  Made rows({{std::nan(""), std::int64_t{0}, std::string()}});
  Text text;
  ASSERT_TRUE(write_json(rows, text));
  EXPECT_TRUE(nlohmann::json::parse(text.all)["rows"][0][0].is_null());
}

TEST(Rows, StopAtTheFirstFailureOfEitherSide) {
  Made broken = two_rows();
  broken.fail_at = 1;
  Text text;
  EXPECT_EQ(write_csv(broken, text).error().what, "broken");
  Made rows = two_rows();
  text.full = true;
  EXPECT_EQ(write_json(rows, text).error().what, "full");
}

TEST(JsonString, ReplacesWhatIsNotUtf8) {
  EXPECT_TRUE(nlohmann::json::accept(json_string("\xff\x01\"")));
}

}  // namespace
}  // namespace rubato::report
