// libdcgm.so.4 as far as rubato calls it. It has no call that adds a watch or starts an engine: who looks for
// one does not load.
#include "feature_dcgm/fake_dcgm.h"

#include <cstring>

using namespace rubato::feature::dcgm;

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

fake::Dcgm state;
constexpr abi::Handle kHandle = 42;
constexpr std::uint32_t kFirstId = 7;
constexpr int kBadParameter = -1;

void answer(std::uint32_t gpu, std::uint16_t field, abi::Value& value) {
  value.group = abi::kGpuEntity;
  value.entity = gpu;
  value.field = field;
  if (field == abi::kUuidField) {
    value.type = 's';
    std::strcpy(value.text, state.uuids.at(gpu - kFirstId).c_str());
    return;
  }
  const auto found = state.fields.find(field);
  if (found == state.fields.end() || gpu != kFirstId + 1) {
    value.status = abi::kNotWatched;
    return;
  }
  value.status = found->second.status;
  value.at = found->second.at_us;
  value.type = static_cast<std::uint16_t>(found->second.type);
  if (found->second.type == abi::kDouble)
    value.real = found->second.value;
  else
    value.integer = found->second.integer;
}

}  // namespace

EXPORT fake::Dcgm* fake_dcgm() {
  return &state;
}
EXPORT int dcgmInit() {
  return state.init;
}
EXPORT int dcgmConnect_v2(const char* address, abi::ConnectParams* params, abi::Handle* handle) {
  if (params->version != abi::version_of<abi::ConnectParams>(2) || params->timeout_ms == 0)
    return kBadParameter;
  state.address = address;
  state.unix_socket = params->is_unix_socket != 0;
  if (state.connect != 0) return state.connect;
  ++state.connections;
  *handle = kHandle;
  return 0;
}
EXPORT int dcgmDisconnect(abi::Handle) {
  --state.connections;
  return 0;
}
EXPORT int dcgmGetAllDevices(abi::Handle handle, std::uint32_t ids[abi::kMostGpus], int* count) {
  if (handle != kHandle) return kBadParameter;
  *count = static_cast<int>(state.uuids.size());
  for (std::uint32_t i = 0; i < state.uuids.size(); ++i) ids[i] = kFirstId + i;
  return 0;
}
EXPORT int dcgmEntitiesGetLatestValues(abi::Handle handle, abi::Entity entities[], std::uint32_t entity_count,
                                       std::uint16_t fields[], std::uint32_t field_count, std::uint32_t flags,
                                       abi::Value values[]) {
  if (handle != kHandle || entity_count != 1 || entities[0].group != abi::kGpuEntity) return kBadParameter;
  if (state.answer != 0) return state.answer;
  for (std::uint32_t i = 0; i < field_count; ++i) {
    if (flags != 0 && fields[i] != abi::kUuidField) ++state.live_questions;
    answer(entities[0].id, fields[i], values[field_count - 1 - i]);  // in another order than asked
  }
  return 0;
}
