#include "cli/report/series.h"

#include <map>

#include "analyse/mark_names.h"
#include "base/text.h"
#include "cli/report/expectation_rows.h"
#include "cli/report/iteration_rows.h"
#include "cli/report/meter_rows.h"
#include "cli/report/query_rows.h"
#include "cli/report/sample_rows.h"
#include "cli/report/watched_rows.h"
#include "record/open.h"
#include "record/schema.h"
#include "record/sqlite.h"
#include "report/format.h"
#include "report/layout.h"

namespace rubato::cli {
namespace {

using record::Statement;
using report::Cell;

void add_channels(const record::Database& db, std::vector<std::string>& out) {
  Statement channels("SELECT meter,name,scope,inside,place,sensor_source FROM channel ORDER BY id");
  while (channels.next(db)) {
    const std::string meter = channels.text();
    const std::string name = channels.text();
    const std::string scope = channels.text();
    const std::string inside = channels.text();
    const std::string place = channels.text();
    out.push_back(cat("meter ", meter, ", ", name, ": ", scope,
                      inside.empty() ? "" : cat(", inside ", inside), ", ", place, ", ", channels.text()));
  }
}

std::vector<std::string> with_setting(std::vector<std::string> columns,
                                      const std::vector<std::string>& after) {
  for (std::string& name : split(record::setting_columns(""), ',')) columns.push_back(std::move(name));
  columns.insert(columns.end(), after.begin(), after.end());
  return columns;
}

}  // namespace

struct SeriesReader::Impl {
  record::Database db;
  record::RunInfo info;
  std::int64_t version;
  std::vector<SeriesGpu> gpus;
  std::map<std::int64_t, std::int64_t> index_of;  // device row → driver index
  std::function<void(std::size_t)> watcher{};

  [[nodiscard]] Cell since_begin(TimePoint at) const {
    return static_cast<double>(at.ns - info.begin.ns) / 1e9;
  }
  [[nodiscard]] std::unique_ptr<report::Rows> query(std::string sql, std::vector<std::string> columns,
                                                    QueryRows::Take take) const {
    return std::make_unique<QueryRows>(db, std::move(sql), std::move(columns), std::move(take));
  }
};

SeriesReader::SeriesReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SeriesReader::SeriesReader(SeriesReader&&) noexcept = default;
SeriesReader::~SeriesReader() = default;

const record::RunInfo& SeriesReader::info() const {
  return impl_->info;
}

Result<SeriesReader> SeriesReader::open(const std::filesystem::path& file) {
  auto db = record::open_record(file, record::Check::whole_file);
  if (!db) return fail(db.error());
  // One transaction: what the run adds meanwhile is not seen by one series and missed by another.
  if (const Status begun = db->execute("BEGIN"); !begun) return fail(begun.error());
  auto info = record::read_info(*db);
  if (!info) return fail(info.error());
  const auto version = record::read_version(*db);
  if (!version) return fail(version.error());
  auto impl = std::make_unique<Impl>(Impl{std::move(*db), std::move(*info), *version, {}, {}, {}});
  Statement devices("SELECT id,driver_index FROM device ORDER BY id");
  while (devices.next(impl->db)) {
    const std::int64_t row = devices.integer();
    const std::int64_t index = devices.integer();
    impl->gpus.push_back({row, index});
    impl->index_of[row] = index;
  }
  if (devices.failed()) return fail(impl->db.error("cannot read run record"));
  return SeriesReader(std::move(impl));
}

Result<std::vector<std::string>> SeriesReader::facts() const {
  const record::RunInfo& info = impl_->info;
  std::vector<std::string> out = {
      cat("rubato export, run ", info.run_id, ", ", info.mode, ", rubato ", info.rubato_version),
      cat("command: ", report::command_line(info.command)),
      cat("started_at: ", info.started_at, ", host: ", info.host),
      cat("time_s: seconds of the run's clock since its begin, clock rate ", number(info.clock_rate)),
      "a value that was not read is empty, never zero"};
  Statement devices("SELECT driver_index,name,uuid,kind,backend,driver_version FROM device ORDER BY id");
  while (devices.next(impl_->db)) {
    const std::int64_t index = devices.integer();
    const std::string name = devices.text();
    const std::string uuid = devices.text();
    const std::string kind = devices.text();
    const std::string backend = devices.text();
    out.push_back(
        cat("gpu ", index, ": ", name, ", ", uuid, ", ", kind, ", ", backend, ", driver ", devices.text()));
  }
  // A source of a meter's channel belongs to no GPU; channels are told of below.
  Statement sources(
      "SELECT device_id,name,unit,scope,kind,quality FROM source WHERE device_id IS NOT NULL ORDER BY id");
  while (sources.next(impl_->db)) {
    const std::int64_t index = impl_->index_of[sources.integer()];
    const std::string name = sources.text();
    const std::string unit = sources.text();
    const std::string scope = sources.text();
    const std::string kind = sources.text();
    out.push_back(
        cat("source of gpu ", index, ": ", name, ", ", unit, ", ", scope, ", ", kind, ": ", sources.text()));
  }
  if (impl_->version >= 3) add_channels(impl_->db, out);
  if (devices.failed() || sources.failed()) return fail(impl_->db.error("cannot read run record"));
  // A command may hold line breaks, which would end the comment.
  for (std::string& line : out) line = report::cut(line, line.size());
  return out;
}

std::size_t SeriesReader::rows_about(Series series) const {
  const auto sum_of = [this](const char* sql, std::int64_t since = 1) -> std::size_t {
    if (impl_->version < since) return 0;
    Statement sum(sql);
    return sum.next(impl_->db) ? static_cast<std::size_t>(sum.integer()) : 0;
  };
  switch (series) {
    case Series::samples:
      return sum_of("SELECT TOTAL(samples) FROM sample_chunk WHERE kind='fast'");
    case Series::meters:
      return sum_of("SELECT TOTAL(samples) FROM channel_chunk", 3);
    case Series::marks:
      return sum_of("SELECT COUNT(*) FROM mark");
    case Series::kernels:
      return sum_of("SELECT TOTAL(kernels) FROM kernel_chunk", 3);
    case Series::iterations:
      return sum_of("SELECT COUNT(*) FROM iteration");
    default:
      return 0;
  }
}

void SeriesReader::watch(std::function<void(std::size_t)> watcher) {
  impl_->watcher = std::move(watcher);
}

Result<std::unique_ptr<report::Rows>> SeriesReader::rows(Series series) const {
  auto out = unwatched(series);
  if (!out || !impl_->watcher) return out;
  return std::make_unique<WatchedRows>(std::move(*out), impl_->watcher);
}

Result<std::unique_ptr<report::Rows>> SeriesReader::unwatched(Series series) const {
  const Impl& in = *impl_;
  switch (series) {
    case Series::samples:
      return sample_rows(in.db, in.gpus, in.info.begin);
    case Series::meters:
      return in.version < 3 ? no_rows({kMeterColumns.begin(), kMeterColumns.end()})
                            : meter_rows(in.db, in.info.begin);
    case Series::marks:
      return in.query(
          cat("SELECT at_ns,kind,", in.version < 3 ? "NULL" : "text", ",mark_id,pid,tid,rank,flags,",
              in.version < 3 ? "0,0" : "detail_0,detail_1", " FROM mark ",
              in.version < 3 ? "" : "LEFT JOIN name ON name.id=mark_id ", "ORDER BY at_ns,mark.rowid"),
          {"time_s", "mark", "name", "id", "pid", "tid", "rank", "flags", "detail_0", "detail_1"},
          [&in](Statement& from, std::vector<Cell>& row) {
            row.push_back(in.since_begin(from.time()));
            row.emplace_back(std::string(analyse::name_of_mark(from.integer())));
            append_text(from, row);
            // SQLite has signed integers only: id and details are bits of unsigned ones.
            const auto append_unsigned = [&] {
              row.emplace_back(static_cast<std::uint64_t>(from.integer()));
            };
            append_unsigned();
            for (int i = 0; i < 4; ++i) row.emplace_back(from.integer());
            append_unsigned();
            append_unsigned();
          });
    case Series::kernels:
      return in.version < 3 ? no_rows({kKernelColumns.begin(), kKernelColumns.end()})
                            : kernel_rows(in.db, in.info.begin);
    case Series::iterations:
    case Series::statements:
    case Series::rates:
    case Series::shifts:
    case Series::features:
      return iteration_rows(series, RecordView{in.db, in.version, in.info.begin, in.index_of});
    case Series::blocks:
      return in.query(
          cat("SELECT begin_ns,end_ns,device_id,role,iterations,", record::setting_columns(""),
              ",energy_j,band_sampling_j,band_calibration_j,(energy_end_ns-energy_begin_ns)/1e9 FROM window "
              "ORDER BY rowid"),
          with_setting({"begin_s", "end_s", "gpu", "role", "iterations"},
                       {"energy_j", "band_sampling_j", "band_calibration_j", "energy_s"}),
          [&in](Statement& from, std::vector<Cell>& row) {
            row.push_back(in.since_begin(from.time()));
            row.push_back(in.since_begin(from.time()));
            const auto gpu = in.index_of.find(from.integer());
            if (gpu == in.index_of.end())
              row.emplace_back();
            else
              row.emplace_back(gpu->second);
            row.emplace_back(from.text());
            row.emplace_back(from.integer());
            for (int i = 0; i < record::kSettingColumns + 4; ++i) append_real(from, row);
          });
    case Series::decisions:
      return in.query(
          cat("SELECT at_ns,action,", record::setting_columns(""), ",why FROM decision ORDER BY rowid"),
          with_setting({"time_s", "action"}, {"why"}), [&in](Statement& from, std::vector<Cell>& row) {
            row.push_back(in.since_begin(from.time()));
            row.emplace_back(from.text());
            for (int i = 0; i < record::kSettingColumns; ++i) append_real(from, row);
            row.emplace_back(from.text());
          });
    case Series::expectations:
      return expectation_rows(in.db, in.version, in.info.begin);
  }
  return fail(ErrorCode::internal, "an unknown series");
}

std::string_view name_of(Series series) {
  switch (series) {
    case Series::samples:
      return "samples";
    case Series::meters:
      return "meters";
    case Series::marks:
      return "marks";
    case Series::kernels:
      return "kernels";
    case Series::iterations:
      return "iterations";
    case Series::statements:
      return "statements";
    case Series::rates:
      return "rates";
    case Series::shifts:
      return "shifts";
    case Series::features:
      return "features";
    case Series::blocks:
      return "blocks";
    case Series::decisions:
      return "decisions";
    case Series::expectations:
      return "expectations";
  }
  return "samples";
}

}  // namespace rubato::cli
