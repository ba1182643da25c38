#include "feature/dcgm/engine.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "base/call_count.h"
#include "base/text.h"

namespace rubato::feature::dcgm {
namespace {

constexpr std::uint32_t kConnectTimeoutMs = 500;

template <class Call>
int timed(CallCost& cost, Call call) {
  note_call();
  const RealClock wall;
  const TimePoint begin = wall.now();
  const int code = call();
  cost.inside += wall.now() - begin;
  ++cost.calls;
  return code;
}

template <class Function>
bool resolve(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  return function != nullptr;
}

/// The library stays open, and is not shut down: dcgmShutdown would end every connection of the process.
std::optional<abi::Calls> load(const std::string& path) {
  note_call();
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  abi::Calls calls;
  if (library == nullptr || !resolve(library, "dcgmInit", calls.init) ||
      !resolve(library, "dcgmConnect_v2", calls.connect) ||
      !resolve(library, "dcgmDisconnect", calls.disconnect) ||
      !resolve(library, "dcgmGetAllDevices", calls.devices) ||
      !resolve(library, "dcgmEntitiesGetLatestValues", calls.latest))
    return std::nullopt;
  return calls;
}

Error no_connection(int code, const std::string& address) {
  if (code == abi::kVersionMismatch)
    return {ErrorCode::not_supported,
            cat("the DCGM engine at ", address, " is of another version than libdcgm"),
            "install the client library of the engine's version"};
  return {ErrorCode::unavailable, cat("no DCGM engine answers at ", address, " (dcgmConnect_v2: ", code, ")"),
          "'systemctl start nvidia-dcgm' starts one; RUBATO_DCGM names another address"};
}

std::optional<double> number_in(const abi::Value& value) {
  if (value.type == static_cast<std::uint16_t>(abi::kDouble)) {
    if (!std::isfinite(value.real) || value.real >= abi::kBlankDouble) return std::nullopt;
    return value.real;
  }
  if (value.type == static_cast<std::uint16_t>(abi::kInteger) && value.integer < abi::kBlankInteger)
    return static_cast<double>(value.integer);
  return std::nullopt;
}

}  // namespace

Places Places::found() {
  Places places;
  if (const char* address = secure_getenv("RUBATO_DCGM"); address != nullptr && *address != '\0')
    places.address = address;
  return places;
}

Result<std::unique_ptr<Engine>> Engine::connect(const Places& places) {
  std::optional<Error> refused;
  for (const std::string& library : places.libraries) {
    const auto calls = load(library);
    if (!calls) continue;
    std::unique_ptr<Engine> engine(new Engine(*calls));
    abi::ConnectParams params;
    params.version = abi::version_of<abi::ConnectParams>(abi::kConnectRevision);
    params.timeout_ms = kConnectTimeoutMs;
    params.is_unix_socket = places.address.starts_with('/') ? 1 : 0;
    int code = timed(engine->cost_, [&] { return calls->init(); });
    if (code == abi::kOk) {
      code = timed(engine->cost_,
                   [&] { return calls->connect(places.address.c_str(), &params, &engine->handle_); });
    }
    if (code == abi::kOk) {
      engine->connected_ = true;
      return engine;
    }
    refused = no_connection(code, places.address);
  }
  if (refused) return fail(*refused);
  return fail(ErrorCode::unavailable, "DCGM's client library (libdcgm.so.4 or .3) is not installed");
}

Engine::~Engine() {
  if (connected_) static_cast<void>(timed(cost_, [&] { return calls_.disconnect(handle_); }));
}

int Engine::read(std::uint32_t gpu, std::span<const std::uint16_t> fields, std::uint32_t flags) {
  std::vector<std::uint16_t> ids(fields.begin(), fields.end());
  values_.assign(ids.size(), abi::Value{});
  for (abi::Value& value : values_) value.version = abi::version_of<abi::Value>(abi::kValueRevision);
  abi::Entity entity{.id = gpu};
  return timed(cost_, [&] {
    return calls_.latest(handle_, &entity, 1, ids.data(), static_cast<std::uint32_t>(ids.size()), flags,
                         values_.data());
  });
}

Result<std::uint32_t> Engine::gpu(const std::string& uuid) {
  std::array<std::uint32_t, abi::kMostGpus> ids{};
  int count = 0;
  if (const int code = timed(cost_, [&] { return calls_.devices(handle_, ids.data(), &count); });
      code != abi::kOk)
    return fail(ErrorCode::unavailable, cat("DCGM does not list its GPUs: dcgmGetAllDevices answers ", code));
  constexpr std::uint16_t kField[] = {abi::kUuidField};
  for (std::size_t i = 0; i < std::min(ids.size(), static_cast<std::size_t>(std::max(count, 0))); ++i) {
    if (read(ids[i], kField, abi::kLive) != abi::kOk || values_[0].status != abi::kOk) continue;
    const std::string_view text(values_[0].text, strnlen(values_[0].text, sizeof values_[0].text));
    if (text == uuid) return ids[i];
  }
  return fail(ErrorCode::not_found, cat("none of the ", count, " GPUs of this DCGM engine is ", uuid));
}

Result<std::vector<Latest>> Engine::latest(std::uint32_t gpu, std::span<const std::uint16_t> fields) {
  std::vector<Latest> out(fields.size());
  const int code = read(gpu, fields, 0);
  if (code == abi::kNotWatched || code == abi::kNoData) return out;
  if (code != abi::kOk)
    return fail(ErrorCode::unavailable,
                cat("DCGM's engine does not answer: dcgmEntitiesGetLatestValues says ", code),
                "'dcgmi discovery -l' shows whether it lives");
  for (const abi::Value& value : values_) {  // in any order
    const auto field = std::find(fields.begin(), fields.end(), value.field);
    if (field == fields.end() || value.entity != gpu) continue;
    Latest& latest = out[static_cast<std::size_t>(field - fields.begin())];
    latest.watched = value.status == abi::kOk || value.status == abi::kPaused;
    if (value.status != abi::kOk) continue;
    latest.at_us = value.at;
    latest.value = number_in(value);
  }
  return out;
}

}  // namespace rubato::feature::dcgm
