/* A program that contains NVTX as its makers ship it; prints the level of each range as the injected library
 * gives it. */
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>

int main(void) {
  nvtxEventAttributes_t event = {0};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = "inner";
  const int outer = nvtxRangePushA("outer");
  const int inner = nvtxRangePushEx(&event);
  const int wide = nvtxRangePushW(L"innermost");
  const int first = nvtxRangePop();
  const int second = nvtxRangePop();
  const int third = nvtxRangePop();
  printf("%d %d %d %d %d %d %s\n", outer, inner, wide, first, second, third,
         nvtxRangePop() < 0 ? "none" : "more");
  return 0;
}
