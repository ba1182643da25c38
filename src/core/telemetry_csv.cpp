#include "core/telemetry_csv.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <set>

#include "base/text.h"
#include "core/csv_cells.h"

namespace rubato {
namespace {

constexpr std::size_t kLargestFile = std::size_t{1} << 30U;
constexpr std::size_t kLongestLine = 64U << 10U;
constexpr std::size_t kMostNamed = 5;
constexpr std::string_view kTime = "time_s";
// Nanoseconds of a TimePoint reach 292 years; Unix times in seconds lie inside.
constexpr double kFarthestTime = 9e9;

struct Column {
  std::string_view name;
  double most;
  void (*set)(TelemetryRow&, double);
};
constexpr std::array kColumns = {
    Column{"power_w", 1e5, [](TelemetryRow& row, double v) { row.power = Watts(v); }},
    Column{"sm_util_pct", 100, [](TelemetryRow& row, double v) { row.sm_utilisation = v / 100; }},
    Column{"memory_util_pct", 100, [](TelemetryRow& row, double v) { row.memory_utilisation = v / 100; }},
    Column{"sm_clock_mhz", 1e5, [](TelemetryRow& row, double v) { row.sm_clock = Megahertz(v); }},
};

class Reader {
 public:
  Reader(std::string_view text, std::string_view name) : rest_(text), name_(name) {}

  Result<TelemetryTrace> read() {
    if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);
    while (!rest_.empty()) {
      const std::string_view line = next_line();
      if (trim(line).empty() || line.starts_with('#')) continue;
      if (!places_.empty()) {
        row(line);
      } else if (const Status head = header(line); !head) {
        return fail(head.error());
      }
    }
    if (places_.empty())
      return fail(ErrorCode::invalid_argument, cat(name_, ": there is no header line"), known());
    return std::move(trace_);
  }

 private:
  static std::string known() {
    std::string out;
    for (const Column& column : kColumns) out += cat(out.empty() ? "" : ", ", column.name);
    return cat("a trace needs the column ", kTime, " and at least one of ", out);
  }
  [[nodiscard]] tl::unexpected<Error> bad(std::string_view what) const {
    return fail(ErrorCode::invalid_argument, cat(name_, ", line ", line_, ": ", what), known());
  }

  std::string_view next_line() {
    ++line_;
    const std::size_t end = rest_.find('\n');
    ended_ = end != std::string_view::npos;
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(ended_ ? end + 1 : rest_.size());
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }

  Status header(std::string_view line) {
    if (line.size() > kLongestLine || line.find('\0') != std::string_view::npos)
      return bad("this is no line of text");
    const Result<std::vector<std::string>> cells = csv_cells(line);
    if (!cells) return bad(cells.error().what);
    std::set<std::string_view> seen;
    bool timed = false;
    for (const std::string& cell : *cells) {
      const std::string_view name = trim(cell);
      const auto column = std::ranges::find(kColumns, name, &Column::name);
      const bool wanted = name == kTime || column != kColumns.end();
      if (wanted && !seen.insert(name).second)
        return bad(cat("column ", shown_cell(name), " stands there twice"));
      timed = timed || name == kTime;
      if (column != kColumns.end()) trace_.columns.emplace_back(name);
      if (!wanted) trace_.ignored.push_back(shown_cell(name));
      places_.push_back({name == kTime, column == kColumns.end() ? nullptr : &*column});
    }
    if (!timed) return bad(cat("no column ", kTime, " in ", shown_cell(line)));
    if (trace_.columns.empty()) return bad(cat("nothing was measured: there is only ", shown_cell(line)));
    return {};
  }

  void row(std::string_view line) {
    cells_.clear();
    if (line.size() > kLongestLine) return drop_row("is longer than any line of a trace");
    if (line.find('"') == std::string_view::npos) {
      for (std::size_t comma = 0; comma != std::string_view::npos;) {
        comma = line.find(',');
        cells_.push_back(line.substr(0, comma));
        line.remove_prefix(comma == std::string_view::npos ? line.size() : comma + 1);
      }
    } else {
      Result<std::vector<std::string>> quoted = csv_cells(line);
      if (!quoted) return drop_row(quoted.error().what);
      quoted_ = std::move(*quoted);
      cells_.assign(quoted_.begin(), quoted_.end());
    }
    if (cells_.size() < places_.size() && !ended_)
      return drop_row(cat("is cut off behind ", cells_.size(), " of ", places_.size(), " cells"));
    if (cells_.size() != places_.size())
      return drop_row(cat("has ", cells_.size(), " cells, the header ", places_.size()));
    take();
  }

  void take() {
    TelemetryRow row;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (!places_[i].time) continue;
      const std::optional<double> time = parse_number(trim(cells_[i]));
      if (!time || !(std::abs(*time) <= kFarthestTime))
        return drop_row(cat("has no usable ", kTime, ": ", shown_cell(cells_[i])));
      row.at = TimePoint{} + Seconds(*time);
    }
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const Column* column = places_[i].column;
      if (column == nullptr) continue;
      const std::string_view cell = trim(cells_[i]);
      if (cell.empty()) continue;
      const std::optional<double> value = parse_number(cell);
      if (value && *value >= 0 && *value <= column->most)
        column->set(row, *value);
      else
        drop_cell(*column, cell);
    }
    trace_.rows.push_back(row);
  }

  void drop_row(std::string_view why) {
    ++trace_.dropped_rows;
    if (trace_.first_drops.size() < kMostNamed) trace_.first_drops.push_back(cat("line ", line_, " ", why));
  }
  void drop_cell(const Column& column, std::string_view value) {
    ++trace_.dropped_cells;
    if (trace_.first_drops.size() < kMostNamed)
      trace_.first_drops.push_back(cat("line ", line_, ": ", column.name, " is ", shown_cell(value),
                                       ", not within 0 to ", number(column.most, 0)));
  }

  struct Place {
    bool time = false;
    const Column* column = nullptr;  // absent: the time, or ignored
  };

  std::string_view rest_;
  std::string_view name_;
  std::size_t line_ = 0;
  bool ended_ = false;  // the line, by a line break
  std::vector<Place> places_;
  std::vector<std::string_view> cells_;
  std::vector<std::string> quoted_;
  TelemetryTrace trace_;
};

}  // namespace

Result<TelemetryTrace> parse_telemetry(std::string_view text, std::string_view name) {
  return Reader(text, name).read();
}

Result<TelemetryTrace> read_telemetry(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return fail(ErrorCode::invalid_argument, cat(path.string(), " is a folder, not a trace"));
  std::ifstream in(path, std::ios::binary);
  if (!in) return fail(from_errno(errno, cat("cannot read the trace ", path.string())));
  std::string text;
  std::array<char, 64U << 10U> part{};
  while (in.read(part.data(), part.size()) || in.gcount() > 0) {
    text.append(part.data(), static_cast<std::size_t>(in.gcount()));
    if (text.size() > kLargestFile)
      return fail(ErrorCode::invalid_argument,
                  cat(path.string(), " is longer than ", kLargestFile, " bytes, the most a trace may have"));
  }
  if (in.bad()) return fail(ErrorCode::io, cat("cannot read the trace ", path.string(), " to its end"));
  return parse_telemetry(text, path.string());
}

}  // namespace rubato
