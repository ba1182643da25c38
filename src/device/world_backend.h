// The backend of a world of GPUs that is a file: what the simulated and the replayed one share.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "device/gpu.h"

namespace rubato::device {

/// Names by which such a world is known.
struct WorldNames {
  std::string_view backend;        // "sim"
  std::string_view world;          // in words: "the simulated world"
  std::string_view path_variable;  // of the job's environment
  std::string_view chosen_variable;
};

/// Found by argument-dependent lookup for each World: make_gpu(world, index), make_control(world, index),
/// driver_version_of(world), outlives_job_of(world).
template <class World>
class WorldBackend final : public Backend {
 public:
  WorldBackend(std::shared_ptr<World> world, WorldNames names) : world_(std::move(world)), names_(names) {
    for (unsigned i = 0; i < world_->gpu_count(); ++i) gpus_.push_back(world_->identity(i));
  }

  std::string_view name() const override { return names_.backend; }
  std::string driver_version() const override { return driver_version_of(*world_); }
  const std::vector<GpuIdentity>& gpus() const override { return gpus_; }
  std::shared_ptr<const Clock> clock() const override { return world_->clock(); }
  bool simulated() const override { return true; }
  std::optional<bool> outlives_job() const override { return outlives_job_of(*world_); }

  Result<std::unique_ptr<Gpu>> open(const GpuId& id) override {
    const Result<unsigned> index = find(id);
    if (!index) return fail(index.error());
    return make_gpu(world_, *index);
  }

  Result<std::unique_ptr<GpuControl>> open_control(const GpuId& id) override {
    const Result<unsigned> index = find(id);
    if (!index) return fail(index.error());
    return make_control(world_, *index);
  }

  std::vector<std::pair<std::string, std::string>> job_environment(
      const std::vector<GpuId>& gpus) const override {
    std::string list;
    for (const GpuId& gpu : gpus) list += cat(list.empty() ? "" : ",", gpu.uuid);
    return {{std::string(names_.path_variable), world_->path().string()},
            {std::string(names_.chosen_variable), list}};
  }

 private:
  [[nodiscard]] Result<unsigned> find(const GpuId& id) const {
    if (const std::optional<unsigned> index = world_->find(id.uuid)) return *index;
    return fail(ErrorCode::not_found,
                cat(names_.world, " ", world_->path().string(), " has no GPU ", id.uuid));
  }

  std::shared_ptr<World> world_;
  WorldNames names_;
  std::vector<GpuIdentity> gpus_;
};

}  // namespace rubato::device
