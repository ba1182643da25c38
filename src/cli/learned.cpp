#include "cli/learned.h"

#include "base/log.h"
#include "cli/learnable.h"
#include "cli/records.h"
#include "record/learned_store.h"
#include "record/writer.h"

namespace rubato::cli {

std::optional<govern::Remembered> remembered(const std::vector<std::string>& command,
                                             const std::filesystem::path& folder, std::string_view gpu,
                                             std::string_view driver_version) {
  const auto runs = record::default_directory();
  // Without its folder a file's name says nothing of which file it is.
  if (!runs || folder.empty()) return std::nullopt;
  const auto learned = record::load_learned(
      record::learned_folder_beside(*runs),
      {record::program_key(command, folder), std::string(gpu), std::string(driver_version)});
  if (learned)
    return govern::Remembered{learned->setting, learned->time_ratio, learned->energy_ratio, learned->features,
                              learned->learned_on};
  if (learned.error().code == ErrorCode::corrupt) log::warning(learned.error());
  return std::nullopt;
}

void remember(const std::filesystem::path& record) {
  const auto read = read_summarised(record);
  if (!read || read->run.devices.empty()) return;
  const auto learned = learnable(read->run, read->summary);
  if (!learned) return;
  const record::DeviceInfo& gpu = read->run.devices.front().info;
  const auto runs = record::default_directory();
  if (!runs) return;
  const Status saved =
      record::save_learned(record::learned_folder_beside(*runs),
                           {record::program_key(read->run.info.command, read->run.info.working_directory),
                            gpu.identity.name, gpu.driver_version},
                           *learned);
  if (!saved) log::debug(saved.error().what);
}

}  // namespace rubato::cli
