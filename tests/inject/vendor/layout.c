/* Our declarations against the vendor's own header of one version. It compiles where they agree. */
#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_result.h>
#include <cupti_version.h>
#include <stdio.h>

#include "cupti_abi.h"

#if !defined(VENDOR_KERNEL) || !defined(VENDOR_GRAPH)
#error "say which records are this header's newest: -DVENDOR_KERNEL=CUpti_ActivityKernel7 -DVENDOR_GRAPH=..."
#endif

#define SAME_SIZE_AT(ours, our_member, theirs, their_member)                                   \
  _Static_assert(offsetof(ours, our_member) == offsetof(theirs, their_member), #their_member); \
  _Static_assert(sizeof(((ours*)0)->our_member) == sizeof(((theirs*)0)->their_member) ||       \
                     sizeof(((ours*)0)->our_member) == 3 * sizeof(((theirs*)0)->their_member), \
                 #their_member)

SAME_SIZE_AT(struct cupti_kernel, kind, VENDOR_KERNEL, kind);
SAME_SIZE_AT(struct cupti_kernel, start, VENDOR_KERNEL, start);
SAME_SIZE_AT(struct cupti_kernel, end, VENDOR_KERNEL, end);
SAME_SIZE_AT(struct cupti_kernel, device, VENDOR_KERNEL, deviceId);
SAME_SIZE_AT(struct cupti_kernel, stream, VENDOR_KERNEL, streamId);
SAME_SIZE_AT(struct cupti_kernel, grid, VENDOR_KERNEL, gridX);
_Static_assert(offsetof(VENDOR_KERNEL, gridZ) == offsetof(VENDOR_KERNEL, gridX) + 8, "grid");
SAME_SIZE_AT(struct cupti_kernel, block, VENDOR_KERNEL, blockX);
_Static_assert(offsetof(VENDOR_KERNEL, blockZ) == offsetof(VENDOR_KERNEL, blockX) + 8, "block");
SAME_SIZE_AT(struct cupti_kernel, correlation, VENDOR_KERNEL, correlationId);
SAME_SIZE_AT(struct cupti_kernel, name, VENDOR_KERNEL, name);
SAME_SIZE_AT(struct cupti_kernel, graph, VENDOR_KERNEL, graphId);
_Static_assert(sizeof(struct cupti_kernel) <= sizeof(VENDOR_KERNEL), "ours is the beginning of theirs");

SAME_SIZE_AT(struct cupti_graph, correlation, VENDOR_GRAPH, correlationId);
SAME_SIZE_AT(struct cupti_graph, start, VENDOR_GRAPH, start);
SAME_SIZE_AT(struct cupti_graph, end, VENDOR_GRAPH, end);
SAME_SIZE_AT(struct cupti_graph, device, VENDOR_GRAPH, deviceId);
SAME_SIZE_AT(struct cupti_graph, graph, VENDOR_GRAPH, graphId);
SAME_SIZE_AT(struct cupti_graph, stream, VENDOR_GRAPH, streamId);

SAME_SIZE_AT(struct cupti_correlation, of, CUpti_ActivityExternalCorrelation, externalKind);
SAME_SIZE_AT(struct cupti_correlation, id, CUpti_ActivityExternalCorrelation, externalId);
SAME_SIZE_AT(struct cupti_correlation, correlation, CUpti_ActivityExternalCorrelation, correlationId);

_Static_assert(CUPTI_OK == (int)CUPTI_SUCCESS, "result");
_Static_assert(CUPTI_MAX_LIMIT_REACHED == (int)CUPTI_ERROR_MAX_LIMIT_REACHED, "result");
_Static_assert(CUPTI_INSUFFICIENT_PRIVILEGES == (int)CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "result");
_Static_assert(CUPTI_MULTIPLE_SUBSCRIBERS == (int)CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, "result");
_Static_assert(CUPTI_KIND_DRIVER == (int)CUPTI_ACTIVITY_KIND_DRIVER, "kind");
_Static_assert(CUPTI_KIND_RUNTIME == (int)CUPTI_ACTIVITY_KIND_RUNTIME, "kind");
_Static_assert(CUPTI_KIND_CONCURRENT_KERNEL == (int)CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, "kind");
_Static_assert(CUPTI_KIND_EXTERNAL_CORRELATION == (int)CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, "kind");
_Static_assert(CUPTI_KIND_GRAPH_TRACE == (int)CUPTI_ACTIVITY_KIND_GRAPH_TRACE, "kind");
_Static_assert(CUPTI_FLUSH_FORCED == (int)CUPTI_ACTIVITY_FLAG_FLUSH_FORCED, "flag");
_Static_assert(CUPTI_CORRELATION_CUSTOM2 == (int)CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2, "correlation");
_Static_assert((CUPTI_API_VERSION >= RUBATO_CUPTI_OLDEST && CUPTI_API_VERSION <= RUBATO_CUPTI_LAST_OF_12) ||
                   (CUPTI_API_VERSION >= RUBATO_CUPTI_FIRST_OF_13 &&
                    CUPTI_API_VERSION < RUBATO_CUPTI_AFTER_NEWEST),
               "this version is one that the library accepts");

int main(void) {
  printf("%d\n", CUPTI_API_VERSION);
  return 0;
}
