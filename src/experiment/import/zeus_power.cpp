// Zeus's power traces of whole epochs (summary_power_*.csv, NSDI'23): average power of the board, no energy.
#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"
#include "experiment/import/collect.h"
#include "experiment/import/rows.h"

namespace rubato::experiment {
namespace {

constexpr std::array<std::string_view, 7> kColumns = {
    "dataset", "network", "batch_size", "optimizer", "power_limit", "time_per_epoch", "average_power"};

// "summary_power_v100" is of a V100.
Result<std::string> gpu_of(const ForeignFile& file, const ImportWishes& wishes) {
  if (wishes.gpu) return *wishes.gpu;
  constexpr std::string_view kPrefix = "summary_power_";
  std::string name = stem(file.name);
  if (!name.starts_with(kPrefix) || name.size() == kPrefix.size())
    return fail(ErrorCode::invalid_argument,
                cat(file.name, ": the file's name does not say which GPU it is of"),
                "name it: --gpu-name V100");
  name.erase(0, kPrefix.size());
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return name;
}

Result<SweepRow> row_of(const CsvRow& from, const std::string& gpu, const std::string& file) {
  const auto dataset = from.text("dataset");
  const auto network = from.text("network");
  const auto batch = from.text("batch_size");
  const auto optimizer = from.text("optimizer");
  for (const auto* cell : {&dataset, &network, &batch, &optimizer})
    if (!*cell) return fail(cell->error());
  const auto limit = from.positive("power_limit");
  const auto time = from.positive("time_per_epoch");
  const auto power = from.positive("average_power");
  for (const auto* cell : {&limit, &time, &power})
    if (!*cell) return fail(cell->error());
  const auto watts = plausible_limit(*limit, file, from.line());
  if (!watts) return fail(watts.error());
  SweepRow row;
  row.gpu = gpu;
  row.group = cat(*dataset, "/", *network);
  row.workload = cat(row.group, "/b", *batch, "/", *optimizer);
  row.power_limit = *watts;
  row.time = Seconds(*time);
  row.power = Watts(*power);
  row.energy = row.power * row.time;
  return row;
}

}  // namespace

Status read_zeus_power(const ForeignFile& file, const ImportWishes& wishes, Collect& into) {
  const auto gpu = gpu_of(file, wishes);
  if (!gpu) return fail(gpu.error());
  CsvRows csv;
  if (const Status read = read_csv_rows(file.name, file.text, kColumns, csv); !read) return read;
  for (const CsvRow& line : csv.rows) {
    auto row = row_of(line, *gpu, file.name);
    if (!row) return fail(row.error());
    if (const Status added = into.add(std::move(*row), file.name, line.line()); !added) return added;
  }
  into.comment(cat(stem(file.name), ": one epoch; energy is mean power times time"));
  return {};
}

}  // namespace rubato::experiment
