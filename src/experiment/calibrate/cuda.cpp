#include "experiment/calibrate/cuda.h"

#include <dlfcn.h>

#include <array>
#include <cstdio>
#include <vector>

#include "base/text.h"
#include "experiment/calibrate/cuda_abi.h"

namespace rubato::experiment {
namespace {

namespace abi = cuda_abi;

struct Functions {
  abi::Init* init = nullptr;
  abi::DriverVersion* driver_version = nullptr;
  abi::DeviceCount* device_count = nullptr;
  abi::DeviceGet* device_get = nullptr;
  abi::DeviceUuid* device_uuid = nullptr;
  abi::DeviceName* device_name = nullptr;
  abi::DeviceAttribute* device_attribute = nullptr;
  abi::ContextFlags* context_flags = nullptr;
  abi::ContextRetain* context_retain = nullptr;
  abi::ContextRelease* context_release = nullptr;
  abi::ContextCurrent* context_current = nullptr;
  abi::ModuleLoad* module_load = nullptr;
  abi::ModuleFunction* module_function = nullptr;
  abi::ModuleUnload* module_unload = nullptr;
  abi::Allocate* allocate = nullptr;
  abi::Free* free = nullptr;
  abi::CopyToDevice* copy_to_device = nullptr;
  abi::CopyToHost* copy_to_host = nullptr;
  abi::Launch* launch = nullptr;
  abi::EventCreate* event_create = nullptr;
  abi::EventDestroy* event_destroy = nullptr;
  abi::EventRecord* event_record = nullptr;
  abi::EventSynchronize* event_synchronize = nullptr;
  abi::ErrorText* error_name = nullptr;
  abi::ErrorText* error_string = nullptr;
};

/// Its libraries stay loaded: the driver does not bear being closed and opened again.
class Loader {
 public:
  explicit Loader(void* library) : library_(library) {}
  template <class Signature>
  void find(Signature*& into, const char* name) {
    into = reinterpret_cast<Signature*>(dlsym(library_, name));
    if (into == nullptr && missing_.empty()) missing_ = name;
  }
  [[nodiscard]] const std::string& missing() const { return missing_; }

 private:
  void* library_;
  std::string missing_;
};

Result<Functions> load_functions(const std::string& file) {
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    return fail(ErrorCode::unavailable, cat("CUDA cannot be used: ", why != nullptr ? why : file.c_str()),
                "the NVIDIA driver brings libcuda.so.1; `rubato doctor` says more");
  }
  Loader loader(library);
  Functions f;
  loader.find(f.init, "cuInit");
  loader.find(f.driver_version, "cuDriverGetVersion");
  loader.find(f.device_count, "cuDeviceGetCount");
  loader.find(f.device_get, "cuDeviceGet");
  loader.find(f.device_uuid, "cuDeviceGetUuid");
  loader.find(f.device_name, "cuDeviceGetName");
  loader.find(f.device_attribute, "cuDeviceGetAttribute");
  loader.find(f.context_flags, "cuDevicePrimaryCtxSetFlags");
  loader.find(f.context_retain, "cuDevicePrimaryCtxRetain");
  loader.find(f.context_release, "cuDevicePrimaryCtxRelease");
  loader.find(f.context_current, "cuCtxSetCurrent");
  loader.find(f.module_load, "cuModuleLoadDataEx");
  loader.find(f.module_function, "cuModuleGetFunction");
  loader.find(f.module_unload, "cuModuleUnload");
  loader.find(f.allocate, "cuMemAlloc_v2");
  loader.find(f.free, "cuMemFree_v2");
  loader.find(f.copy_to_device, "cuMemcpyHtoD_v2");
  loader.find(f.copy_to_host, "cuMemcpyDtoH_v2");
  loader.find(f.launch, "cuLaunchKernel");
  loader.find(f.event_create, "cuEventCreate");
  loader.find(f.event_destroy, "cuEventDestroy_v2");
  loader.find(f.event_record, "cuEventRecord");
  loader.find(f.event_synchronize, "cuEventSynchronize");
  loader.find(f.error_name, "cuGetErrorName");
  loader.find(f.error_string, "cuGetErrorString");
  if (!loader.missing().empty())
    return fail(ErrorCode::not_supported, cat(file, " has no ", loader.missing(), ": its driver is too old"),
                "drivers from R396 (CUDA 9.2) on have it");
  return f;
}

std::string text_of(abi::ErrorText* ask, int code) {
  const char* text = nullptr;
  return ask(code, &text) == abi::kSuccess && text != nullptr ? text : cat("error ", code);
}

Error error_of(const Functions& f, int code, std::string_view doing) {
  const ErrorCode kind = code == abi::kErrorOutOfMemory ? ErrorCode::busy : ErrorCode::unavailable;
  return Error{kind, cat(doing, ": ", text_of(f.error_name, code), " (", text_of(f.error_string, code), ")"),
               code == abi::kErrorOutOfMemory ? "end what else uses the GPU's memory" : ""};
}

Status checked(const Functions& f, int code, std::string_view doing) {
  if (code == abi::kSuccess) return {};
  return fail(error_of(f, code, doing));
}

std::string uuid_text(const abi::Uuid& uuid) {
  std::string out = "GPU-";
  for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
    std::array<char, 3> two{};
    std::snprintf(two.data(), two.size(), "%02x", uuid.bytes[i]);
    out += two.data();
    if (i == 3 || i == 5 || i == 7 || i == 9) out += '-';
  }
  return out;
}

class LoadedDevice final : public CudaDevice {
 public:
  LoadedDevice(Functions f, abi::Device device, CudaFacts facts)
      : f_(f), device_(device), facts_(std::move(facts)) {}
  ~LoadedDevice() override {
    for (void* event : events_)
      if (event != nullptr) f_.event_destroy(event);
    for (const abi::Address address : memory_) f_.free(address);
    for (void* module : modules_) f_.module_unload(module);
    if (context_ != nullptr) f_.context_release(device_);
  }

  Status make_context() {
    // Refused where somebody made the context before us: then it stays as it is.
    f_.context_flags(device_, abi::kScheduleBlockingSync);
    if (Status s = checked(f_, f_.context_retain(&context_, device_), "making a context"); !s) {
      context_ = nullptr;
      return s;
    }
    if (Status s = checked(f_, f_.context_current(context_), "using the context"); !s) return s;
    for (void*& event : events_)
      if (Status s = checked(f_, f_.event_create(&event, abi::kEventBlockingSync | abi::kEventDisableTiming),
                             "making an event");
          !s)
        return s;
    return {};
  }

  const CudaFacts& facts() const override { return facts_; }

  Result<CudaKernel> load(const std::string& ptx, const char* entry) override {
    std::array<char, 4096> log{};
    int options[] = {abi::kJitErrorLog, abi::kJitErrorLogBytes};
    // A number where the interface takes pointers, as the driver asks.
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    void* values[] = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
    void* module = nullptr;
    const int code = f_.module_load(&module, ptx.c_str(), 2, options, values);
    if (code != abi::kSuccess) {
      Error error = error_of(f_, code, cat("compiling the kernel ", entry));
      if (log.front() != '\0') error.what += cat(": ", trim(log.data()));
      return fail(error);
    }
    modules_.push_back(module);
    CudaKernel kernel;
    if (Status s = checked(f_, f_.module_function(&kernel.function, module, entry), cat("finding ", entry));
        !s)
      return fail(s.error());
    return kernel;
  }

  Result<std::uint64_t> allocate(std::size_t bytes) override {
    abi::Address address = 0;
    if (Status s = checked(f_, f_.allocate(&address, bytes), cat("allocating ", bytes >> 20U, " MiB")); !s)
      return fail(s.error());
    memory_.push_back(address);
    return address;
  }

  Status write(std::uint64_t to, std::span<const std::byte> from) override {
    return checked(f_, f_.copy_to_device(to, from.data(), from.size()), "copying to the GPU");
  }
  Status read(std::span<std::byte> to, std::uint64_t from) override {
    return checked(f_, f_.copy_to_host(to.data(), from, to.size()), "copying from the GPU");
  }
  Status launch(const CudaKernel& kernel, LaunchShape shape, std::span<void*> arguments) override {
    return checked(f_,
                   f_.launch(kernel.function, shape.blocks, 1, 1, shape.threads, 1, 1, 0, nullptr,
                             arguments.data(), nullptr),
                   "launching a kernel");
  }
  Status mark(unsigned which) override {
    return checked(f_, f_.event_record(events_.at(which), nullptr), "recording an event");
  }
  Status wait(unsigned which) override {
    return checked(f_, f_.event_synchronize(events_.at(which)), "waiting for the GPU");
  }

 private:
  Functions f_;
  abi::Device device_;
  CudaFacts facts_;
  void* context_ = nullptr;
  std::array<void*, 2> events_{};
  std::vector<void*> modules_;
  std::vector<abi::Address> memory_;
};

/// The whole number the driver tells; 0 where it does not.
unsigned attribute(const Functions& f, abi::Device device, abi::Attribute which) {
  int value = 0;
  return f.device_attribute(&value, which, device) == abi::kSuccess && value > 0
             ? static_cast<unsigned>(value)
             : 0;
}

CudaFacts facts_of(const Functions& f, abi::Device device) {
  CudaFacts facts;
  std::array<char, 256> name{};
  if (f.device_name(name.data(), static_cast<int>(name.size() - 1), device) == abi::kSuccess)
    facts.name = name.data();
  int version = 0;
  if (f.driver_version(&version) == abi::kSuccess && version > 0)
    facts.driver_version = static_cast<unsigned>(version);
  GpuFigures& figures = facts.figures;
  figures.compute_major = attribute(f, device, abi::kComputeMajor);
  figures.compute_minor = attribute(f, device, abi::kComputeMinor);
  if (const unsigned sms = attribute(f, device, abi::kSmCount); sms > 0) figures.sm_count = sms;
  if (const unsigned bits = attribute(f, device, abi::kMemoryBusBits); bits > 0)
    figures.memory_bus_bits = bits;
  figures.highest_sm = Megahertz(attribute(f, device, abi::kClockRateKhz) / 1e3);
  figures.highest_memory = Megahertz(attribute(f, device, abi::kMemoryClockRateKhz) / 1e3);
  return facts;
}

}  // namespace

Result<std::unique_ptr<CudaDevice>> open_cuda(std::string_view uuid, const std::string& library) {
  const Result<Functions> f = load_functions(library);
  if (!f) return fail(f.error());
  if (Status s = checked(*f, f->init(0), "starting CUDA"); !s) return fail(s.error());
  int count = 0;
  if (Status s = checked(*f, f->device_count(&count), "counting GPUs"); !s) return fail(s.error());
  std::string shown;
  for (int i = 0; i < count; ++i) {
    abi::Device device = 0;
    abi::Uuid id{};
    if (f->device_get(&device, i) != abi::kSuccess || f->device_uuid(&id, device) != abi::kSuccess) continue;
    const std::string text = uuid_text(id);
    shown += cat(shown.empty() ? "" : ", ", text);
    if (!uuid.empty() && text != uuid) continue;
    auto opened = std::make_unique<LoadedDevice>(*f, device, facts_of(*f, device));
    if (Status s = opened->make_context(); !s) return fail(s.error());
    return opened;
  }
  return fail(ErrorCode::not_found,
              cat("CUDA shows ", uuid.empty() ? std::string("no GPU") : cat("no GPU ", uuid),
                  shown.empty() ? std::string() : cat("; it shows ", shown)),
              "see CUDA_VISIBLE_DEVICES; rubato devices lists the GPUs");
}

}  // namespace rubato::experiment
