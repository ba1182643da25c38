// Our declarations against DCGM's own headers of one version. It compiles where they agree.
#include <dcgm_agent.h>
#include <dcgm_fields.h>
#include <dcgm_structs.h>

#include <type_traits>

#include "feature/dcgm/abi.h"

namespace our = rubato::feature::dcgm::abi;

#define SAME(ours, our_member, theirs, their_member)                                               \
  static_assert(offsetof(our::ours, our_member) == offsetof(theirs, their_member), #their_member); \
  static_assert(sizeof(our::ours::our_member) == sizeof(theirs::their_member), #their_member)

static_assert(sizeof(our::ConnectParams) == sizeof(dcgmConnectV2Params_v2));
static_assert(our::version_of<our::ConnectParams>(our::kConnectRevision) == dcgmConnectV2Params_version2);
SAME(ConnectParams, persist, dcgmConnectV2Params_v2, persistAfterDisconnect);
SAME(ConnectParams, timeout_ms, dcgmConnectV2Params_v2, timeoutMs);
SAME(ConnectParams, is_unix_socket, dcgmConnectV2Params_v2, addressIsUnixSocket);
static_assert(sizeof(our::Entity) == sizeof(dcgmGroupEntityPair_t));
SAME(Entity, id, dcgmGroupEntityPair_t, entityId);
static_assert(sizeof(our::Value) == sizeof(dcgmFieldValue_v2));
static_assert(our::version_of<our::Value>(our::kValueRevision) == dcgmFieldValue_version2);
SAME(Value, group, dcgmFieldValue_v2, entityGroupId);
SAME(Value, entity, dcgmFieldValue_v2, entityId);
SAME(Value, field, dcgmFieldValue_v2, fieldId);
SAME(Value, type, dcgmFieldValue_v2, fieldType);
SAME(Value, status, dcgmFieldValue_v2, status);
SAME(Value, at, dcgmFieldValue_v2, ts);
static_assert(offsetof(our::Value, real) == offsetof(dcgmFieldValue_v2, value.dbl));
static_assert(offsetof(our::Value, text) == offsetof(dcgmFieldValue_v2, value.str));

#define VALUE(ours, theirs) \
  static_assert(static_cast<long long>(our::ours) == static_cast<long long>(theirs), #theirs)
VALUE(kOk, DCGM_ST_OK);
VALUE(kVersionMismatch, DCGM_ST_VER_MISMATCH);
VALUE(kNoData, DCGM_ST_NO_DATA);
VALUE(kNotWatched, DCGM_ST_NOT_WATCHED);
VALUE(kPaused, DCGM_ST_PAUSED);
VALUE(kMostGpus, DCGM_MAX_NUM_DEVICES);
VALUE(kGpuEntity, DCGM_FE_GPU);
VALUE(kLive, DCGM_FV_FLAG_LIVE_DATA);
VALUE(kUuidField, DCGM_FI_DEV_UUID);
VALUE(kDouble, DCGM_FT_DOUBLE);
VALUE(kInteger, DCGM_FT_INT64);
VALUE(kBlankInteger, DCGM_INT64_BLANK);
static_assert(our::kBlankDouble == DCGM_FP64_BLANK);
static_assert(DCGM_FI_PROF_SM_ACTIVE == 1002 && DCGM_FI_PROF_SM_OCCUPANCY == 1003 &&
              DCGM_FI_PROF_PIPE_TENSOR_ACTIVE == 1004 && DCGM_FI_PROF_DRAM_ACTIVE == 1005 &&
              DCGM_FI_PROF_PIPE_FP64_ACTIVE == 1006 && DCGM_FI_PROF_PIPE_FP32_ACTIVE == 1007 &&
              DCGM_FI_PROF_PIPE_FP16_ACTIVE == 1008 && DCGM_FI_PROF_PIPE_INT_ACTIVE == 1016);
static_assert(DCGM_FI_PROF_PCIE_TX_BYTES == 1009 && DCGM_FI_PROF_PCIE_RX_BYTES == 1010 &&
              DCGM_FI_PROF_NVLINK_TX_BYTES == 1011 && DCGM_FI_PROF_NVLINK_RX_BYTES == 1012);
static_assert(std::is_same_v<our::Handle, dcgmHandle_t>);
