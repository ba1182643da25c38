#include <mutex>

#include "device/sim/storage.h"

namespace rubato::device::sim {
namespace {

class PrivateStorage final : public Storage {
 public:
  explicit PrivateStorage(NewWorld world) : world_(std::move(world)) {}

  WorldHeader& header() override { return world_.header; }
  Status update(unsigned gpu, const std::function<void(GpuState&)>& change) override {
    const std::scoped_lock lock(mutex_);
    change(world_.gpus[gpu]);
    return {};
  }
  const std::filesystem::path& path() const override { return path_; }
  std::int64_t owner_uid() const override { return -1; }

 private:
  std::mutex mutex_;
  NewWorld world_;
  std::filesystem::path path_;
};

}  // namespace

std::unique_ptr<Storage> private_storage(NewWorld world) {
  return std::make_unique<PrivateStorage>(std::move(world));
}

}  // namespace rubato::device::sim
