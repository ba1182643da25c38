#include "cli/report/trace.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "analyse/mark_names.h"
#include "base/text.h"
#include "report/trace_events.h"

namespace rubato::cli {
namespace {

using report::Cell;
using report::TraceArgument;
using report::Track;

// Made-up process and thread numbers lie beyond the kernel's highest (4194304, PID_MAX_LIMIT), so that they
// cannot be mistaken for the job's.
constexpr std::int64_t kRubato = 5'000'000;
constexpr std::int64_t kMeters = 5'000'001;
constexpr std::int64_t kFirstGpu = 5'000'100;
constexpr std::int64_t kFirstStream = 5'000'000;
constexpr std::int64_t kFirstWindow = 6'000'000;
constexpr Track kIterations{kRubato, 1};
constexpr Track kDecisions{kRubato, 2};
constexpr std::int64_t kFirstBlocks = 100;

/// One row, its cells by column name.
class Row {
 public:
  explicit Row(const report::Rows& rows) {
    for (const std::string& name : rows.columns()) at_.emplace(name, at_.size());
  }
  std::vector<Cell> cells{};

  [[nodiscard]] std::optional<double> number(std::string_view column) const {
    const Cell& c = cell(column);
    if (const auto* real = std::get_if<double>(&c)) return *real;
    if (const auto* integer = std::get_if<std::int64_t>(&c)) return static_cast<double>(*integer);
    return std::nullopt;
  }
  [[nodiscard]] std::int64_t integer(std::string_view column) const {
    const Cell& c = cell(column);
    if (const auto* bits = std::get_if<std::uint64_t>(&c)) return static_cast<std::int64_t>(*bits);
    const auto* value = std::get_if<std::int64_t>(&c);
    return value == nullptr ? 0 : *value;
  }
  [[nodiscard]] std::string text(std::string_view column) const {
    const auto* value = std::get_if<std::string>(&cell(column));
    return value == nullptr ? std::string() : *value;
  }
  [[nodiscard]] TimePoint time(std::string_view column, TimePoint begin) const {
    return begin + Seconds(number(column).value_or(0));
  }
  [[nodiscard]] const Cell& cell(std::string_view column) const {
    static const Cell kNone;
    const auto found = at_.find(column);
    return found == at_.end() || found->second >= cells.size() ? kNone : cells[found->second];
  }

 private:
  std::map<std::string, std::size_t, std::less<>> at_;
};

class Trace {
 public:
  Trace(const SeriesReader& reader, report::Sink& to)
      : reader_(reader), begin_(reader.info().begin), out_(to, begin_) {
    out_.name_process(kRubato, "rubato");
    out_.name_thread(kIterations, "iterations");
    out_.name_thread(kDecisions, "decisions");
  }

  Status write() {
    using Take = void (Trace::*)(const Row&);
    constexpr std::array<std::pair<Series, Take>, 7> kAll = {{{Series::samples, &Trace::sample},
                                                              {Series::meters, &Trace::meter},
                                                              {Series::iterations, &Trace::iteration},
                                                              {Series::blocks, &Trace::block},
                                                              {Series::decisions, &Trace::decision},
                                                              {Series::marks, &Trace::mark},
                                                              {Series::kernels, &Trace::kernel}}};
    for (const auto& [series, take] : kAll) {
      const auto rows = reader_.rows(series);
      if (!rows) return fail(rows.error());
      Row row(**rows);
      for (;;) {
        row.cells.clear();
        const auto more = (*rows)->next(row.cells);
        if (!more) return fail(more.error());
        if (!*more) break;
        (this->*take)(row);
      }
    }
    for (const auto& [key, open] : open_) close(key, open, std::max(latest_, open.begin), true);
    const auto facts = reader_.facts();
    if (!facts) return fail(facts.error());
    std::vector<std::pair<std::string, std::string>> about;
    for (std::size_t i = 0; i < facts->size(); ++i) about.emplace_back(cat("fact ", i + 1), (*facts)[i]);
    return out_.finish(about);
  }

 private:
  struct Key {
    std::int64_t pid;
    std::int64_t tid;
    std::string what;
    std::int64_t id;
    auto operator<=>(const Key&) const = default;
  };
  struct Open {
    TimePoint begin;
    std::string name;
  };

  void sample(const Row& row) {
    struct Line {
      std::string_view column, name, unit;
    };
    constexpr std::array<Line, 9> kLines = {
        {{"power_w", "power", "W"},
         {"module_power_w", "module power", "W"},
         {"memory_power_w", "memory power", "W"},
         {"sm_clock_mhz", "SM clock", "MHz"},
         {"memory_clock_mhz", "memory clock", "MHz"},
         {"sm_utilisation_fraction", "SM utilisation", "fraction"},
         {"memory_utilisation_fraction", "memory utilisation", "fraction"},
         {"temperature_c", "temperature", "Celsius"},
         {"enforced_limit_w", "enforced limit", "W"}}};
    const std::int64_t gpu = row.integer("gpu");
    const TimePoint at = seen(row.time("time_s", begin_));
    if (named_.insert(kFirstGpu + gpu).second) out_.name_process(kFirstGpu + gpu, cat("GPU ", gpu));
    for (const Line& line : kLines)
      if (const auto value = row.number(line.column))
        out_.counter(kFirstGpu + gpu, line.name, line.unit, at, *value);
  }

  void meter(const Row& row) {
    if (named_.insert(kMeters).second) out_.name_process(kMeters, "meters");
    const std::string channel = cat(row.text("meter"), " ", row.text("channel"));
    const TimePoint at = seen(row.time("time_s", begin_));
    const auto energy = row.number("energy_j");
    if (const auto power = row.number("power_w")) {
      out_.counter(kMeters, channel, "W", at, *power);
    } else if (energy) {
      // A register that only counts joules is shown as the power between two readings of it.
      const auto before = registers_.find(channel);
      if (before != registers_.end() && at > before->second.first)
        out_.counter(kMeters, channel, "W", before->second.first,
                     (*energy - before->second.second) / (at - before->second.first).value());
    }
    if (energy) registers_[channel] = {at, *energy};
  }

  void iteration(const Row& row) {
    out_.slice(kIterations, "iteration", cat("iteration ", row.integer("iteration")),
               row.time("begin_s", begin_), seen(row.time("end_s", begin_)));
  }

  void block(const Row& row) {
    const std::array<TraceArgument, 5> arguments = {
        {{"gpu", row.cell("gpu")},
         {"iterations", row.cell("iterations")},
         {"power_limit_w", row.cell("power_limit_w")},
         {"energy_j", row.cell("energy_j")},
         {"energy_band_sampling_j", row.cell("band_sampling_j")}}};
    // Blocks of several GPUs share their time: a line for each.
    const Track track{kRubato, kFirstBlocks + row.integer("gpu")};
    if (named_threads_.insert({track.process, track.thread}).second)
      out_.name_thread(track, cat("blocks at one setting, GPU ", row.integer("gpu")));
    out_.slice(track, "block", row.text("role"), row.time("begin_s", begin_), seen(row.time("end_s", begin_)),
               arguments);
  }

  void decision(const Row& row) {
    const std::array<TraceArgument, 2> arguments = {
        {{"why", row.cell("why")}, {"power_limit_w", row.cell("power_limit_w")}}};
    out_.moment(kDecisions, "decision", row.text("action"), seen(row.time("time_s", begin_)), arguments);
  }

  void mark(const Row& row) {
    const std::string kind = row.text("mark");
    const TimePoint at = seen(row.time("time_s", begin_));
    const Track track{row.integer("pid"), row.integer("tid")};
    name_job(track, row.integer("rank"));
    const auto stretch = analyse::stretch_of_mark(kind);
    if (!stretch) {
      const std::string name = row.text("name");
      out_.moment(track, kind, name.empty() ? kind : name, at);
      return;
    }
    const Key key{track.process, track.thread, std::string(stretch->what), row.integer("id")};
    const auto open = open_.find(key);
    if (open != open_.end()) {
      // Begun again without an end between: the mark of the end was lost.
      close(key, open->second, at, stretch->begins);
      open_.erase(open);
    }
    if (stretch->begins) open_[key] = {at, title(stretch->what, row)};
  }

  void close(const Key& key, const Open& open, TimePoint end, bool cut_short) {
    Track track{key.pid, key.tid};
    if (key.what == "window") {
      // The user's windows may cross each other: a line for each name.
      const auto line =
          windows_.try_emplace(key.id, kFirstWindow + static_cast<std::int64_t>(windows_.size())).first;
      track.thread = line->second;
      if (named_threads_.insert({track.process, track.thread}).second)
        out_.name_thread(track, cat("window ", open.name));
    }
    const TraceArgument lost{"end", std::string("not marked")};
    out_.slice(track, key.what, open.name, open.begin, end, std::span(&lost, cut_short ? 1 : 0));
  }

  void kernel(const Row& row) {
    const Track track{row.integer("pid"), kFirstStream + row.integer("stream")};
    if (named_threads_.insert({track.process, track.thread}).second)
      out_.name_thread(track, cat("GPU stream ", row.integer("stream")));
    const std::string name = row.text("kernel");
    const std::array<TraceArgument, 3> arguments = {
        {{"grid_x", row.cell("grid_x")}, {"block_x", row.cell("block_x")}, {"layer", row.cell("layer")}}};
    out_.slice(track, "kernel", name.empty() ? "kernel" : name, row.time("begin_s", begin_),
               seen(row.time("end_s", begin_)), arguments);
  }

  void name_job(const Track& track, std::int64_t rank) {
    if (named_.insert(track.process).second)
      out_.name_process(track.process, rank < 0 ? cat("job, process ", track.process)
                                                : cat("job, rank ", rank, ", process ", track.process));
    if (named_threads_.insert({track.process, track.thread}).second)
      out_.name_thread(track, cat("marks of thread ", track.thread));
  }

  static std::string title(std::string_view what, const Row& row) {
    if (what == "phase") return analyse::name_of_phase(static_cast<std::uint64_t>(row.integer("id")));
    const std::string name = row.text("name");
    if (!name.empty()) return name;
    return cat(what, " ", row.integer("id"));
  }

  TimePoint seen(TimePoint at) {
    latest_ = std::max(latest_, at);
    return at;
  }

  const SeriesReader& reader_;
  TimePoint begin_;
  report::TraceWriter out_;
  TimePoint latest_ = begin_;
  std::map<Key, Open> open_;
  std::set<std::int64_t> named_;
  std::set<std::pair<std::int64_t, std::int64_t>> named_threads_;
  std::map<std::string, std::pair<TimePoint, double>> registers_;
  std::map<std::int64_t, std::int64_t> windows_;  // id → made-up thread
};

}  // namespace

Status write_trace(const SeriesReader& reader, report::Sink& to) {
  return Trace(reader, to).write();
}

}  // namespace rubato::cli
