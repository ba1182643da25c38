#include "guard/stale.h"

#include <algorithm>

#include "base/text.h"
#include "guard/ownership.h"
#include "guard/recover.h"

namespace rubato::guard {
namespace {

std::vector<GpuId> journals_among(const std::vector<std::string>& names) {
  std::vector<GpuId> gpus;
  for (const std::string& name : names) {
    if (check_file_name(name)) gpus.push_back(GpuId{name});
  }
  std::sort(gpus.begin(), gpus.end());
  return gpus;
}

/// Nothing where a living guard holds the GPU, or its journal is gone meanwhile.
std::optional<RestorationReport> restore_one(const Folder& folder, const GpuId& gpu,
                                             const StaleOptions& options, const Era& era) {
  const auto kept = [&gpu](const Error& error) {
    return RestorationReport{gpu, Restoration::failed, error.what + "; its journal is kept"};
  };
  const auto ownership = Ownership::take(folder, gpu);
  if (!ownership && ownership.error().code == ErrorCode::busy) return std::nullopt;
  if (!ownership) return kept(ownership.error());
  auto opened = options.open(gpu);
  if (!opened) return kept(opened.error());
  auto recovery = recover(folder, gpu, *opened, era);
  if (!recovery) return kept(recovery.error());
  if (!*recovery) return std::nullopt;
  return std::move((*recovery)->report);
}

}  // namespace

Result<std::vector<GpuId>> journals_in(const std::filesystem::path& folder) {
  FileOps files;
  const auto fd = files.open_folder(folder);
  if (!fd && fd.error().code == ErrorCode::not_found) return std::vector<GpuId>();
  if (!fd) return fail(fd.error());
  const auto names = files.list(fd->get());
  if (!names) return fail(names.error());
  return journals_among(*names);
}

Result<std::vector<RestorationReport>> restore_stale(const StaleOptions& options) {
  const auto folder = Folder::open(options.folder, options.files);
  if (!folder && folder.error().code == ErrorCode::not_found) return std::vector<RestorationReport>();
  if (!folder) return fail(folder.error());
  const auto names = folder->files().list(folder->fd());
  if (!names) return fail(names.error());
  const auto era = present_era(options.root, options.driver_version);
  if (!era) return fail(era.error());
  std::vector<RestorationReport> reports;
  for (const GpuId& gpu : journals_among(*names)) {
    if (auto report = restore_one(*folder, gpu, options, *era)) reports.push_back(std::move(*report));
  }
  return reports;
}

}  // namespace rubato::guard
