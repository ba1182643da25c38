#include <array>

#include "base/text.h"
#include "experiment/calibrate/ptx/pieces.h"
#include "experiment/calibrate/ptx/ptx.h"

namespace rubato::experiment::ptx {
namespace {

/// What PTX calls the format, and how many 32-bit registers a warp's thread holds of a matrix of it.
struct Shape {
  std::string_view version, target, shape, load, multiply;
  unsigned registers;
  unsigned depth;  // columns of A
};

Shape shape_of(TensorFormat format) {
  if (format == TensorFormat::bf16) return {"7.0", "sm_80", "m16n16k16", "bf16", "f32.bf16.bf16.f32", 4, 16};
  if (format == TensorFormat::tf32) return {"7.0", "sm_80", "m16n16k8", "tf32", "f32.tf32.tf32.f32", 4, 8};
  return {"6.3", "sm_70", "m16n16k16", "f16", "f32.f32", 8, 16};
}

constexpr unsigned kSum = 8;  // registers of an accumulator in single precision

/// "{%a0, %a1, ...}"
std::string vector_of(std::string_view name, unsigned first, unsigned count) {
  std::string out = "{";
  for (unsigned i = 0; i < count; ++i) out += cat(i == 0 ? "%" : ", %", name, first + i);
  return out + "}";
}

std::string multiply(const Shape& s, unsigned accumulator, std::string_view by) {
  const std::string sum = vector_of("d", accumulator * kSum, kSum);
  return cat("  wmma.mma.sync.aligned.row.col.", s.shape, ".", s.multiply, " ", sum, ", ",
             vector_of("a", 0, s.registers), ", ", vector_of(by, 0, s.registers), ", ", sum, ";\n");
}

std::string all_by(const Shape& s, std::string_view by) {
  std::string out;
  for (unsigned i = 0; i < kAccumulators; ++i) out += multiply(s, i, by);
  return out;
}

std::string load(const Shape& s, std::string_view role, std::string_view order, std::string_view name,
                 std::string_view pointer) {
  return cat("  wmma.load.", role, ".sync.aligned.", order, ".", s.shape, ".global.", s.load, " ",
             vector_of(name, 0, s.registers), ", [", pointer, "], ", s.depth, ";\n");
}

std::string zeros() {
  std::string out;
  for (unsigned i = 0; i < kAccumulators * kSum; ++i) out += cat("  mov.f32 %d", i, ", 0f00000000;\n");
  return out;
}

std::string stores(const Shape& s) {
  std::string out;
  for (unsigned i = 0; i < kAccumulators; ++i)
    out += cat("  wmma.store.d.sync.aligned.row.", s.shape, ".global.f32 [%out+", i * 16 * 16 * 4, "], ",
               vector_of("d", i * kSum, kSum), ", 16;\n");
  return out;
}

constexpr std::string_view kKernel = R"(
.visible .entry matrices(.param .u64 p_out, .param .u64 p_a, .param .u64 p_b, .param .u64 p_c, .param .u32 p_turns)
{
  .reg .u64 %out, %pa, %pb, %pc, %offset;
  .reg .u32 %i, %n, %l, %turns;
  .reg .pred %more;
  .reg .b32 %a<8>, %b<8>, %c<8>;
  .reg .f32 %d<32>;
  ld.param.u64 %out, [p_out];
  ld.param.u64 %pa, [p_a];
  ld.param.u64 %pb, [p_b];
  ld.param.u64 %pc, [p_c];
  cvta.to.global.u64 %out, %out;
  cvta.to.global.u64 %pa, %pa;
  cvta.to.global.u64 %pb, %pb;
  cvta.to.global.u64 %pc, %pc;
  ld.param.u32 %turns, [p_turns];
THREAD
  shr.u32 %i, %i, 5;
  mul.wide.u32 %offset, %i, 4096;
  add.u64 %out, %out, %offset;
BEGIN
  setp.eq.u32 %more, %turns, 0;
  @%more bra done;
turn:
TURN
  sub.u32 %turns, %turns, 1;
  setp.ne.u32 %more, %turns, 0;
  @%more bra turn;
done:
STORE
  ret;
}
)";
static_assert(kAccumulators * kSum == 32 && kAccumulators * 16 * 16 * 4 == 4096, "as the text above has it");

}  // namespace

std::string matrices(TensorFormat format) {
  const Shape s = shape_of(format);
  const std::string begin = load(s, "a", "row", "a", "%pa") + load(s, "b", "col", "b", "%pb") +
                            load(s, "b", "col", "c", "%pc") + zeros() + all_by(s, "b");
  std::string text = with(std::string(kKernel), "THREAD", kThreadNumber);
  text = with(text, "BEGIN", begin);
  text = with(text, "TURN", all_by(s, "b") + all_by(s, "c"));
  text = with(text, "STORE", stores(s));
  return header(s.version, s.target) + text;
}

}  // namespace rubato::experiment::ptx
