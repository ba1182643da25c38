#include "experiment/calibrate/ptx/pieces.h"
#include "experiment/calibrate/ptx/ptx.h"

namespace rubato::experiment::ptx {
namespace {

// TYPE f32 or f64, SIZE of it, K and MINUS its coupling 0.7.
constexpr std::string_view kKernel = R"(
.visible .entry oscillate(.param .u64 p_out, .param .u32 p_turns)
{
  .reg .u64 %out, %offset;
  .reg .u32 %i, %n, %l, %turns;
  .reg .pred %more;
  .reg .TYPE %x<4>, %v<4>, %start;
  ld.param.u64 %out, [p_out];
  cvta.to.global.u64 %out, %out;
  ld.param.u32 %turns, [p_turns];
THREAD
  // Starts that differ from thread to thread: (number modulo 64 + 1) / 128.
  and.b32 %l, %i, 63;
  add.u32 %l, %l, 1;
  cvt.rn.TYPE.u32 %start, %l;
  mul.rn.TYPE %start, %start, START;
  mov.TYPE %x0, %start;
  add.rn.TYPE %x1, %x0, START;
  add.rn.TYPE %x2, %x1, START;
  add.rn.TYPE %x3, %x2, START;
  mov.TYPE %v0, %start;
  mov.TYPE %v1, %start;
  mov.TYPE %v2, %start;
  mov.TYPE %v3, %start;
  setp.eq.u32 %more, %turns, 0;
  @%more bra done;
turn:
STEPS
  sub.u32 %turns, %turns, 1;
  setp.ne.u32 %more, %turns, 0;
  @%more bra turn;
done:
  mul.wide.u32 %offset, %i, SIZE;
  add.u64 %out, %out, %offset;
STORE
  ret;
}
)";

constexpr std::string_view kStep = R"(
  fma.rn.TYPE %v0, %x0, MINUS, %v0;
  fma.rn.TYPE %v1, %x1, MINUS, %v1;
  fma.rn.TYPE %v2, %x2, MINUS, %v2;
  fma.rn.TYPE %v3, %x3, MINUS, %v3;
  fma.rn.TYPE %x0, %v0, PLUS, %x0;
  fma.rn.TYPE %x1, %v1, PLUS, %x1;
  fma.rn.TYPE %x2, %v2, PLUS, %x2;
  fma.rn.TYPE %x3, %v3, PLUS, %x3;
)";

struct Precision {
  std::string_view type, size, plus, minus, start, store;
};

std::string module_of(const Precision& p) {
  std::string text(kKernel);
  text = with(text, "THREAD", kThreadNumber);
  text = with(text, "STEPS", repeated(kStep, kFmaUnroll));
  text = with(text, "STORE", p.store);
  text = with(text, "TYPE", p.type);
  text = with(text, "SIZE", p.size);
  text = with(text, "PLUS", p.plus);
  text = with(text, "MINUS", p.minus);
  text = with(text, "START", p.start);
  return header("6.0", "sm_70") + text;
}

}  // namespace

std::string fma32() {
  return module_of({.type = "f32",
                    .size = "16",
                    .plus = "0f3F333333",
                    .minus = "0fBF333333",
                    .start = "0f3C000000",
                    .store = "  st.global.v4.f32 [%out], {%x0, %x1, %x2, %x3};"});
}

std::string fma64() {
  return module_of({.type = "f64",
                    .size = "32",
                    .plus = "0d3FE6666666666666",
                    .minus = "0dBFE6666666666666",
                    .start = "0d3F80000000000000",
                    .store = "  st.global.v2.f64 [%out], {%x0, %x1};\n"
                             "  st.global.v2.f64 [%out+16], {%x2, %x3};"});
}

}  // namespace rubato::experiment::ptx
