#include "record/reader.h"

#include <algorithm>
#include <array>
#include <span>

#include "record/open.h"
#include "record/outline.h"
#include "record/tables.h"

namespace rubato::record {
namespace {

// What is left is the job's.
void set_bystanders_aside(RunRecord& out) {
  if (!out.end) return;
  for (const DeviceEnd& end : out.end->devices) {
    if (end.used_by_job.value_or(true)) continue;
    const auto device = std::ranges::find_if(
        out.devices, [&](const DeviceRecord& d) { return d.info.identity.id == end.gpu; });
    if (device == out.devices.end()) continue;
    out.bystanders.push_back({device->info.identity, device->info.kind, end.energy});
    out.devices.erase(device);
  }
  if (out.bystanders.empty()) return;
  const auto of_one = [&out](const auto& row) {
    const std::optional<GpuId> gpu = row.gpu;
    return gpu &&
           std::ranges::any_of(out.bystanders, [&](const Bystander& b) { return b.identity.id == *gpu; });
  };
  std::erase_if(out.end->devices, of_one);
  std::erase_if(out.blocks, of_one);
  std::erase_if(out.setting_changes, of_one);
  std::erase_if(out.gaps, of_one);
  std::erase_if(out.statements, of_one);
  std::erase_if(out.rates, of_one);
  std::erase_if(out.shifts, of_one);
  std::erase_if(out.features, of_one);
}

using ReadPart = void (*)(Tables&);

Result<RunRecord> read_parts(const std::filesystem::path& file, Check check,
                             std::span<const ReadPart> parts) {
  auto db = open_record(file, check);
  if (!db) return fail(db.error());
  // One state of the file for all tables: the run may go on meanwhile.
  if (!db->execute("BEGIN")) return fail(db->error("cannot read run record"));
  auto info = read_info(*db);
  if (!info) return fail(info.error());
  RunRecord record;
  record.info = std::move(*info);
  record.file = file;
  const auto version = read_version(*db);
  if (!version) return fail(version.error());
  Tables tables(*db, *version, record);
  for (const ReadPart read : parts) read(tables);
  if (tables.read.failure()) return fail(*tables.read.failure());
  set_bystanders_aside(record);
  return record;
}

}  // namespace

Result<RunRecord> read_run(const std::filesystem::path& file) {
  constexpr std::array<ReadPart, 7> kAll = {read_devices, read_samples,  read_progress, read_iterations,
                                            read_actions, read_expected, read_ends};
  return read_parts(file, Check::whole_file, kAll);
}

Result<RunRecord> read_outline(const std::filesystem::path& file) {
  constexpr std::array<ReadPart, 3> kLittle = {read_devices, read_actions, read_ends};
  return read_parts(file, Check::header_only, kLittle);
}

bool someone_else_set(const RunRecord& run) {
  return std::any_of(run.setting_changes.begin(), run.setting_changes.end(),
                     [](const SettingChange& change) { return change.who == "someone else"; });
}

bool attached(const RunRecord& run) {
  return std::any_of(run.decisions.begin(), run.decisions.end(),
                     [](const Decision& decision) { return decision.action == kAttached; });
}

}  // namespace rubato::record
