#include "cli/report/expectation_rows.h"

#include "base/text.h"
#include "cli/report/query_rows.h"
#include "record/schema.h"

namespace rubato::cli {
namespace {

constexpr std::string_view kRatios =
    "time_ratio,time_ratio_low,time_ratio_high,energy_ratio,energy_ratio_low,energy_ratio_high,holds_"
    "probability";
constexpr int kRatioColumns = 7;

}  // namespace

std::unique_ptr<report::Rows> expectation_rows(const record::Database& db, std::int64_t version,
                                               TimePoint begin) {
  const std::string settings = record::setting_columns("");
  std::vector<std::string> columns = split(cat("time_s,", settings, ",", kRatios, ",measured,on_curve"), ',');
  if (version < 5) return no_rows(std::move(columns));
  return std::make_unique<QueryRows>(
      db,
      cat("SELECT at_ns,", settings, ",", kRatios,
          ",measured,on_curve FROM expected_setting JOIN expectation ON expectation.id=expectation_id "
          "ORDER BY expected_setting.rowid"),
      std::move(columns), [begin](record::Statement& from, std::vector<report::Cell>& row) {
        row.emplace_back((from.time() - begin).value());
        for (int i = 0; i < record::kSettingColumns + kRatioColumns; ++i) append_real(from, row);
        for (int i = 0; i < 2; ++i) row.emplace_back(from.integer());
      });
}

}  // namespace rubato::cli
