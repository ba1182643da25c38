#include "guard/ownership.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/text.h"

namespace rubato::guard {

Result<Ownership> Ownership::take(const Folder& folder, const GpuId& gpu) {
  if (const Status name = check_file_name(gpu.uuid); !name) return fail(name.error());
  auto fd = folder.open_file(gpu.uuid + ".lock", O_RDWR | O_CREAT | O_APPEND);
  if (!fd) return fail(fd.error());
  FileOps& files = folder.files();
  if (const Status locked = files.lock(fd->get()); !locked) {
    Error error = locked.error();
    if (error.code == ErrorCode::busy) {
      const auto owner = files.read_all(fd->get());
      const auto pid = owner ? parse_integer(trim(*owner)) : std::nullopt;
      error.what =
          cat(gpu.uuid, " is in the hands of another rubato guard", pid ? cat(" (process ", *pid, ")") : "");
      error.hint = "wait until that run ends, or choose another GPU with --gpu";
    }
    return fail(std::move(error));
  }
  // For display only; a lock without a name is a lock.
  if (files.truncate(fd->get(), 0)) (void)files.append(fd->get(), cat(::getpid(), "\n"));
  return Ownership(std::move(*fd));
}

}  // namespace rubato::guard
