#include "device/nvml/library.h"

#include <dlfcn.h>

#include <array>

#include "base/text.h"
#include "device/nvml/driver_version.h"
#include "device/nvml/errors.h"

namespace rubato::device::nvml {

library_detail::Found library_detail::find_symbol(void* library, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (void* address = ::dlsym(library, name); address != nullptr) return {address, name};
  return {nullptr, *names.begin()};
}

namespace {

/// "535.183.01" out of /proc/driver/nvidia/version, whose first line names it between "Kernel Module" and a
/// date; empty where the file is not there.
std::string kernel_module_version(const FsRoot& root) {
  const auto text = root.read("/proc/driver/nvidia/version");
  if (!text) return {};
  for (const std::string& word : split(split(*text, '\n').front(), ' '))
    if (parse_driver_version(word) > DriverVersion{}) return word;
  return {};
}

Error start_failure(abi::Return code, const Functions& nvml, const FsRoot& root) {
  Error error = from_return(code, "the NVIDIA driver does not answer: nvmlInit");
  if (code != abi::kLibRmVersionMismatch) return error;
  const std::string kernel = kernel_module_version(root);
  std::array<char, abi::kVersionSize + 1> library{};
  const bool told = nvml.library_version(library.data(), abi::kVersionSize) == abi::kSuccess;
  if (!kernel.empty()) error.what += cat("; the running kernel module is ", kernel);
  if (told) error.what += cat("; the library is NVML ", library.data());
  return error;
}

}  // namespace

Result<std::shared_ptr<const Library>> Library::load(const std::string& file, const FsRoot& root) {
  void* handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = ::dlerror();
    return fail(
        ErrorCode::unavailable,
        cat("no NVIDIA driver here: cannot load ", why != nullptr ? why : file.c_str()),
        "install the NVIDIA driver and run 'rubato doctor', or try a simulated GPU with '--gpu sim:v100'");
  }
  std::shared_ptr<Library> library(new Library(handle));
  if (!library->functions_.init.exists()) {
    return fail(ErrorCode::not_supported, cat(file, " has no nvmlInit_v2, so it is not NVML"),
                "see which library is found: 'ldconfig -p | grep libnvidia-ml', LD_LIBRARY_PATH");
  }
  if (const abi::Return code = library->functions_.init(); code != abi::kSuccess)
    return fail(start_failure(code, library->functions_, root));
  library->initialised_ = true;
  return library;
}

bool Library::start_again(unsigned seen) const {
  const std::lock_guard lock(starting_);
  if (session_ != seen) return true;
  if (functions_.init() != abi::kSuccess) return false;
  ++session_;
  return true;
}

Library::~Library() {
  if (initialised_) functions_.shutdown();
  ::dlclose(handle_);
}

}  // namespace rubato::device::nvml
