#include "feature/cupti/library.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "base/text.h"

namespace rubato::feature::cupti {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kOldestMajor = 12;
constexpr unsigned kNewestMajor = 13;

std::string environment(const char* name) {
  const char* value = secure_getenv(name);
  return value != nullptr ? value : "";
}

void* open_quietly(const std::string& path) {
  note_call();
  return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
}

/// The number of "libcupti.so.13"; 0 for any other name.
unsigned major_of(std::string_view name) {
  constexpr std::string_view kStem = "libcupti.so.";
  if (!name.starts_with(kStem)) return 0;
  name.remove_prefix(kStem.size());
  const auto number = parse_integer(name.substr(0, name.find('.')));
  return number && *number > 0 && *number < 100 ? static_cast<unsigned>(*number) : 0;
}

/// Of one folder the newest that the driver runs.
std::optional<std::string> newest_in(const fs::path& folder, unsigned cuda_major) {
  std::error_code ignored;
  unsigned best = 0;
  std::optional<std::string> path;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const unsigned major = major_of(entry.path().filename().string());
    if (major <= best || major > cuda_major) continue;
    best = major;
    path = entry.path().string();
  }
  return path;
}

/// Where pip puts it: wheels of CUDA 12 in a folder of its own, wheels of 13 with the rest.
std::vector<fs::path> wheel_folders(const fs::path& environment) {
  std::vector<fs::path> folders;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(environment / "lib", ignored)) {
    if (!entry.path().filename().string().starts_with("python")) continue;
    for (const char* below : {"cu13/lib", "cuda_cupti/lib"})
      folders.push_back(entry.path() / "site-packages" / "nvidia" / below);
  }
  folders.push_back(environment / "lib");  // conda
  return folders;
}

std::optional<std::string> find_file(const Places& places, unsigned cuda_major) {
  std::error_code ignored;
  if (!places.named.empty()) {
    if (!fs::is_directory(places.named, ignored)) return places.named;
    return newest_in(places.named, cuda_major);
  }
  std::vector<fs::path> folders;
  for (const auto& one : places.environments) {
    for (auto& folder : wheel_folders(one)) folders.push_back(std::move(folder));
  }
  for (const auto& toolkit : places.toolkits) folders.push_back(places.root.path(toolkit));
  for (const auto& folder : folders) {
    if (auto path = newest_in(folder, cuda_major)) return path;
  }
  return std::nullopt;
}

bool is_known(std::uint32_t version) {
  return (version >= abi::kOldestOf12 && version <= abi::kLastOf12) ||
         (version >= abi::kFirstOf13 && version < abi::kAfterNewest);
}

Result<Api> use(void* handle, const std::string& path) {
  abi::Calls calls;
  std::string missing;
#define RUBATO_RESOLVE(name, symbol, parameter)                               \
  calls.name = reinterpret_cast<decltype(calls.name)>(dlsym(handle, symbol)); \
  if (calls.name == nullptr && missing.empty()) missing = symbol;
  RUBATO_CUPTI_CALLS(RUBATO_RESOLVE)
#undef RUBATO_RESOLVE
  std::uint32_t version = 0;
  if (calls.get_version == nullptr || calls.get_version(&version) != abi::kSuccess)
    return fail(ErrorCode::unavailable,
                cat(path, " does not tell its version; from 13.2 on it needs a driver"));
  if (!missing.empty() || !is_known(version)) {
    return fail(
        ErrorCode::not_supported,
        cat(path, " has API version ", version, missing.empty() ? "" : " without ", missing,
            "; its PM sampling was compared with ours for versions ", abi::kOldestOf12, " to ",
            abi::kLastOf12, " (CUDA 12.8, 12.9) and ", abi::kFirstOf13, " to ", abi::kAfterNewest - 1),
        "pip install nvidia-cuda-cupti-cu12==12.9.79, and name its libcupti.so.12 in RUBATO_CUPTI");
  }
  return Api(calls, path, version);
}

/// The domain of NVML's form has eight digits, CUDA's four.
std::string plain_bus_id(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  const std::size_t colon = out.find(':');
  if (colon != std::string::npos && colon > 4) out.erase(0, colon - 4);
  return out;
}

template <class Function>
bool resolve(void* handle, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, symbol));
  return function != nullptr;
}

}  // namespace

Places Places::found() {
  Places places;
  places.named = environment("RUBATO_CUPTI");
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (std::string value = environment(name); !value.empty())
      places.environments.push_back(std::move(value));
  }
  return places;
}

Result<CudaDevice> find_cuda_device(const Places& places, std::string_view pci_bus_id) {
  void* handle = open_quietly(places.cuda);
  if (handle == nullptr)
    return fail(ErrorCode::unavailable, cat("there is no ", places.cuda, ", the driver's CUDA"),
                "in a container: add the capability 'compute' to NVIDIA_DRIVER_CAPABILITIES");
  abi::CudaCalls cuda;
  if (!resolve(handle, "cuInit", cuda.init) || !resolve(handle, "cuDriverGetVersion", cuda.driver_version) ||
      !resolve(handle, "cuDeviceGetCount", cuda.device_count) ||
      !resolve(handle, "cuDeviceGet", cuda.device) ||
      !resolve(handle, "cuDeviceGetPCIBusId", cuda.pci_bus_id))
    return fail(ErrorCode::unavailable, cat(places.cuda, " lacks calls that CUDA has had since version 4"));
  int version = 0;
  int count = 0;
  note_call();
  if (const int code = cuda.init(0); code != 0)
    return fail(ErrorCode::unavailable, cat("CUDA does not start: cuInit answers ", code), "'rubato doctor'");
  if (cuda.driver_version(&version) != 0 || cuda.device_count(&count) != 0)
    return fail(ErrorCode::unavailable, "CUDA tells neither its version nor its GPUs");
  for (int index = 0; index < count; ++index) {
    int device = 0;
    std::array<char, 32> text{};
    if (cuda.device(&device, index) != 0 ||
        cuda.pci_bus_id(text.data(), static_cast<int>(text.size()) - 1, device) != 0)
      continue;
    if (plain_bus_id(text.data()) == plain_bus_id(pci_bus_id))
      return CudaDevice{static_cast<std::size_t>(index), static_cast<unsigned>(version / 1000)};
  }
  return fail(ErrorCode::not_found,
              cat("none of the ", count, " GPUs that CUDA shows is at PCI address ", pci_bus_id),
              "CUDA_VISIBLE_DEVICES may hide it from rubato: unset it there");
}

Result<Api> open_cupti_file(const std::string& path) {
  // CUPTI looks for these two by name alone; what is loaded already is found. Beside a CUPTI on the loader's
  // path the loader finds them too.
  const fs::path folder = fs::path(path).parent_path();
  if (!folder.empty()) {
    for (const char* name : {"libnvperf_host.so", "libnvperf_target.so"})
      static_cast<void>(open_quietly((folder / name).string()));
  }
  void* handle = open_quietly(path);
  if (handle == nullptr) {
    const char* why = dlerror();
    return fail(ErrorCode::unavailable,
                cat(path, " cannot be loaded: ", why != nullptr ? why : "no reason given"));
  }
  return use(handle, path);
}

Result<Api> open_cupti(const Places& places, unsigned cuda_major) {
  const unsigned newest = std::min(cuda_major, kNewestMajor);
  if (const auto path = find_file(places, newest)) return open_cupti_file(*path);
  if (places.loader && places.named.empty()) {
    for (unsigned major = newest; major >= kOldestMajor; --major) {
      const std::string name = cat("libcupti.so.", major);
      if (void* handle = open_quietly(name); handle != nullptr) return use(handle, name);
    }
  }
  return fail(
      ErrorCode::not_found,
      cat("no CUPTI of CUDA ", kOldestMajor, newest > kOldestMajor ? cat(" to ", newest) : std::string(),
          places.named.empty() ? std::string(" was found") : cat(" lies in ", places.named)),
      cat("pip install nvidia-cuda-cupti", newest < 13 ? "-cu12" : "",
          ", and name its libcupti.so in RUBATO_CUPTI"));
}

}  // namespace rubato::feature::cupti
