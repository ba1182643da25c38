#include "experiment/calibrate/ptx/pieces.h"
#include "experiment/calibrate/ptx/ptx.h"

namespace rubato::experiment::ptx {
namespace {

constexpr std::string_view kLink = R"(
.visible .entry link(.param .u64 p_table, .param .u32 p_mask)
{
  .reg .u64 %table, %place;
  .reg .u32 %i, %n, %l, %mask, %stride, %next;
  .reg .pred %over;
  ld.param.u64 %table, [p_table];
  cvta.to.global.u64 %table, %table;
  ld.param.u32 %mask, [p_mask];
THREAD
  mov.u32 %stride, %nctaid.x;
  mul.lo.u32 %stride, %stride, %n;
next:
  setp.gt.u32 %over, %i, %mask;
  @%over bra done;
  // Multiplier 1 modulo 4 and odd increment: one cycle through the whole table (Hull and Dobell, 1962).
  mad.lo.u32 %next, %i, 1664525, 1013904223;
  and.b32 %next, %next, %mask;
  mul.wide.u32 %place, %i, 4;
  add.u64 %place, %table, %place;
  st.global.u32 [%place], %next;
  add.u32 %i, %i, %stride;
  bra next;
done:
  ret;
}
)";

constexpr std::string_view kChase = R"(
.visible .entry chase(.param .u64 p_table, .param .u64 p_at, .param .u32 p_turns)
{
  .reg .u64 %table, %at, %place;
  .reg .u32 %where, %turns;
  .reg .pred %more;
  ld.param.u64 %table, [p_table];
  ld.param.u64 %at, [p_at];
  cvta.to.global.u64 %table, %table;
  cvta.to.global.u64 %at, %at;
  ld.param.u32 %turns, [p_turns];
  ld.global.u32 %where, [%at];
  setp.eq.u32 %more, %turns, 0;
  @%more bra done;
turn:
LOADS
  sub.u32 %turns, %turns, 1;
  setp.ne.u32 %more, %turns, 0;
  @%more bra turn;
done:
  st.global.u32 [%at], %where;
  ret;
}
)";

constexpr std::string_view kLoad = R"(
  mul.wide.u32 %place, %where, 4;
  add.u64 %place, %table, %place;
  ld.global.u32 %where, [%place];
)";

}  // namespace

std::string chase() {
  return header("6.0", "sm_70") + with(std::string(kLink), "THREAD", kThreadNumber) +
         with(std::string(kChase), "LOADS", repeated(kLoad, kChaseUnroll));
}

}  // namespace rubato::experiment::ptx
