// How every exported function begins: trace, session, handle and pointer checks; what is left is one world
// call.
#pragma once

#include <initializer_list>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "device/nvml/abi.h"
#include "device/sim/world.h"

#define RUBATO_EXPORT extern "C" __attribute__((visibility("default")))

namespace rubato::simgpu {

namespace abi = device::nvml::abi;
namespace sim = device::sim;

/// The world of this process between nvmlInit and the last nvmlShutdown; null outside.
[[nodiscard]] std::shared_ptr<sim::SimWorld> world();
/// The world even where nobody called nvmlInit: for rubato's own questions.
[[nodiscard]] std::shared_ptr<sim::SimWorld> world_or_open();
[[nodiscard]] abi::Return start_session();
[[nodiscard]] abi::Return end_session();

/// A line per call in the file named by RUBATO_SIM_TRACE; returns `code`.
abi::Return trace(const char* function, abi::Return code);

[[nodiscard]] abi::Return to_return(const Error& error);
[[nodiscard]] abi::Return to_return(const Status& status);

[[nodiscard]] abi::Device handle_of(unsigned gpu);

/// Copies with the final zero; INSUFFICIENT_SIZE where `size` is too small.
[[nodiscard]] abi::Return copy_text(std::string_view text, char* to, unsigned size);

struct GpuView {
  sim::SimWorld& world;
  unsigned gpu = 0;
  TimePoint now;

  [[nodiscard]] const sim::Profile& profile() const { return world.profile(gpu); }
  [[nodiscard]] const GpuIdentity& identity() const { return world.identity(gpu); }
  [[nodiscard]] Result<sim::Readout> read(sim::CallId call) const { return world.read(call, gpu, now); }
};

namespace entry_detail {
[[nodiscard]] abi::Return find_gpu(const sim::SimWorld& world, abi::Device device, unsigned* gpu);
[[nodiscard]] inline bool any_null(std::initializer_list<const void*> pointers) {
  for (const void* pointer : pointers)
    if (pointer == nullptr) return true;
  return false;
}
}  // namespace entry_detail

/// `body(SimWorld&)` inside a session.
template <class Body>
abi::Return in_session(const char* function, std::initializer_list<const void*> outputs, Body body) {
  const auto here = world();
  if (here == nullptr) return trace(function, abi::kUninitialized);
  if (entry_detail::any_null(outputs)) return trace(function, abi::kInvalidArgument);
  return trace(function, body(*here));
}

/// `body(const GpuView&)` inside a session and on a GPU that exists.
template <class Body>
abi::Return on_gpu(const char* function, abi::Device device, std::initializer_list<const void*> outputs,
                   Body body) {
  return in_session(function, outputs, [&](sim::SimWorld& here) {
    unsigned gpu = 0;
    if (const abi::Return code = entry_detail::find_gpu(here, device, &gpu); code != abi::kSuccess)
      return code;
    return body(GpuView{here, gpu, here.clock()->now()});
  });
}

/// One world call whose answer goes into one output.
template <class T, class Pick>
abi::Return read_into(const char* function, abi::Device device, sim::CallId call, T* output, Pick pick) {
  return on_gpu(function, device, {output}, [&](const GpuView& view) {
    const auto readout = view.read(call);
    if (!readout) return to_return(readout.error());
    return pick(view, *readout, output);
  });
}

}  // namespace rubato::simgpu
