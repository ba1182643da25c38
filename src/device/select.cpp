#include "device/select.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "base/text.h"

namespace rubato::device {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

struct PciAddress {
  std::uint64_t domain = 0;
  std::uint64_t bus = 0;
  std::uint64_t device = 0;
  auto operator<=>(const PciAddress&) const = default;
};

/// "00000000:1B:00.0", "0000:1b:00.0", "1b:00.0", "1b:00".
std::optional<PciAddress> parse_pci(std::string_view text) {
  if (const auto dot = text.find('.'); dot != std::string_view::npos) text = text.substr(0, dot);
  const auto parts = split(text, ':');
  if (parts.size() != 2 && parts.size() != 3) return std::nullopt;
  std::array<std::uint64_t, 3> numbers{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto number = parse_hex(parts[i]);
    if (!number) return std::nullopt;
    numbers[i + 3 - parts.size()] = *number;
  }
  return PciAddress{numbers[0], numbers[1], numbers[2]};
}

std::string list_of(std::span<const GpuIdentity> gpus) {
  std::string out;
  for (const GpuIdentity& gpu : gpus)
    out +=
        cat(out.empty() ? "" : "; ", gpu.index, ": ", gpu.id.uuid, " (", gpu.name, ", ", gpu.pci_bus_id, ")");
  return out.empty() ? "none" : out;
}

bool is_mig(std::string_view item) {
  return lower(item).starts_with("mig-");
}

tl::unexpected<Error> refuse_mig(std::string_view item) {
  return fail(
      ErrorCode::not_supported,
      cat("'", item, "' is a MIG instance; power, limits and clocks exist for whole GPUs only"),
      "name the whole GPU ('rubato devices' lists them), which measures all of its instances together");
}

std::vector<GpuIdentity> candidates(std::string_view item, std::span<const GpuIdentity> gpus) {
  std::vector<GpuIdentity> found;
  const auto keep = [&](auto fits) {
    std::copy_if(gpus.begin(), gpus.end(), std::back_inserter(found), fits);
  };
  if (const auto index = parse_integer(item)) {
    keep([&](const GpuIdentity& gpu) { return *index == static_cast<std::int64_t>(gpu.index); });
  } else if (const auto address = parse_pci(item)) {
    keep([&](const GpuIdentity& gpu) { return parse_pci(gpu.pci_bus_id) == address; });
  } else if (const std::string wanted = lower(item); wanted.starts_with("gpu-")) {
    keep([&](const GpuIdentity& gpu) { return lower(gpu.id.uuid).starts_with(wanted); });
    const auto exact = std::find_if(found.begin(), found.end(),
                                    [&](const GpuIdentity& g) { return lower(g.id.uuid) == wanted; });
    if (exact != found.end()) return {*exact};
  }
  return found;
}

Result<GpuIdentity> match_one(std::string_view item, std::span<const GpuIdentity> gpus) {
  if (is_mig(item)) return refuse_mig(item);
  const auto found = candidates(item, gpus);
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    return fail(ErrorCode::not_found, cat("no GPU '", item, "'; there are: ", list_of(gpus)),
                "name one by index, UUID (or how it begins) or PCI id; 'rubato devices' lists them");
  }
  return fail(ErrorCode::invalid_argument, cat("'", item, "' fits ", found.size(), " GPUs: ", list_of(found)),
              "give more of the UUID");
}

/// One machine's GPUs in the order CUDA gives them, as far as that can be known.
std::vector<GpuIdentity> cuda_order(std::span<const GpuIdentity> gpus) {
  std::vector<GpuIdentity> sorted(gpus.begin(), gpus.end());
  const bool all_placed = std::all_of(sorted.begin(), sorted.end(),
                                      [](const auto& g) { return parse_pci(g.pci_bus_id).has_value(); });
  // Where a PCI id is unknown the driver's own order stays, which is by PCI id as well.
  if (all_placed) {
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
      return *parse_pci(a.pci_bus_id) < *parse_pci(b.pci_bus_id);
    });
  }
  return sorted;
}

bool device_order_known(std::span<const GpuIdentity> gpus, std::string_view device_order) {
  return device_order == "PCI_BUS_ID" ||
         std::all_of(gpus.begin(), gpus.end(), [&](const GpuIdentity& g) { return g.name == gpus[0].name; });
}

std::optional<GpuIdentity> counted_at(const std::vector<GpuIdentity>& counted, std::int64_t index) {
  if (index < 0 || static_cast<std::size_t>(index) >= counted.size()) return std::nullopt;
  return counted[static_cast<std::size_t>(index)];
}

/// By UUID or the beginning of one GPU's: CUDA takes no PCI ids.
std::optional<GpuIdentity> only_match(std::string_view item, std::span<const GpuIdentity> gpus) {
  if (!lower(item).starts_with("gpu-")) return std::nullopt;
  const auto found = candidates(item, gpus);
  return found.size() == 1 ? std::optional(found.front()) : std::nullopt;
}

/// "MIG-GPU-<uuid>/<instance>/<part>", as drivers before 470 name it, tells; "MIG-<uuid>" does not, unless
/// there is only one GPU.
std::optional<GpuIdentity> gpu_of_mig(std::string_view item, std::span<const GpuIdentity> gpus) {
  if (gpus.size() == 1) return gpus.front();
  constexpr std::string_view kPrefix = "MIG-";
  const std::string_view rest = item.substr(kPrefix.size());
  return only_match(rest.substr(0, rest.find('/')), gpus);
}

void add_once(std::vector<GpuIdentity>& chosen, const GpuIdentity& gpu) {
  const bool there =
      std::any_of(chosen.begin(), chosen.end(), [&](const GpuIdentity& g) { return g.id == gpu.id; });
  if (!there) chosen.push_back(gpu);
}

}  // namespace

Result<Request> parse_request(std::string_view list, std::span<const std::string_view> backends) {
  Request request;
  if (trim(list).empty()) return request;
  std::optional<std::string> backend;
  for (const std::string& raw : split(list, ',')) {
    const std::string item(trim(raw));
    if (item.empty()) {
      return fail(ErrorCode::invalid_argument, cat("'", list, "' has an empty item"),
                  "separate GPUs by single commas: '--gpu 0,1'");
    }
    std::string of = "nvml";
    std::string rest = item;
    for (const std::string_view name : backends) {
      if (item != name && !item.starts_with(cat(name, ":"))) continue;
      of = name;
      rest = item == name ? "" : item.substr(name.size() + 1);
    }
    if (backend && *backend != of) {
      return fail(ErrorCode::invalid_argument,
                  cat("'", list, "' mixes GPUs of '", *backend, "' and of '", of, "'; one run uses one kind"),
                  "simulated GPUs each take the prefix: '--gpu sim:v100,sim:v100'");
    }
    backend = of;
    if (rest.empty()) continue;
    if (of == "nvml")
      request.items.push_back(rest);
    else
      request.argument += cat(request.argument.empty() ? "" : ",", rest);
  }
  request.backend = *backend;
  return request;
}

Result<std::vector<GpuIdentity>> match_gpus(std::span<const std::string> items,
                                            std::span<const GpuIdentity> gpus) {
  auto present = match_present(items, gpus);
  if (!present) return fail(std::move(present.error()));
  if (!present->missing.empty()) return fail(std::move(present->missing.front()));
  return std::move(present->gpus);
}

Result<Present> match_present(std::span<const std::string> items, std::span<const GpuIdentity> gpus) {
  Present present;
  for (const std::string& item : items) {
    auto gpu = match_one(item, gpus);
    if (gpu)
      add_once(present.gpus, *gpu);
    else if (gpu.error().code == ErrorCode::not_found)
      present.missing.push_back(std::move(gpu.error()));
    else
      return fail(std::move(gpu.error()));
  }
  return present;
}

Result<Visible> visible_gpus(std::string_view visible_devices, std::span<const GpuIdentity> gpus,
                             std::string_view device_order) {
  const auto everything = [&](const std::string& unknown, std::string_view consequence) {
    return Visible{
        .gpus = {gpus.begin(), gpus.end()}, .doubt = cat(unknown, consequence), .unknown = unknown};
  };
  const auto counted = cuda_order(gpus);
  Visible visible;
  for (const std::string& raw : split(visible_devices, ',')) {
    const std::string item(trim(raw));
    const auto index = parse_integer(item);
    if (index && *index >= 0 && !device_order_known(gpus, device_order)) {
      return everything(
          cat("CUDA_VISIBLE_DEVICES=", visible_devices,
              " counts in CUDA's order, the fastest GPU first, which the driver does not tell on a "
              "machine with different GPUs"),
          ": all are watched; set CUDA_DEVICE_ORDER=PCI_BUS_ID or name GPUs by UUID to narrow that");
    }
    if (is_mig(item)) {
      const auto whole = gpu_of_mig(item, gpus);
      if (!whole) {
        return everything(cat("CUDA_VISIBLE_DEVICES=", visible_devices,
                              " names a MIG instance, which does not tell its GPU"),
                          ": all are watched, and whole");
      }
      visible.doubt = cat("'", item,
                          "' is a MIG instance: energy is measured for its whole GPU, the other "
                          "instances on it included");
      add_once(visible.gpus, *whole);
      continue;
    }
    const auto gpu = index ? counted_at(counted, *index) : only_match(item, gpus);
    if (!gpu) break;
    add_once(visible.gpus, *gpu);
  }
  if (!visible.gpus.empty()) return visible;
  return fail(
      ErrorCode::not_found,
      cat("CUDA_VISIBLE_DEVICES=", visible_devices, " leaves no GPU visible; there are: ", list_of(gpus)),
      "name a GPU with '--gpu', or unset CUDA_VISIBLE_DEVICES");
}

static Result<GpuIdentity> shown_at(std::int64_t number, std::string_view visible_devices,
                                    std::span<const GpuIdentity> gpus, std::string_view device_order) {
  const auto visible = visible_gpus(visible_devices, gpus, device_order);
  if (!visible) return fail(visible.error());
  if (!visible->unknown.empty()) {
    return fail(ErrorCode::not_found, cat("which GPU ", number, " is cannot be told: ", visible->unknown),
                "name it by UUID, or set CUDA_DEVICE_ORDER=PCI_BUS_ID; 'rubato devices' lists them");
  }
  if (const auto gpu = counted_at(visible->gpus, number)) return *gpu;
  return fail(ErrorCode::not_found,
              cat("no GPU ", number, ": this process sees ", visible->gpus.size(), " of ", gpus.size(),
                  " GPUs, counted from 0, as CUDA_VISIBLE_DEVICES=", visible_devices, " says"),
              "name one of them, or any GPU by UUID; 'rubato devices' lists them");
}

static Result<GpuIdentity> counted_by_cuda(std::int64_t number,
                                           std::optional<std::string_view> visible_devices,
                                           std::span<const GpuIdentity> gpus, std::string_view device_order) {
  if (visible_devices) return shown_at(number, *visible_devices, gpus, device_order);
  if (!device_order_known(gpus, device_order))
    return fail(
        ErrorCode::not_found,
        cat("which GPU ", number, " is cannot be told: CUDA counts GPUs of different models its own way"),
        "name it by UUID, or set CUDA_DEVICE_ORDER=PCI_BUS_ID; 'rubato devices' lists them");
  if (const auto gpu = counted_at(cuda_order(gpus), number)) return *gpu;
  return match_one(std::to_string(number), gpus);  // says which there are
}

Result<std::vector<GpuIdentity>> match_counted(std::span<const std::string> items,
                                               std::span<const GpuIdentity> gpus,
                                               std::optional<std::string_view> visible_devices,
                                               std::string_view device_order) {
  std::vector<GpuIdentity> chosen;
  for (const std::string& item : items) {
    const auto number = parse_integer(item);
    auto gpu = number ? counted_by_cuda(*number, visible_devices, gpus, device_order) : match_one(item, gpus);
    if (!gpu) return fail(std::move(gpu.error()));
    add_once(chosen, *gpu);
  }
  return chosen;
}

}  // namespace rubato::device
