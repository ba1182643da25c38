#include "device/nvml/backend.h"

#include <algorithm>
#include <array>

#include "base/log.h"
#include "base/text.h"
#include "device/nvml/control.h"
#include "device/nvml/errors.h"
#include "device/nvml/gpu.h"
#include "device/nvml/library.h"
#include "device/nvml/rights.h"

namespace rubato::device::nvml {
namespace {

template <std::size_t Size, class Ask>
std::string text_from(Ask ask) {
  std::array<char, Size + 1> buffer{};  // one more than NVML is told of, so that it always ends
  if (ask(buffer.data(), static_cast<unsigned>(Size)) != abi::kSuccess) return {};
  return buffer.data();
}

Result<std::shared_ptr<const Clock>> clock_of(const Functions& nvml) {
  if (!nvml.simulated_clock.exists()) return std::make_shared<RealClock>();
  double rate = 1;
  long long origin_ns = 0;
  if (nvml.simulated_clock(&rate, &origin_ns) == 0)
    return std::make_shared<ScaledClock>(TimePoint{origin_ns}, rate);
  // Taking it for hardware would sell simulated numbers as measured ones.
  return fail(ErrorCode::internal,
              "this NVML is rubato's stand-in, but its simulated world has no shared clock",
              "make a new world: 'rubato sim reset'");
}

Result<GpuIdentity> identify(const Functions& nvml, abi::Device device, unsigned index) {
  std::array<char, abi::kUuidSize + 1> uuid{};
  if (const abi::Return code = nvml.uuid(device, uuid.data(), abi::kUuidSize); code != abi::kSuccess)
    return fail(from_return(code, cat("GPU ", index, ": cannot read its UUID")));
  GpuIdentity identity{.id = {uuid.data()}, .index = index};
  identity.name = text_from<abi::kNameSize>([&](char* t, unsigned n) { return nvml.name(device, t, n); });
  if (identity.name.empty()) identity.name = "unnamed GPU";
  abi::PciInfo pci{};
  if (nvml.pci(device, &pci) == abi::kSuccess) {
    pci.bus_id[sizeof(pci.bus_id) - 1] = '\0';
    identity.pci_bus_id = pci.bus_id;
  } else if (nvml.pci_legacy(device, &pci) == abi::kSuccess) {
    pci.bus_id_legacy[sizeof(pci.bus_id_legacy) - 1] = '\0';
    identity.pci_bus_id = pci.bus_id_legacy;
  } else {
    identity.pci_bus_id = "PCI id unknown";
  }
  return identity;
}

class NvmlBackend final : public Backend {
 public:
  NvmlBackend(std::shared_ptr<const Library> library, FsRoot root, std::shared_ptr<const Clock> clock)
      : library_(std::move(library)),
        root_(std::move(root)),
        driver_version_(text_from<abi::kVersionSize>(
            [&](char* t, unsigned n) { return library_->nvml().driver_version(t, n); })),
        clock_(std::move(clock)),
        simulated_(library_->nvml().simulated_clock.exists()) {}

  [[nodiscard]] Status discover();

  [[nodiscard]] std::string_view name() const override { return "nvml"; }
  [[nodiscard]] std::string driver_version() const override { return driver_version_; }
  [[nodiscard]] const std::vector<GpuIdentity>& gpus() const override { return gpus_; }
  [[nodiscard]] Result<std::unique_ptr<Gpu>> open(const GpuId& id) override;
  [[nodiscard]] Result<std::unique_ptr<GpuControl>> open_control(const GpuId& id) override;
  [[nodiscard]] std::shared_ptr<const Clock> clock() const override { return clock_; }
  [[nodiscard]] bool simulated() const override { return simulated_; }
  [[nodiscard]] std::optional<bool> outlives_job() const override;
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> job_environment(
      const std::vector<GpuId>& ids) const override;

 private:
  [[nodiscard]] Result<Handle> find(const GpuId& id) const;
  [[nodiscard]] Capability right() const;

  std::shared_ptr<const Library> library_;
  FsRoot root_;
  std::string driver_version_;
  std::shared_ptr<const Clock> clock_;
  bool simulated_;
  std::vector<GpuIdentity> gpus_;
  std::vector<abi::Device> devices_;  // of the same place in gpus_
};

Status NvmlBackend::discover() {
  const Functions& nvml = library_->nvml();
  unsigned count = 0;
  if (const abi::Return code = nvml.count(&count); code != abi::kSuccess)
    return fail(from_return(code, cat("driver ", driver_version_, ": cannot count the GPUs")));
  std::optional<Error> first_failure;
  for (unsigned index = 0; index < count; ++index) {
    abi::Device device = nullptr;
    const abi::Return code = nvml.handle_by_index(index, &device);
    Result<GpuIdentity> identity =
        code == abi::kSuccess
            ? identify(nvml, device, index)
            : fail(from_return(code, cat("GPU ", index, " of ", count, " does not answer")));
    if (identity) {
      gpus_.push_back(std::move(*identity));
      devices_.push_back(device);
    } else {
      // The others are as good as ever.
      log::warning(identity.error());
      if (!first_failure) first_failure = identity.error();
    }
  }
  if (!gpus_.empty()) return {};
  if (first_failure) return fail(*first_failure);
  return fail(
      ErrorCode::unavailable, cat("NVIDIA driver ", driver_version_, " is loaded but finds no GPU"),
      "see 'lspci | grep -i nvidia' and, in a container, whether GPUs were passed in ('--gpus all'); or try "
      "'--gpu sim:v100'");
}

Result<Handle> NvmlBackend::find(const GpuId& id) const {
  const auto found =
      std::find_if(gpus_.begin(), gpus_.end(), [&](const GpuIdentity& g) { return g.id == id; });
  if (found == gpus_.end())
    return fail(ErrorCode::not_found, cat("the NVIDIA driver has no GPU ", id.uuid), "run 'rubato devices'");
  abi::Device device = devices_[static_cast<std::size_t>(found - gpus_.begin())];
  // A handle found before NVML had to be initialised again is void.
  (void)library_->nvml().handle_by_uuid(id.uuid.c_str(), &device);
  return Handle{.library = library_,
                .device = device,
                .identity = *found,
                .clock = clock_,
                .kind = simulated_ ? Kind::modelled : Kind::measured,
                .root = root_};
}

Capability NvmlBackend::right() const {
  const auto& rights = library_->nvml().simulated_rights;
  // A scenario may give the world to its owner; otherwise the stand-in is asked as the real driver is.
  if (simulated_ && rights.exists() && rights() == abi::kSimulatedRightsOwner) return Capability::yes();
  return setting_right(root_);
}

Result<std::unique_ptr<Gpu>> NvmlBackend::open(const GpuId& id) {
  auto handle = find(id);
  if (!handle) return fail(std::move(handle.error()));
  DeviceCalls calls(handle->library, handle->device, id.uuid);
  auto probed = probe(calls, handle->identity, parse_driver_version(driver_version_), right());
  if (!probed) return fail(std::move(probed.error()));
  SensorFacts sensor = sensor_facts(probed->chip, handle->identity.name, probed->power, driver_version_);
  return std::make_unique<NvmlGpu>(std::move(*handle), std::move(calls), std::move(*probed),
                                   std::move(sensor));
}

Result<std::unique_ptr<GpuControl>> NvmlBackend::open_control(const GpuId& id) {
  const auto handle = find(id);
  if (!handle) return fail(handle.error());
  return std::make_unique<NvmlControl>(*handle);
}

std::optional<bool> NvmlBackend::outlives_job() const {
  const auto& outlives = library_->nvml().simulated_outlives_job;
  if (!simulated_ || !outlives.exists()) return std::nullopt;
  return outlives() != 0;
}

std::vector<std::pair<std::string, std::string>> NvmlBackend::job_environment(
    const std::vector<GpuId>& ids) const {
  if (!simulated_) return {};
  const char* world = library_->nvml().simulated_world();
  if (world == nullptr) return {};
  std::string uuids;
  for (const GpuId& id : ids) uuids += cat(uuids.empty() ? "" : ",", id.uuid);
  return {{"RUBATO_SIM_WORLD", world}, {"RUBATO_SIM_GPUS", uuids}};
}

}  // namespace

Result<std::unique_ptr<Backend>> open(std::string_view argument) {
  if (!argument.empty()) {
    return fail(ErrorCode::invalid_argument, cat("'nvml:", argument, "': the NVML backend takes no argument"),
                "name GPUs by index, UUID or PCI id: '--gpu 0'");
  }
  return open_with({});
}

Result<std::unique_ptr<Backend>> open_with(const Options& options) {
  auto library = Library::load(options.library, options.root);
  if (!library) return fail(std::move(library.error()));
  auto clock = clock_of((*library)->nvml());
  if (!clock) return fail(std::move(clock.error()));
  auto backend = std::make_unique<NvmlBackend>(std::move(*library), options.root, std::move(*clock));
  if (auto found = backend->discover(); !found) return fail(std::move(found.error()));
  return backend;
}

}  // namespace rubato::device::nvml
