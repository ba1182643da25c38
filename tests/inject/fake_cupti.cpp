// A CUPTI without a GPU: whoever calls fake_launch() gets records as if a kernel had run, in buffers and
// callbacks as CUPTI hands them out, laid out as the chosen version does.
#include "inject/fake_cupti.h"

#include <unistd.h>

#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

extern "C" {
#define _Static_assert static_assert
#include "inject/cupti_abi.h"
}

namespace {

long setting(const char* name, long otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::atol(value) : otherwise;
}

std::uint32_t version() {
  return static_cast<std::uint32_t>(setting("FAKE_CUPTI_VERSION", 130500));
}

// sizeof of the newest kernel and graph record in the header of that version.
std::size_t kernel_size() {
  if (const long chosen = setting("FAKE_CUPTI_KERNEL_BYTES", 0); chosen != 0)
    return static_cast<std::size_t>(chosen);
  if (version() <= 17) return 176;
  return version() < 130400 ? 216 : 256;
}
std::size_t graph_size() {
  return version() < 20 ? 48 : 56;
}

std::size_t size_of(const cupti_record& r) {
  switch (r.kind) {
    case CUPTI_KIND_CONCURRENT_KERNEL:
      return kernel_size();
    case CUPTI_KIND_GRAPH_TRACE:
      return graph_size();
    case CUPTI_KIND_EXTERNAL_CORRELATION:
      return 32;
    default:
      return 24;
  }
}

struct Buffer {
  std::uint8_t* bytes = nullptr;
  std::size_t size = 0;
  std::size_t used = 0;
};

std::recursive_mutex g_lock;  // its own functions are called in its callbacks
cupti_buffer_requested* g_requested = nullptr;
cupti_buffer_completed* g_completed = nullptr;
std::uint64_t g_kinds = 0;  // bits
Buffer g_kernels;           // two, since CUPTI may keep one per thread, in any order
Buffer g_correlations;
FakeCounts g_counts{};
std::size_t g_dropped = 0;
std::uint32_t g_correlation = 0;
bool g_subscribed = false;
std::atomic<bool> g_gone = false;
// As CUPTI's own: nobody may call it once its library has been cleaned up.
struct AtExit {
  ~AtExit() { g_gone = true; }
} const g_at_exit;
thread_local std::map<int, std::vector<std::uint64_t>> t_external;

std::uint64_t timestamp() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec * 1'000'000'000 + t.tv_nsec + kFakeClockOffset);
}

std::uint64_t bit_of(int kind) {
  return std::uint64_t{1} << kind;
}

bool is_on(int kind) {
  return (g_kinds & bit_of(kind)) != 0;
}

void complete(Buffer& buffer) {
  if (buffer.bytes == nullptr) return;
  const Buffer full = std::exchange(buffer, {});
  g_completed(nullptr, 0, full.bytes, full.size, full.used);
}

template <class Record>
bool append(Buffer& buffer, const Record& record) {
  const std::size_t size = size_of(reinterpret_cast<const cupti_record&>(record));
  if (buffer.bytes != nullptr && buffer.used + size > buffer.size) complete(buffer);
  if (buffer.bytes == nullptr) {
    std::size_t most = 0;
    g_requested(&buffer.bytes, &buffer.size, &most);
    if (buffer.bytes == nullptr) {
      ++g_dropped;
      ++g_counts.dropped;
      return false;
    }
  }
  std::memset(buffer.bytes + buffer.used, 0xee, size);
  std::memcpy(buffer.bytes + buffer.used, &record, std::min(size, sizeof record));
  buffer.used += size;
  return true;
}

}  // namespace

#define FAKE_API extern "C" __attribute__((visibility("default")))

FAKE_API void fake_launch(const FakeLaunch* launch) {
  const std::lock_guard lock(g_lock);
  const bool graph = launch->name == nullptr;
  if (!is_on(graph ? CUPTI_KIND_GRAPH_TRACE : CUPTI_KIND_CONCURRENT_KERNEL)) return;
  ++g_correlation;
  const std::uint64_t start = timestamp();
  bool kept = false;
  if (graph) {
    cupti_graph r{};
    r.kind = CUPTI_KIND_GRAPH_TRACE;
    r.correlation = g_correlation;
    r.start = start;
    r.end = start + 5000;
    r.graph = launch->graph;
    r.stream = launch->stream;
    kept = append(g_kernels, r);
  } else {
    cupti_kernel r{};
    r.kind = CUPTI_KIND_CONCURRENT_KERNEL;
    r.correlation = g_correlation;
    r.start = start;
    r.end = start + 1000;
    r.stream = launch->stream;
    for (int& g : r.grid) g = static_cast<int>(launch->grid);
    for (int& b : r.block) b = static_cast<int>(launch->block);
    r.name = launch->name;
    r.graph = launch->graph;
    kept = append(g_kernels, r);
  }
  if (kept) ++g_counts.recorded;
  if (!is_on(CUPTI_KIND_EXTERNAL_CORRELATION) || !is_on(CUPTI_KIND_RUNTIME)) return;
  for (const auto& [kind, ids] : t_external) {
    if (ids.empty()) continue;
    cupti_correlation c{};
    c.kind = CUPTI_KIND_EXTERNAL_CORRELATION;
    c.of = kind;
    c.id = ids.back();
    c.correlation = g_correlation;
    append(g_correlations, c);
  }
}

FAKE_API void fake_counts(FakeCounts* out) {
  const std::lock_guard lock(g_lock);
  *out = g_counts;
  out->enabled = static_cast<unsigned>(std::popcount(g_kinds));
}

FAKE_API int cuptiGetVersion(std::uint32_t* out) {
  *out = version();
  return CUPTI_OK;
}

FAKE_API int cuptiSubscribe(cupti_subscriber* subscriber, cupti_callback*, void*) {
  const std::lock_guard lock(g_lock);
  ++g_counts.subscribed;
  if (const long error = setting("FAKE_CUPTI_SUBSCRIBE", 0); error != 0) return static_cast<int>(error);
  if (g_subscribed) return CUPTI_MULTIPLE_SUBSCRIBERS;
  g_subscribed = true;
  *subscriber = &g_subscribed;
  return CUPTI_OK;
}

FAKE_API int cuptiUnsubscribe(cupti_subscriber) {
  const std::lock_guard lock(g_lock);
  ++g_counts.unsubscribed;
  g_subscribed = false;
  return CUPTI_OK;
}

FAKE_API int cuptiActivityRegisterCallbacks(cupti_buffer_requested* requested,
                                            cupti_buffer_completed* completed) {
  const std::lock_guard lock(g_lock);
  g_requested = requested;
  g_completed = completed;
  return CUPTI_OK;
}

FAKE_API int cuptiActivityEnable(int kind) {
  const std::lock_guard lock(g_lock);
  if (const long error = setting("FAKE_CUPTI_ENABLE", 0); error != 0 && kind == CUPTI_KIND_CONCURRENT_KERNEL)
    return static_cast<int>(error);
  g_kinds |= bit_of(kind);
  return CUPTI_OK;
}

FAKE_API int cuptiActivityDisable(int kind) {
  const std::lock_guard lock(g_lock);
  if (is_on(kind) && kind == CUPTI_KIND_CONCURRENT_KERNEL) ++g_counts.cycles;
  g_kinds &= ~bit_of(kind);
  return CUPTI_OK;
}

FAKE_API int cuptiActivityFlushAll(std::uint32_t flag) {
  if (g_gone) std::abort();
  if (setting("FAKE_CUPTI_HANG", 0) != 0)
    for (;;) ::pause();
  const std::lock_guard lock(g_lock);
  if (setting("FAKE_CUPTI_UNFINISHED", 0) != 0 && g_kernels.bytes != nullptr) {
    if (flag != CUPTI_FLUSH_FORCED) return CUPTI_OK;
    auto* last = reinterpret_cast<cupti_kernel*>(g_kernels.bytes + g_kernels.used - kernel_size());
    last->end = 0;
  }
  complete(g_kernels);
  complete(g_correlations);
  return CUPTI_OK;
}

FAKE_API int cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, cupti_record** record) {
  std::uint8_t* next = buffer;
  if (*record != nullptr) next = reinterpret_cast<std::uint8_t*>(*record) + size_of(**record);
  if (next >= buffer + valid) return CUPTI_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<cupti_record*>(next);
  return CUPTI_OK;
}

FAKE_API int cuptiActivityGetNumDroppedRecords(void*, std::uint32_t, std::size_t* dropped) {
  const std::lock_guard lock(g_lock);
  static std::size_t told = static_cast<std::size_t>(setting("FAKE_CUPTI_DROPPED", 0));
  *dropped = std::exchange(g_dropped, 0) + std::exchange(told, 0);
  return CUPTI_OK;
}

FAKE_API int cuptiGetTimestamp(std::uint64_t* ns) {
  *ns = timestamp();
  return CUPTI_OK;
}

FAKE_API int cuptiActivityPushExternalCorrelationId(int kind, std::uint64_t id) {
  t_external[kind].push_back(id);
  return CUPTI_OK;
}

FAKE_API int cuptiActivityPopExternalCorrelationId(int kind, std::uint64_t* last) {
  auto& ids = t_external[kind];
  if (ids.empty()) return 18;  // CUPTI_ERROR_QUEUE_EMPTY
  *last = ids.back();
  ids.pop_back();
  return CUPTI_OK;
}
