// Where a world's state lies and how one process at a time changes it.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <utility>

#include "base/result.h"
#include "device/sim/state.h"

namespace rubato::device::sim {

class Storage {
 public:
  virtual ~Storage() = default;

  /// Written once, when the world is made; only FaultState::matched changes, atomically and without the lock.
  [[nodiscard]] virtual WorldHeader& header() = 0;
  /// Alone with one GPU's state. A process killed inside `change` leaves the state as it was before it.
  [[nodiscard]] virtual Status update(unsigned gpu, const std::function<void(GpuState&)>& change) = 0;
  [[nodiscard]] virtual const std::filesystem::path& path() const = 0;  // empty: private memory
  [[nodiscard]] virtual std::int64_t owner_uid() const = 0;
};

/// A new world: header and one state per GPU, both already filled.
struct NewWorld {
  WorldHeader header{};
  std::vector<GpuState> gpus;
};

[[nodiscard]] std::unique_ptr<Storage> private_storage(NewWorld world);
/// not_found; conflict: another version; corrupt: not a world.
[[nodiscard]] Result<std::unique_ptr<Storage>> open_file_storage(const std::filesystem::path& path);
/// Appears at once and whole. conflict where the file is there already.
[[nodiscard]] Status create_world_file(const std::filesystem::path& path, const NewWorld& world);

}  // namespace rubato::device::sim
