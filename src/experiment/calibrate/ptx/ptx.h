// The micro-benchmarks' kernels as PTX, which the driver compiles for the GPU it drives: no toolkit is
// needed, and no binary of one architecture travels along. Each text is one module; what a kernel computes
// can be computed again on the host to the last bit (experiment/calibrate/expected.h).
#pragma once

#include <string>
#include <string_view>

namespace rubato::experiment::ptx {

/// Number formats of the matrix products.
enum class TensorFormat { fp16, bf16, tf32 };

inline constexpr unsigned kBlock = 256;       // threads of a block, in every kernel but `chase`
inline constexpr unsigned kFmaUnroll = 8;     // oscillator steps in one turn of the loop
inline constexpr unsigned kMixedUnroll = 6;   // the same in `mixed`
inline constexpr unsigned kChaseUnroll = 8;   // dependent loads in one turn
inline constexpr unsigned kAccumulators = 4;  // matrices a warp adds to, so that none waits for itself

/// `oscillate`(out, turns): each thread lets four oscillators go on by turns * kFmaUnroll steps and stores
/// their four places at out[4 * thread]. A step is v = fma(-k, x, v); x = fma(k, v, x): two multiply-adds
/// that neither settle nor overflow, so that the bits toggle as real data's do.
[[nodiscard]] std::string fma32();
[[nodiscard]] std::string fma64();

/// `fill`(out, count): out[i] = a hash of i in [0, 1), single precision.
/// `mixed`(to, from, vectors, turns): reads 16 bytes, takes them as two oscillators on by turns *
/// kMixedUnroll steps and writes 16 bytes. Without turns a copy.
[[nodiscard]] std::string mixed();

/// `matrices`(out, a, b, c, turns): D = A B + turns * (A B + A C), for each of kAccumulators matrices of 16 x
/// 16 of each warp, stored one after the other. A row-major, B and C column-major; tf32 takes 16 x 8 and 8
/// x 16.
[[nodiscard]] std::string matrices(TensorFormat format);

/// `link`(table, mask): table[i] = successor of i. `chase`(table, at, turns): one thread follows the table
/// for turns * kChaseUnroll links from the place stored at `at`, where it stores the place it came to.
[[nodiscard]] std::string chase();

}  // namespace rubato::experiment::ptx
