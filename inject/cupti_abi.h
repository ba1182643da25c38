/* The few functions, numbers and record layouts of CUPTI that this library uses, declared anew so that it
 * builds without a CUDA toolkit. tests/inject/vendor/layout.c compares them with the vendor's headers of
 * several versions.
 *
 * Every kernel record from CUDA 11.7 (Kernel7) to 13.5 (Kernel13) starts with the same 160 bytes: later
 * versions only append. The same holds for graph and correlation records. What begins differently must get a
 * layout of its own.
 */
#ifndef RUBATO_INJECT_CUPTI_ABI_H
#define RUBATO_INJECT_CUPTI_ABI_H

#include <stddef.h>
#include <stdint.h>

/* Versions as cuptiGetVersion gives them: 17 is CUDA 11.7, 28 is CUDA 12.9; from 13.0 on major, minor and
 * patch as decimal digits. Below and between we have seen no header, above there may be new beginnings of
 * records. */
#define RUBATO_CUPTI_OLDEST 17U
#define RUBATO_CUPTI_LAST_OF_12 28U
#define RUBATO_CUPTI_FIRST_OF_13 130000U
#define RUBATO_CUPTI_AFTER_NEWEST 130600U

enum {
  CUPTI_OK = 0,
  CUPTI_MAX_LIMIT_REACHED = 12,
  CUPTI_INSUFFICIENT_PRIVILEGES = 35,
  CUPTI_MULTIPLE_SUBSCRIBERS = 39,
};

enum {
  CUPTI_KIND_DRIVER = 4,
  CUPTI_KIND_RUNTIME = 5,
  CUPTI_KIND_CONCURRENT_KERNEL = 10,
  CUPTI_KIND_EXTERNAL_CORRELATION = 39,
  CUPTI_KIND_GRAPH_TRACE = 51,
};

enum { CUPTI_FLUSH_FORCED = 1, CUPTI_CORRELATION_CUSTOM2 = 5 };

/* What all records begin with. */
struct cupti_record {
  int32_t kind;
};

struct cupti_kernel {
  int32_t kind;
  uint8_t not_used0[12];
  uint64_t start; /* 0: not known, as is `end` of a kernel that still runs */
  uint64_t end;
  uint64_t completed;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  int32_t grid[3];
  int32_t block[3];
  uint8_t not_used1[16];
  uint32_t correlation;
  int64_t grid_id;
  const char* name; /* CUPTI's own, alive while the module is loaded */
  uint8_t not_used2[40];
  uint32_t shared_memory_limit;
  uint32_t graph;
};

struct cupti_graph {
  int32_t kind;
  uint32_t correlation;
  uint64_t start;
  uint64_t end;
  uint32_t device;
  uint32_t graph;
  uint32_t context;
  uint32_t stream;
};

struct cupti_correlation {
  int32_t kind;
  int32_t of; /* CUPTI_CORRELATION_CUSTOM2 */
  uint64_t id;
  uint32_t correlation;
};

_Static_assert(offsetof(struct cupti_kernel, start) == 16, "as in cupti_activity.h");
_Static_assert(offsetof(struct cupti_kernel, correlation) == 92, "as in cupti_activity.h");
_Static_assert(offsetof(struct cupti_kernel, name) == 104, "as in cupti_activity.h");
_Static_assert(offsetof(struct cupti_kernel, graph) == 156, "as in cupti_activity.h");
_Static_assert(sizeof(struct cupti_kernel) == 160, "as in cupti_activity.h");

typedef void* cupti_subscriber;
typedef void cupti_callback(void* user, int domain, uint32_t id, const void* data);
typedef void cupti_buffer_requested(uint8_t** buffer, size_t* size, size_t* most_records);
typedef void cupti_buffer_completed(void* context, uint32_t stream, uint8_t* buffer, size_t size,
                                    size_t valid);

/* name in the table, symbol, parameters. All return a CUptiResult, 0 for success. */
#define RUBATO_CUPTI_FUNCTIONS(X)                                                                            \
  X(get_version, "cuptiGetVersion", (uint32_t * version))                                                    \
  X(subscribe, "cuptiSubscribe", (cupti_subscriber * subscriber, cupti_callback * callback, void* user))     \
  X(unsubscribe, "cuptiUnsubscribe", (cupti_subscriber subscriber))                                          \
  X(register_callbacks, "cuptiActivityRegisterCallbacks",                                                    \
    (cupti_buffer_requested * requested, cupti_buffer_completed * completed))                                \
  X(enable, "cuptiActivityEnable", (int kind))                                                               \
  X(disable, "cuptiActivityDisable", (int kind))                                                             \
  X(flush_all, "cuptiActivityFlushAll", (uint32_t flag))                                                     \
  X(next_record, "cuptiActivityGetNextRecord",                                                               \
    (uint8_t * buffer, size_t valid, struct cupti_record * *record))                                         \
  X(dropped_records, "cuptiActivityGetNumDroppedRecords", (void* context, uint32_t stream, size_t* dropped)) \
  X(timestamp, "cuptiGetTimestamp", (uint64_t * ns))                                                         \
  X(push_id, "cuptiActivityPushExternalCorrelationId", (int kind, uint64_t id))                              \
  X(pop_id, "cuptiActivityPopExternalCorrelationId", (int kind, uint64_t* last))

struct cupti {
#define RUBATO_MEMBER(name, symbol, parameters) int(*name) parameters;
  RUBATO_CUPTI_FUNCTIONS(RUBATO_MEMBER)
#undef RUBATO_MEMBER
};

#endif
