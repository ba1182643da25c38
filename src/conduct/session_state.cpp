// What a session tells whoever watches the run.
#include "conduct/session.h"

namespace rubato::conduct {

void Session::tell_state(TimePoint now) {
  if (!parts_.state || now < next_state_) return;
  next_state_ = now + parts_.state_period;
  record::RunState out;
  out.running = now - begin_;
  out.strategy = std::string(parts_.strategy->name());
  out.doing = doing_.action;
  out.setting = doing_.setting;
  out.why = doing_.why;
  out.iterations = tracker_.completed() + watch_->given_out();
  out.iteration = watch_->ruling().estimate;
  if (const auto so_far = so_far_.so_far())
    out.saving = record::RunStateSaving{{so_far->saved.value, so_far->saved.half_width},
                                        {so_far->slower.value, so_far->slower.half_width},
                                        so_far->kind};
  for (const auto& unit : units_) {
    record::RunStateGpu& gpu = out.gpus.emplace_back();
    gpu.uuid = unit.id().uuid;
    gpu.name = unit.gpu->identity().name;
    gpu.kind = unit.gpu->kind();
    gpu.used_by_job = used_by_job(unit);
    gpu.power = unit.latest_power;
    gpu.in_force = unit.in_force;
    if (unit.found) gpu.found_limit = unit.found->requested;
    gpu.changed_by_someone_else = unit.changed_by_someone_else;
    const auto latest = unit.meter->latest();
    if (!latest || *latest <= begin_) continue;
    if (const auto energy = unit.meter->window(begin_, *latest)) {
      gpu.energy = energy->energy;
      gpu.energy_band_sampling = energy->band_sampling;
      gpu.energy_band_calibration = energy->band_calibration;
    }
  }
  parts_.state(std::move(out));
}

}  // namespace rubato::conduct
