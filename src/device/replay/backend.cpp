#include "device/replay/backend.h"

#include "base/text.h"
#include "device/replay/gpu_view.h"

namespace rubato::device::replay {
namespace {

class ReplayBackend final : public Backend {
 public:
  explicit ReplayBackend(std::shared_ptr<ReplayWorld> world) : world_(std::move(world)) {
    for (unsigned i = 0; i < world_->gpu_count(); ++i) gpus_.push_back(world_->identity(i));
  }

  std::string_view name() const override { return "replay"; }
  std::string driver_version() const override { return "replay"; }
  const std::vector<GpuIdentity>& gpus() const override { return gpus_; }
  std::shared_ptr<const Clock> clock() const override { return world_->clock(); }
  bool simulated() const override { return true; }
  std::optional<bool> outlives_job() const override { return world_->outlives_job(); }

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
    return {{"RUBATO_REPLAY_WORLD", world_->path().string()}, {"RUBATO_REPLAY_GPUS", list}};
  }

 private:
  [[nodiscard]] Result<unsigned> find(const GpuId& id) const {
    if (const std::optional<unsigned> index = world_->find(id.uuid)) return *index;
    return fail(ErrorCode::not_found,
                cat("the world of replayed GPUs ", world_->path().string(), " has no GPU ", id.uuid));
  }

  std::shared_ptr<ReplayWorld> world_;
  std::vector<GpuIdentity> gpus_;
};

}  // namespace

Result<std::unique_ptr<Backend>> open(std::string_view argument) {
  const Result<std::vector<ReplaySpec>> specs = parse_specs(argument);
  if (!specs) return fail(specs.error());
  Result<std::unique_ptr<ReplayWorld>> world = open_world_from_environment(*specs);
  if (!world) return fail(world.error());
  return std::make_unique<ReplayBackend>(std::move(*world));
}

}  // namespace rubato::device::replay
