/* What the vendor's cupti_activity.h takes from the toolkit's cuda.h, as far as sizes go. */
#pragma once
#include <stddef.h>
#include <stdint.h>
typedef struct CUctx_st* CUcontext;
typedef struct CUstream_st* CUstream;
typedef int CUdevice;
typedef struct {
  char bytes[16];
} CUuuid;
typedef struct CUaccessPolicyWindow_st CUaccessPolicyWindow;
typedef struct CUgraph_st* CUgraph;
typedef struct CUgraphNode_st* CUgraphNode;
typedef struct CUgraphExec_st* CUgraphExec;
typedef int CUgraphNodeType;
typedef int CUresult;
typedef int CUdevice_attribute;
typedef int CUstreamAttrID;
typedef int CUstreamAttrValue;
typedef struct CUevent_st* CUevent;
