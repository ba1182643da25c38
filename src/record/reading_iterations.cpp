// The iterations, what was known of them and when, what stood in for them, shifts, and counters.
#include <algorithm>

#include "record/schema.h"
#include "record/tables.h"

namespace rubato::record {
namespace {

void read_statements(Tables& t) {
  t.read.each(
      "SELECT at_ns,device_id,source,periodic,period_s,relation,confidence,half_width_fraction,"
      "drift_per_minute_fraction,launches,why,used,checks FROM iteration_statement ORDER BY at_ns,rowid",
      [&t](Statement& row) {
        IterationStatement& s = t.out.statements.emplace_back();
        IterationEstimate& e = s.estimate;
        e.at = row.time();
        s.gpu = t.optional_gpu(row);
        e.source = t.read.checked(parse_progress_source(row.text()), ProgressSource::telemetry);
        e.periodic = row.integer() != 0;
        e.period = row.optional_quantity<Seconds>();
        e.relation = t.read.checked(parse_period_relation(row.text()), PeriodRelation::exact);
        e.confidence = row.real();
        e.half_width = row.optional_real();
        e.drift_per_minute = row.optional_real();
        if (const auto launches = row.optional_integer()) e.launches = static_cast<std::uint64_t>(*launches);
        e.why = row.text();
        s.used = row.integer() != 0;
        s.check = row.text();
      });
}

Result<RateKind> parse_rate_kind(std::string_view name) {
  for (const RateKind kind : {RateKind::instructions, RateKind::kernels, RateKind::busy_time})
    if (name_of(kind) == name) return kind;
  return fail(ErrorCode::invalid_argument, cat("no kind of progress rate is called '", name, "'"), {});
}

void read_rates(Tables& t) {
  t.read.each(
      "SELECT begin_ns,end_ns,device_id,kind,per_second,half_width_fraction,confidence,why FROM "
      "progress_rate ORDER BY begin_ns,rowid",
      [&t](Statement& row) {
        RateStatement& s = t.out.rates.emplace_back();
        s.rate.begin = row.time();
        s.rate.end = row.time();
        s.gpu = t.optional_gpu(row);
        s.rate.kind = t.read.checked(parse_rate_kind(row.text()), RateKind::busy_time);
        s.rate.per_second = row.real();
        s.rate.half_width = row.optional_real();
        s.rate.confidence = row.real();
        s.rate.why = row.text();
      });
}

void read_shifts(Tables& t) {
  t.read.each(
      "SELECT at_ns,noticed_ns,device_id,what,from_value,to_value,unit,why FROM shift ORDER BY at_ns,rowid",
      [&t](Statement& row) {
        ShiftNoticed& s = t.out.shifts.emplace_back();
        s.shift.at = row.time();
        s.shift.noticed = row.time();
        s.gpu = t.gpu(row.integer());
        s.shift.what = row.text();
        s.shift.from = row.real();
        s.shift.to = row.real();
        s.shift.unit = row.text();
        s.shift.why = row.text();
      });
}

void read_features(Tables& t) {
  std::map<std::int64_t, std::size_t> window_at;
  t.read.each(cat("SELECT id,device_id,provider,begin_ns,end_ns,", setting_columns(""),
                  ",why FROM feature_window ORDER BY begin_ns,id"),
              [&](Statement& row) {
                window_at[row.integer()] = t.out.features.size();
                FeatureWindow& w = t.out.features.emplace_back();
                w.gpu = t.gpu(row.integer());
                w.provider = row.text();
                w.features.begin = row.time();
                w.features.end = row.time();
                w.setting = row.setting();
                w.why = row.text();
              });
  t.read.each("SELECT window_id,name,value FROM feature", [&](Statement& row) {
    const auto window = window_at.find(row.integer());
    const std::string name = row.text();
    if (window == window_at.end())
      return t.read.corrupt("a counter's value names a window that is not in table feature_window");
    // A counter that this version has no name for is nothing it could show.
    const auto known = std::ranges::find(kFeatureNames, name);
    if (known != kFeatureNames.end())
      t.out.features[window->second]
          .features.values[static_cast<std::size_t>(known - kFeatureNames.begin())] = row.optional_real();
  });
}

}  // namespace

void read_iterations(Tables& t) {
  // Before version 4 marks were the only source.
  t.read.each(cat("SELECT iteration,begin_ns,end_ns,", t.version < 4 ? "'marks'" : "source",
                  " FROM iteration ORDER BY begin_ns"),
              [&t](Statement& row) {
                Iteration& i = t.out.iterations.emplace_back();
                i.index = row.integer();
                i.begin = row.time();
                i.end = row.time();
                i.source = t.read.checked(parse_progress_source(row.text()), ProgressSource::marks);
              });
  if (t.version < 4) return;
  read_statements(t);
  read_rates(t);
  read_shifts(t);
  read_features(t);
}

}  // namespace rubato::record
