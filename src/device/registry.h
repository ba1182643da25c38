// Every backend, and the way from what a user typed after --gpu to open GPUs.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/board_figures.h"
#include "core/gpu_figures.h"
#include "device/gpu.h"

namespace rubato::device {

struct BackendEntry {
  std::string_view name;  // also the prefix on the command line: "sim:v100"
  Result<std::unique_ptr<Backend>> (*open)(std::string_view argument);  // what follows the prefix, or empty
  std::string_view description;
};

[[nodiscard]] std::span<const BackendEntry> backends();

struct Selection {
  std::unique_ptr<Backend> backend;
  std::vector<GpuIdentity> chosen;  // in the order asked for
  std::string spec;              // opens the same backend again in another process: "nvml", "sim:v100,v100"
  std::vector<Error> missing{};  // of select_present_gpus: for each item that names no GPU
};

/// `list`: empty (every NVML GPU, narrowed by `visible_devices` = CUDA_VISIBLE_DEVICES, absent where it is
/// not set, read with `device_order` = CUDA_DEVICE_ORDER), or comma separated indices, UUIDs (or unique
/// beginnings), PCI ids, or "sim:PROFILE" items. Backends cannot be mixed. Errors: not_found naming what
/// exists; unavailable where there is no driver.
[[nodiscard]] Result<Selection> select_gpus(std::string_view list,
                                            std::optional<std::string_view> visible_devices,
                                            std::string_view device_order = {});

/// As select_gpus, but what is missing is told beside what is there, which may be nothing.
[[nodiscard]] Result<Selection> select_present_gpus(std::string_view list);

/// Opens the backend named by Selection::spec.
[[nodiscard]] Result<std::unique_ptr<Backend>> open_backend(std::string_view spec);

/// Of the board that the driver calls by this name, where gpus/ has a profile of it.
[[nodiscard]] std::optional<GpuFigures> figures_of_board(std::string_view name);

/// Likewise, with clocks and power. Leakage and the warm clock are at the temperature the board settles at
/// when it draws its default limit, or where it starts to slow down.
[[nodiscard]] std::optional<BoardFigures> board_figures_of(std::string_view name);

}  // namespace rubato::device
