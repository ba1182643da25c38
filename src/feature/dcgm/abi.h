// The few calls, structures and numbers of DCGM's client library that rubato uses, declared anew. Compared
// with dcgm_agent.h, dcgm_structs.h and dcgm_fields.h of NVIDIA/DCGM from v3.1.7 to v4.6.0, where they are
// the same; tests/feature_dcgm/vendor/layout.cpp does it for the headers it is shown (RUBATO_DCGM_HEADERS).
#pragma once

#include <cstddef>
#include <cstdint>

namespace rubato::feature::dcgm::abi {

enum Result : int {
  kOk = 0,
  kVersionMismatch = -12,
  kNoData = -14,
  kNotWatched = -16,
  kPaused = -54,
};

inline constexpr std::size_t kMostGpus = 32;
inline constexpr std::uint32_t kGpuEntity = 1;
inline constexpr std::uint32_t kLive = 1;  // ask the driver, not what was collected
inline constexpr std::uint16_t kUuidField = 54;
inline constexpr char kDouble = 'd';
inline constexpr char kInteger = 'i';
// From these on a value says why there is none.
inline constexpr double kBlankDouble = 140737488355328.0;
inline constexpr std::int64_t kBlankInteger = 0x7ffffffffffffff0;

using Handle = std::uintptr_t;

struct ConnectParams {
  std::uint32_t version = 0;
  std::uint32_t persist = 0;  // our state, of which there is none, after we have gone
  std::uint32_t timeout_ms = 0;
  std::uint32_t is_unix_socket = 0;
};
struct Entity {
  std::uint32_t group = kGpuEntity;
  std::uint32_t id = 0;
};
// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): the union holds one of its members
struct Value {
  std::uint32_t version = 0;
  std::uint32_t group = 0;
  std::uint32_t entity = 0;
  std::uint16_t field = 0;
  std::uint16_t type = 0;  // kDouble, kInteger, 's'
  std::int32_t status = 0;
  std::uint32_t unused = 0;
  std::int64_t at = 0;  // microseconds since 1970
  union {
    std::int64_t integer = 0;
    double real;
    char text[256];
    char blob[4096];
  };
};

/// DCGM's structures say their size and revision.
template <class Struct>
[[nodiscard]] constexpr std::uint32_t version_of(std::uint32_t revision) {
  return static_cast<std::uint32_t>(sizeof(Struct)) | revision << 24;
}
inline constexpr std::uint32_t kConnectRevision = 2;
inline constexpr std::uint32_t kValueRevision = 2;

struct Calls {
  int (*init)() = nullptr;
  int (*connect)(const char* address, ConnectParams* params, Handle* handle) = nullptr;
  int (*disconnect)(Handle handle) = nullptr;
  int (*devices)(Handle handle, std::uint32_t ids[kMostGpus], int* count) = nullptr;
  int (*latest)(Handle handle, Entity entities[], std::uint32_t entity_count, std::uint16_t fields[],
                std::uint32_t field_count, std::uint32_t flags, Value values[]) = nullptr;
};

}  // namespace rubato::feature::dcgm::abi
