#include <unistd.h>

#include <fstream>
#include <iterator>

#include "base/fs_root.h"
#include "base/text.h"
#include "experiment/latency/latency_file.h"
#include "record/location.h"
#include "record/writer.h"

namespace rubato::experiment {
namespace fs = std::filesystem;

Result<fs::path> latency_file_of(std::string_view uuid) {
  const auto runs = record::default_directory();
  if (!runs) return fail(runs.error());
  // A UUID comes from a driver: nothing in it may lead out of the folder.
  std::string name;
  for (const char c : uuid) {
    const bool safe = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
    name += safe ? c : '_';
  }
  return runs->parent_path() / "latency" / cat(name, ".json");
}

Result<LatencyTable> load_latency(std::string_view uuid, std::string_view driver_version) {
  const auto file = latency_file_of(uuid);
  if (!file) return fail(file.error());
  const auto text = read_small_file(*file);
  if (!text)
    return fail(ErrorCode::not_found, cat(uuid, ": it was not measured yet how long its clock changes take"),
                cat("rubato latency --gpu ", uuid));
  auto table = read_latency(*text);
  if (!table)
    return fail(table.error().code, cat(file->string(), ": ", table.error().what), table.error().hint);
  if (table->uuid != uuid)
    return fail(ErrorCode::invalid_argument,
                cat(file->string(), ": of ", table->uuid, ", and has to be of ", uuid),
                cat("rubato latency --gpu ", uuid));
  if (table->driver_version != driver_version)
    return fail(ErrorCode::conflict,
                cat(uuid, ": its clock changes were timed under driver ", table->driver_version,
                    ", the driver is ", driver_version),
                cat("rubato latency --gpu ", uuid));
  return table;
}

Result<fs::path> save_latency(const LatencyTable& table) {
  const auto file = latency_file_of(table.uuid);
  if (!file) return fail(file.error());
  if (const Status made = record::make_private_folders(file->parent_path()); !made) return fail(made.error());
  const fs::path fresh = cat(file->string(), ".", ::getpid());
  std::error_code error;
  {
    std::ofstream out(fresh);
    out << write_latency(table);
    if (!out.flush()) error = std::make_error_code(std::errc::io_error);
  }
  if (!error) fs::rename(fresh, *file, error);
  if (!error) return *file;
  std::error_code ignored;
  fs::remove(fresh, ignored);
  return fail(ErrorCode::io, cat("cannot write ", file->string(), ": ", error.message()),
              "point XDG_STATE_HOME at a folder you can write to");
}

}  // namespace rubato::experiment
