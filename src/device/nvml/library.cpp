#include "device/nvml/library.h"

#include <dlfcn.h>

#include "base/text.h"
#include "device/nvml/errors.h"

namespace rubato::device::nvml {

library_detail::Found library_detail::find_symbol(void* library, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (void* address = ::dlsym(library, name); address != nullptr) return {address, name};
  return {nullptr, *names.begin()};
}

Result<std::shared_ptr<const Library>> Library::load(const std::string& file) {
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
    return fail(from_return(code, "the NVIDIA driver does not answer: nvmlInit"));
  library->initialised_ = true;
  return library;
}

Library::~Library() {
  if (initialised_) functions_.shutdown();
  ::dlclose(handle_);
}

}  // namespace rubato::device::nvml
