// From what people type after --gpu, or what a scheduler put into CUDA_VISIBLE_DEVICES, to GPUs: pure text
// work.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/gpu_id.h"

namespace rubato::device {

/// What a --gpu list asks for before any driver is opened.
struct Request {
  std::string backend = "nvml";
  std::string argument;            // "v100,v100" of "sim:v100,sim:v100"
  std::vector<std::string> items;  // names of GPUs of that backend; empty: all of them
};

/// invalid_argument for empty items and for items of two backends.
[[nodiscard]] Result<Request> parse_request(std::string_view list,
                                            std::span<const std::string_view> backends);

/// Index, UUID or its unique beginning, PCI id in any of its usual lengths. A GPU named twice counts once.
[[nodiscard]] Result<std::vector<GpuIdentity>> match_gpus(std::span<const std::string> items,
                                                          std::span<const GpuIdentity> gpus);

struct Present {
  std::vector<GpuIdentity> gpus;
  std::vector<Error> missing;  // for each item that names none
};

/// As match_gpus, for who does with the GPUs that are there.
[[nodiscard]] Result<Present> match_present(std::span<const std::string> items,
                                            std::span<const GpuIdentity> gpus);

struct Visible {
  std::vector<GpuIdentity> gpus;
  std::string doubt;      // why more than the job's own share may be among them; empty: none
  std::string unknown{};  // why it cannot be told which they are: all are given; empty: it can
};

/// The GPUs that CUDA will show a program with this CUDA_VISIBLE_DEVICES, in its order: up to its first item
/// that names none. `device_order`: CUDA_DEVICE_ORDER; without PCI_BUS_ID, indices among different GPUs
/// cannot be known and all are given, with that doubt. Of a MIG instance the whole GPU is given, or all where
/// its name does not tell which. not_found where nothing stays visible (an empty list, -1, NoDevFiles).
[[nodiscard]] Result<Visible> visible_gpus(std::string_view visible_devices,
                                           std::span<const GpuIdentity> gpus,
                                           std::string_view device_order = {});

/// As match_gpus, for a process that counts GPUs as CUDA does: a number is a place among those that
/// `visible_devices` shows it, where that is set.
[[nodiscard]] Result<std::vector<GpuIdentity>> match_counted(std::span<const std::string> items,
                                                             std::span<const GpuIdentity> gpus,
                                                             std::optional<std::string_view> visible_devices,
                                                             std::string_view device_order = {});

}  // namespace rubato::device
