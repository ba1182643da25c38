// Perseus's profiles of pipeline stages: time and energy of one microbatch's forward or backward pass.
#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"
#include "experiment/import/collect.h"
#include "experiment/import/rows.h"

namespace rubato::experiment {
namespace {

constexpr std::array<std::string_view, 5> kColumns = {"stage", "instruction", "frequency", "time", "energy"};
constexpr std::array<std::string_view, 5> kNumberFormats = {"_bf16", "_fp16", "_fp32", "_tf32", "_fp8"};

struct Named {
  std::string model;
  std::string gpu;
};

// "gpt3-175b+a100_sxm_bf16" is gpt3-175b on an A100 SXM.
Result<Named> named(const ForeignFile& file, const ImportWishes& wishes) {
  const auto parts = split(stem(file.name), '+');
  Named out{parts.front(), parts.size() == 2 ? parts[1] : std::string()};
  for (const std::string_view format : kNumberFormats)
    if (out.gpu.ends_with(format)) out.gpu.erase(out.gpu.size() - format.size());
  std::transform(out.gpu.begin(), out.gpu.end(), out.gpu.begin(),
                 [](unsigned char c) { return c == '_' ? ' ' : static_cast<char>(std::toupper(c)); });
  if (wishes.gpu) out.gpu = *wishes.gpu;
  if (wishes.workload) out.model = *wishes.workload;
  if (out.gpu.empty())
    return fail(ErrorCode::invalid_argument,
                cat(file.name, ": the file's name does not say which GPU it is of"),
                "name it: --gpu-name 'A100 SXM'");
  return out;
}

Result<SweepRow> row_of(const CsvRow& from, const Named& who) {
  const auto stage = from.text("stage");
  if (!stage) return fail(stage.error());
  const auto instruction = from.text("instruction");
  if (!instruction) return fail(instruction.error());
  const auto clock = from.positive("frequency");
  if (!clock) return fail(clock.error());
  constexpr double kLeastMegahertz = 10;  // 1.41 is in GHz
  constexpr double kMostMegahertz = 10000;
  if (*clock < kLeastMegahertz || *clock > kMostMegahertz)
    return fail(from.wrong("frequency", "is no clock in MHz"));
  const auto time = from.positive("time");
  if (!time) return fail(time.error());
  const auto energy = from.positive("energy");
  if (!energy) return fail(energy.error());
  SweepRow row;
  row.gpu = who.gpu;
  row.group = cat(who.model, "/", *instruction);
  row.workload = cat(who.model, "/stage", *stage, "/", *instruction);
  row.sm_clock = Megahertz(*clock);
  row.time = Seconds(*time);
  row.energy = Joules(*energy);
  row.power = row.energy / row.time;
  return row;
}

}  // namespace

Status read_perseus(const ForeignFile& file, const ImportWishes& wishes, Collect& into) {
  const auto who = named(file, wishes);
  if (!who) return fail(who.error());
  CsvRows csv;
  if (const Status read = read_csv_rows(file.name, file.text, kColumns, csv); !read) return read;
  for (const CsvRow& line : csv.rows) {
    auto row = row_of(line, *who);
    if (!row) return fail(row.error());
    if (const Status added = into.add(std::move(*row), file.name, line.line()); !added) return added;
  }
  into.comment(cat(stem(file.name), ": one microbatch of one pipeline stage"));
  return {};
}

}  // namespace rubato::experiment
