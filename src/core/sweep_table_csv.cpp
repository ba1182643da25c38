#include "core/sweep_table_csv.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <tuple>

#include "base/text.h"
#include "core/csv_cells.h"

namespace rubato {
namespace {

constexpr std::size_t kLongestLine = 64U << 10U;
constexpr std::uintmax_t kLargestFile = 64U << 20U;
// Nothing measured lies outside; products and quotients of two such values are finite.
constexpr double kLeast = 1e-12;
constexpr double kMost = 1e12;
constexpr std::string_view kFeature = "feature_";
constexpr std::array<std::string_view, 9> kColumns = {"gpu",           "workload",     "group",
                                                      "power_limit_w", "sm_clock_mhz", "memory_clock_mhz",
                                                      "time_s",        "power_w",      "energy_j"};
constexpr std::string_view kDefault = "default";

class Reader {
 public:
  Reader(std::string_view text, std::string_view name) : rest_(text), name_(name) {}

  Result<SweepTable> read() {
    if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);
    while (!rest_.empty()) {
      const Result<std::string_view> line = next_line();
      if (!line) return fail(line.error());
      if (trim(*line).empty()) continue;
      if (Status taken = take(*line); !taken) return fail(taken.error());
    }
    if (columns_.empty())
      return fail(ErrorCode::invalid_argument, cat(name_, ": there is no header line"),
                  cat("it needs the columns ", known()));
    table_.origin.name = name_;
    return std::move(table_);
  }

 private:
  tl::unexpected<Error> bad(std::string_view what, std::string hint = {}) const {
    return fail(ErrorCode::invalid_argument, cat(name_, ", line ", line_, ": ", what), std::move(hint));
  }
  tl::unexpected<Error> bad_cell(std::string_view column, std::string_view value,
                                 std::string_view what) const {
    return bad(cat("column ", column, ": ", shown_cell(value), " ", what));
  }
  static std::string known() {
    std::string out;
    for (const std::string_view column : kColumns) out += cat(column, ", ");
    return cat(out, "and may have ", kDefault, " and any ", kFeature, "*");
  }

  Result<std::string_view> next_line() {
    ++line_;
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    if (end > kLongestLine) return bad(cat("it has ", end, " bytes; the longest allowed is ", kLongestLine));
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (const auto nul = line.find('\0'); nul != std::string_view::npos)
      return bad(cat("byte ", nul + 1, " is NUL: this is no text file"));
    return line;
  }

  Status take(std::string_view line) {
    if (line.starts_with('#')) {
      if (!columns_.empty()) return bad("a comment stands behind the header line", "move it to the top");
      line.remove_prefix(line.starts_with("# ") ? 2 : 1);
      table_.comments.emplace_back(line);
      return {};
    }
    const Result<std::vector<std::string>> cells = csv_cells(line);
    if (!cells) return bad(cells.error().what);
    return columns_.empty() ? header(*cells) : row(*cells);
  }

  Status header(const std::vector<std::string>& cells) {
    std::set<std::string> seen;
    for (const std::string& cell : cells) {
      const std::string column(trim(cell));
      const bool is_feature = column.starts_with(kFeature) && column.size() > kFeature.size();
      if (!is_feature && column != kDefault &&
          std::find(kColumns.begin(), kColumns.end(), column) == kColumns.end())
        return bad(cat("unknown column ", shown_cell(column)), cat("a sweep table has ", known()));
      if (!seen.insert(column).second) return bad(cat("column ", shown_cell(column), " stands there twice"));
      if (Status clean = name(column, cell); !clean) return clean;
      columns_.push_back(column);
    }
    for (const std::string_view column : kColumns)
      if (!seen.contains(std::string(column)))
        return bad(cat("column ", column, " is missing"), cat("a sweep table has ", known()));
    return {};
  }

  Status row(const std::vector<std::string>& cells) {
    if (cells.size() != columns_.size())
      return bad(cat("it has ", cells.size(), " cells; the header has ", columns_.size(), " columns"));
    SweepRow row;
    for (std::size_t i = 0; i < cells.size(); ++i)
      if (Status s = cell(row, columns_[i], cells[i]); !s) return s;
    const auto [first, is_new] = settings_.try_emplace(
        {row.gpu, row.workload, row.power_limit, row.sm_clock, row.memory_clock}, line_);
    if (!is_new)
      return bad(cat("workload ", shown_cell(row.workload), " stands at this setting on line ", first->second,
                     " already"),
                 "one row is one workload at one setting: put repeats together as their mean");
    table_.rows.push_back(std::move(row));
    table_.origin.lines.push_back(line_);
    return {};
  }

  Status cell(SweepRow& row, std::string_view column, std::string_view value) {
    if (column == "gpu") return text(row.gpu, column, value);
    if (column == "workload") return text(row.workload, column, value);
    if (column == "group") return text(row.group, column, value);
    if (column == kDefault) return flag(row.is_default, value);
    if (column == "time_s") return quantity(row.time, column, value);
    if (column == "power_w") return quantity(row.power, column, value);
    if (column == "energy_j") return quantity(row.energy, column, value);
    if (column == "power_limit_w") return knob(row.power_limit, column, value);
    if (column == "sm_clock_mhz") return knob(row.sm_clock, column, value);
    if (column == "memory_clock_mhz") return knob(row.memory_clock, column, value);
    return feature(row, column, value);
  }

  Status name(std::string_view column, std::string_view value) const {
    const bool clean =
        std::none_of(value.begin(), value.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
    return clean ? Status() : bad_cell(column, value, "has a control character");
  }
  Status text(std::string& to, std::string_view column, std::string_view value) const {
    if (value.empty()) return bad(cat("column ", column, " is empty"));
    to = value;
    return name(column, value);
  }
  Status flag(std::optional<bool>& to, std::string_view value) const {
    const std::string_view v = trim(value);
    if (v != "0" && v != "1" && !v.empty()) return bad_cell(kDefault, value, "is neither 0 nor 1");
    if (!v.empty()) to = v == "1";
    return {};
  }
  template <class Unit>
  Status quantity(Unit& to, std::string_view column, std::string_view value) const {
    const std::optional<double> parsed = parse_number(trim(value));
    if (!parsed) return bad_cell(column, value, "is no number");
    if (!(*parsed >= kLeast && *parsed <= kMost))
      return bad_cell(column, value, cat("must lie within ", kLeast, " to ", kMost));
    to = Unit(*parsed);
    return {};
  }
  template <class Unit>
  Status knob(std::optional<Unit>& to, std::string_view column, std::string_view value) const {
    return trim(value).empty() ? Status() : quantity(to.emplace(), column, value);
  }
  Status feature(SweepRow& row, std::string_view column, std::string_view value) const {
    if (trim(value).empty()) return {};
    const std::optional<double> parsed = parse_number(trim(value));
    if (!parsed || !std::isfinite(*parsed)) return bad_cell(column, value, "is no finite number");
    row.features.emplace(column.substr(kFeature.size()), *parsed);
    return {};
  }

  using SettingKey = std::tuple<std::string, std::string, std::optional<Watts>, std::optional<Megahertz>,
                                std::optional<Megahertz>>;

  std::string_view rest_;
  std::string_view name_;
  std::size_t line_ = 0;
  std::vector<std::string> columns_;
  std::map<SettingKey, std::size_t> settings_;  // the line that has it
  SweepTable table_;
};

template <class Unit>
std::string knob_text(const std::optional<Unit>& value) {
  return value ? number(value->value()) : std::string();
}

std::string row_text(const SweepRow& row, bool with_default, const std::set<std::string>& features) {
  std::string out =
      cat(csv_cell(row.gpu), ",", csv_cell(row.workload), ",", csv_cell(row.group), ",",
          knob_text(row.power_limit), ",", knob_text(row.sm_clock), ",", knob_text(row.memory_clock), ",",
          row.time.value(), ",", row.power.value(), ",", row.energy.value());
  if (with_default) out += !row.is_default ? "," : *row.is_default ? ",1" : ",0";
  for (const std::string& feature : features) {
    const auto found = row.features.find(feature);
    out += "," + (found == row.features.end() ? std::string() : number(found->second));
  }
  return out + "\n";
}

}  // namespace

Result<SweepTable> parse_sweep_table(std::string_view text, std::string_view name) {
  return Reader(text, name).read();
}

Result<SweepTable> read_sweep_table(const std::filesystem::path& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error)
    return fail(ErrorCode::not_found,
                cat("cannot read the sweep table ", path.string(), ": ", error.message()));
  if (size > kLargestFile)
    return fail(ErrorCode::invalid_argument,
                cat(path.string(), " has ", size, " bytes; a sweep table has at most ", kLargestFile));
  std::ifstream in(path, std::ios::binary);
  std::string text(size, '\0');
  in.read(text.data(), static_cast<std::streamsize>(size));
  if (!in) return fail(ErrorCode::io, cat("cannot read the sweep table ", path.string()));
  return parse_sweep_table(text, path.string());
}

Result<std::string> write_sweep_table(const SweepTable& table) {
  std::set<std::string> features;
  bool with_default = false;
  for (const SweepRow& row : table.rows) {
    with_default = with_default || row.is_default;
    for (const auto& [feature, value] : row.features) features.insert(feature);
  }
  std::string out;
  for (const std::string& comment : table.comments) out += cat("# ", comment, "\n");
  for (const std::string_view column : kColumns) out += cat(column == kColumns.front() ? "" : ",", column);
  if (with_default) out += cat(",", kDefault);
  for (const std::string& feature : features) out += cat(",", csv_cell(cat(kFeature, feature)));
  out += "\n";
  for (const SweepRow& row : table.rows) out += row_text(row, with_default, features);
  // What was written is what will be read, or it is not written.
  const Result<SweepTable> back = parse_sweep_table(out, "the table to be written");
  if (!back) return fail(back.error());
  if (*back != table)
    return fail(ErrorCode::invalid_argument,
                "the sweep table has a comment with a line break, or a name that cannot be written");
  return out;
}

}  // namespace rubato
