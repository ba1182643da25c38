#include "cli/report/iteration_rows.h"

#include <utility>

#include "base/text.h"
#include "cli/report/query_rows.h"

namespace rubato::cli {
namespace {

using record::Statement;
using report::Cell;
using Row = std::vector<Cell>;

/// One column: how it is called, how it is taken.
struct Column {
  enum class As { time, gpu, whole, real, text };
  std::string sql;
  std::string name;
  As as;
};

void append(Statement& from, Column::As as, const RecordView& view, Row& row) {
  switch (as) {
    case Column::As::time:
      row.emplace_back(static_cast<double>(from.integer() - view.begin.ns) / 1e9);
      return;
    case Column::As::gpu: {
      const auto id = from.optional_integer();
      const auto gpu = id ? view.index_of.find(*id) : view.index_of.end();
      if (gpu == view.index_of.end())
        row.emplace_back();
      else
        row.emplace_back(gpu->second);
      return;
    }
    case Column::As::whole: {
      const auto value = from.optional_integer();
      if (value)
        row.emplace_back(*value);
      else
        row.emplace_back();
      return;
    }
    case Column::As::real:
      return append_real(from, row);
    case Column::As::text:
      return append_text(from, row);
  }
}

std::unique_ptr<report::Rows> read(const RecordView& view, std::string_view table,
                                   std::vector<Column> columns, std::string_view order) {
  std::string sql = "SELECT ";
  std::vector<std::string> names;
  for (const Column& c : columns) {
    sql += cat(names.empty() ? "" : ",", c.sql);
    names.push_back(c.name);
  }
  sql += cat(" FROM ", table, " ORDER BY ", order);
  return std::make_unique<QueryRows>(view.db, std::move(sql), std::move(names),
                                     [view, columns = std::move(columns)](Statement& from, Row& row) {
                                       for (const Column& c : columns) append(from, c.as, view, row);
                                     });
}

}  // namespace

std::unique_ptr<report::Rows> iteration_rows(Series series, const RecordView& view) {
  using As = Column::As;
  const bool told = view.version >= 4;
  if (series == Series::iterations)
    return read(view, "iteration",
                {{"iteration", "iteration", As::whole},
                 {"begin_ns", "begin_s", As::time},
                 {"end_ns", "end_s", As::time},
                 {"(end_ns-begin_ns)/1e9", "duration_s", As::real},
                 {told ? "source" : "'marks'", "source", As::text}},
                "rowid");
  std::string_view table;
  std::string_view order = "rowid";
  std::vector<Column> columns;
  const auto same = [](const std::string& name, As as) { return Column{name, name, as}; };
  if (series == Series::statements) {
    table = "iteration_statement";
    columns = {{"at_ns", "time_s", As::time}, {"device_id", "gpu", As::gpu}};
    for (const char* name : {"source", "relation"}) columns.push_back(same(name, As::text));
    for (const char* name : {"periodic", "used", "launches"}) columns.push_back(same(name, As::whole));
    for (const char* name : {"period_s", "half_width_fraction", "confidence", "drift_per_minute_fraction"})
      columns.push_back(same(name, As::real));
    columns.push_back(same("why", As::text));
    columns.push_back({"checks", "check", As::text});
  } else if (series == Series::rates) {
    table = "progress_rate";
    columns = {{"begin_ns", "begin_s", As::time},
               {"end_ns", "end_s", As::time},
               {"device_id", "gpu", As::gpu},
               same("kind", As::text)};
    for (const char* name : {"per_second", "half_width_fraction", "confidence"})
      columns.push_back(same(name, As::real));
    columns.push_back(same("why", As::text));
  } else if (series == Series::shifts) {
    table = "shift";
    columns = {{"at_ns", "time_s", As::time},    {"noticed_ns", "noticed_s", As::time},
               {"device_id", "gpu", As::gpu},    same("what", As::text),
               {"from_value", "from", As::real}, {"to_value", "to", As::real},
               same("unit", As::text),           same("why", As::text)};
  } else {
    table = "feature_window JOIN feature ON window_id=feature_window.id";
    order = "feature.rowid";
    columns = {{"begin_ns", "begin_s", As::time},
               {"end_ns", "end_s", As::time},
               {"device_id", "gpu", As::gpu},
               same("provider", As::text),
               {"name", "counter", As::text},
               same("value", As::real),
               same("why", As::text)};
  }
  if (told) return read(view, table, std::move(columns), order);
  std::vector<std::string> names;
  names.reserve(columns.size());
  for (const Column& c : columns) names.push_back(c.name);
  return no_rows(std::move(names));
}

}  // namespace rubato::cli
