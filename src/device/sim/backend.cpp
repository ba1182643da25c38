#include "device/sim/backend.h"

#include "base/text.h"
#include "device/sim/gpu_view.h"

namespace rubato::device::sim {
namespace {

class SimBackend final : public Backend {
 public:
  explicit SimBackend(std::shared_ptr<SimWorld> world) : world_(std::move(world)) {
    for (unsigned i = 0; i < world_->gpu_count(); ++i) gpus_.push_back(world_->identity(i));
  }

  std::string_view name() const override { return "sim"; }
  std::string driver_version() const override { return world_->driver_version(); }
  const std::vector<GpuIdentity>& gpus() const override { return gpus_; }
  std::shared_ptr<const Clock> clock() const override { return world_->clock(); }
  bool simulated() const override { return true; }
  std::optional<bool> outlives_job() const override { return world_->scenario().outlives_job; }

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
    return {{"RUBATO_SIM_WORLD", world_->path().string()}, {"RUBATO_SIM_GPUS", list}};
  }

 private:
  [[nodiscard]] Result<unsigned> find(const GpuId& id) const {
    if (const std::optional<unsigned> index = world_->find(id.uuid)) return *index;
    return fail(ErrorCode::not_found,
                cat("the simulated world ", world_->path().string(), " has no GPU ", id.uuid));
  }

  std::shared_ptr<SimWorld> world_;
  std::vector<GpuIdentity> gpus_;
};

}  // namespace

Result<std::unique_ptr<Backend>> open(std::string_view argument) {
  std::vector<std::string> profiles;
  if (!trim(argument).empty())
    for (const std::string& name : split(argument, ',')) profiles.emplace_back(trim(name));
  Result<std::unique_ptr<SimWorld>> world = open_world_from_environment(profiles, Rights::owner);
  if (!world) return fail(world.error());
  const std::shared_ptr<SimWorld> shared = std::move(*world);
  if (Status started = shared->begin_call(CallId::open, 0, shared->clock()->now()); !started)
    return fail(started.error());
  return std::make_unique<SimBackend>(shared);
}

}  // namespace rubato::device::sim
