// From --gpu to open GPUs, with the words a user needs when that fails.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/gpu.h"
#include "device/registry.h"

namespace rubato::cli {

struct OpenGpus {
  device::Selection selection;
  std::vector<std::unique_ptr<device::Gpu>> gpus;  // in the order of selection.chosen
  std::vector<Error> lost;                         // of GPUs that nobody named and that do not open
  bool driver_stuck = false;  // a call into it has not come back: leave by conduct::leave_now()
};

/// `list` as typed after --gpu. A named GPU that cannot be opened is an error, and so is it when none can.
[[nodiscard]] Result<OpenGpus> open_gpus(std::string_view list);

/// `named`: somebody asked for these very GPUs.
[[nodiscard]] Result<OpenGpus> open_selection(device::Selection selection, bool named);

/// GPUs that were chosen by name and that CUDA_VISIBLE_DEVICES hides from a job, which cannot compute there:
/// one sentence; empty: none, or it cannot be told.
[[nodiscard]] std::string hidden_from_job(const device::Selection& selection, std::string_view list);

/// What is known of a GPU's sensor: found out on this very GPU by earlier runs, else by its kind.
[[nodiscard]] SensorFacts known_sensor(const device::Backend& backend, const device::Gpu& gpu);

/// The backend that a --gpu list means, as Selection::spec would name it; textual, no driver is touched.
[[nodiscard]] Result<std::string> backend_spec(std::string_view list);

/// True where `list` means anything but the NVIDIA driver; textual, no driver is touched.
[[nodiscard]] bool names_simulated(std::string_view list);

/// The UUIDs `list` means, asked by a child process: the driver stays unopened in this one. Empty where it
/// cannot be told.
[[nodiscard]] std::vector<std::string> uuids_asked_by_child(std::string_view list);

/// Leaves only these; selection.chosen, which the job is told of, stays.
void keep_only(OpenGpus& open, const std::vector<std::string>& uuids);

}  // namespace rubato::cli
