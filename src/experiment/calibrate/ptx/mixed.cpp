#include "experiment/calibrate/ptx/pieces.h"
#include "experiment/calibrate/ptx/ptx.h"

namespace rubato::experiment::ptx {
namespace {

constexpr std::string_view kFill = R"(
.visible .entry fill(.param .u64 p_out, .param .u32 p_count)
{
  .reg .u64 %out, %place;
  .reg .u32 %i, %n, %l, %count, %stride, %hash;
  .reg .pred %over;
  .reg .f32 %f;
  ld.param.u64 %out, [p_out];
  cvta.to.global.u64 %out, %out;
  ld.param.u32 %count, [p_count];
THREAD
  mov.u32 %stride, %nctaid.x;
  mul.lo.u32 %stride, %stride, %n;
next:
  setp.ge.u32 %over, %i, %count;
  @%over bra done;
  // Knuth's multiplicative hash; its upper 24 bits are a float without rounding.
  mul.lo.u32 %hash, %i, 2654435761;
  shr.u32 %hash, %hash, 8;
  cvt.rn.f32.u32 %f, %hash;
  mul.rn.f32 %f, %f, 0f33800000;
  mul.wide.u32 %place, %i, 4;
  add.u64 %place, %out, %place;
  st.global.f32 [%place], %f;
  add.u32 %i, %i, %stride;
  bra next;
done:
  ret;
}
)";

constexpr std::string_view kMixed = R"(
.visible .entry mixed(.param .u64 p_to, .param .u64 p_from, .param .u32 p_vectors, .param .u32 p_turns)
{
  .reg .u64 %to, %from, %offset, %place;
  .reg .u32 %i, %n, %l, %vectors, %turns, %left, %stride;
  .reg .pred %over, %more;
  .reg .f32 %x<2>, %v<2>;
  ld.param.u64 %to, [p_to];
  ld.param.u64 %from, [p_from];
  cvta.to.global.u64 %to, %to;
  cvta.to.global.u64 %from, %from;
  ld.param.u32 %vectors, [p_vectors];
  ld.param.u32 %turns, [p_turns];
THREAD
  mov.u32 %stride, %nctaid.x;
  mul.lo.u32 %stride, %stride, %n;
next:
  setp.ge.u32 %over, %i, %vectors;
  @%over bra done;
  mul.wide.u32 %offset, %i, 16;
  add.u64 %place, %from, %offset;
  ld.global.v4.f32 {%x0, %x1, %v0, %v1}, [%place];
  mov.u32 %left, %turns;
  setp.eq.u32 %more, %left, 0;
  @%more bra store;
turn:
STEPS
  sub.u32 %left, %left, 1;
  setp.ne.u32 %more, %left, 0;
  @%more bra turn;
store:
  add.u64 %place, %to, %offset;
  st.global.v4.f32 [%place], {%x0, %x1, %v0, %v1};
  add.u32 %i, %i, %stride;
  bra next;
done:
  ret;
}
)";

constexpr std::string_view kStep = R"(
  fma.rn.f32 %v0, %x0, 0fBF333333, %v0;
  fma.rn.f32 %v1, %x1, 0fBF333333, %v1;
  fma.rn.f32 %x0, %v0, 0f3F333333, %x0;
  fma.rn.f32 %x1, %v1, 0f3F333333, %x1;
)";

}  // namespace

std::string mixed() {
  std::string text = with(std::string(kMixed), "STEPS", repeated(kStep, kMixedUnroll));
  return header("6.0", "sm_70") + with(std::string(kFill) + text, "THREAD", kThreadNumber);
}

}  // namespace rubato::experiment::ptx
