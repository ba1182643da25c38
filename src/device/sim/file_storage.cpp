#include "base/shared_file.h"
#include "base/text.h"
#include "device/sim/storage.h"

namespace rubato::device::sim {
namespace {

constexpr SharedFileFormat kFormat{.magic = kWorldMagic,
                                   .version = kWorldVersion,
                                   .cell_size = sizeof(GpuState),
                                   .least_header = sizeof(WorldHeader),
                                   .noun = "simulated world",
                                   .make_hint = "`rubato devices --gpu sim:v100` makes one",
                                   .remove_hint = "`rubato sim reset` removes it"};

class FileStorage final : public Storage {
 public:
  explicit FileStorage(std::unique_ptr<SharedFile> file) : file_(std::move(file)) {}

  WorldHeader& header() override { return *reinterpret_cast<WorldHeader*>(file_->header().data()); }
  const std::filesystem::path& path() const override { return file_->path(); }
  std::int64_t owner_uid() const override { return std::int64_t{file_->owner().value()}; }
  Status update(unsigned gpu, const std::function<void(GpuState&)>& change) override {
    return file_->update(gpu, [&](std::byte* cell) { change(*reinterpret_cast<GpuState*>(cell)); });
  }
  [[nodiscard]] bool sane() {
    const WorldHeader& h = header();
    return h.gpu_count == file_->cells() && h.gpu_count <= kMostWorldGpus && h.fault_count <= kMostFaults &&
           h.rate > 0;
  }

 private:
  std::unique_ptr<SharedFile> file_;
};

}  // namespace

Result<std::unique_ptr<Storage>> open_file_storage(const std::filesystem::path& path) {
  Result<std::unique_ptr<SharedFile>> file = SharedFile::open(path, kFormat);
  if (!file) return fail(file.error());
  auto storage = std::make_unique<FileStorage>(std::move(*file));
  if (!storage->sane())
    return fail(ErrorCode::corrupt,
                cat(path.string(), " is not a simulated world: its header contradicts itself"),
                cat("remove it: rm ", path.string()));
  return storage;
}

Status create_world_file(const std::filesystem::path& path, const NewWorld& world) {
  return SharedFile::create(path, kFormat, std::as_bytes(std::span(&world.header, 1)),
                            std::as_bytes(std::span(world.gpus)));
}

}  // namespace rubato::device::sim
