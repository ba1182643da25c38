// A CUDA driver library without a GPU: kernels are known by name and computed on the host, one thread after
// another, independently of the product's own expectations. FAKE_CUDA_FAULT makes it misbehave: "wrong"
// (results are off by a bit), "old" (refuses PTX), "full" (no memory), "none" (no device).
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Address = unsigned long long;

constexpr std::string_view kTooNew = "ptxas fatal: too new for me\n";

bool faulty(std::string_view which) {
  const char* fault = std::getenv("FAKE_CUDA_FAULT");
  return fault != nullptr && which == fault;
}

struct Function {
  std::string name;
  bool doubles = false;
  unsigned tensor_bits = 16;
  bool bfloat = false;
};
struct Module {
  std::string text;
  std::vector<std::unique_ptr<Function>> functions{};  // their handles live as long as the module
};

template <class T>
T argument(void** arguments, int i) {
  T value;
  std::memcpy(&value, arguments[i], sizeof value);
  return value;
}

template <class T>
T* memory(Address address) {
  // The driver's addresses are numbers.
  return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr)
}

template <class Real>
void oscillate(Real* out, unsigned threads, unsigned turns) {
  const Real k = static_cast<Real>(0.7);
  for (unsigned thread = 0; thread < threads; ++thread) {
    if (thread > 4096 && thread + 4096 < threads) continue;  // the middle nobody looks at
    for (unsigned lane = 0; lane < 4; ++lane) {
      const Real start = static_cast<Real>(thread % 64 + 1) / 128;
      Real x = start + static_cast<Real>(lane) / 128;
      Real v = start;
      for (unsigned step = 0; step < turns * 8; ++step) {
        v = std::fma(-k, x, v);
        x = std::fma(k, v, x);
      }
      out[4 * std::size_t{thread} + lane] = x;
    }
  }
}

void fill(float* out, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    // Only what is looked at: the host is slow.
    if (i > 64 && i + 64 < count && (i < count / 2 - 64 || i > count / 2 + 64)) continue;
    const std::uint32_t mixed = (i * 2654435761U) / 256U;
    out[i] = std::ldexp(static_cast<float>(mixed), -24);
  }
}

void mixed(float* to, const float* from, std::uint32_t vectors, unsigned turns) {
  const auto one = [&](std::uint32_t i) {
    float x[2] = {from[4 * std::size_t{i}], from[4 * std::size_t{i} + 1]};
    float v[2] = {from[4 * std::size_t{i} + 2], from[4 * std::size_t{i} + 3]};
    for (unsigned step = 0; step < turns * 6; ++step)
      for (int lane = 0; lane < 2; ++lane) {
        v[lane] = std::fma(-0.7F, x[lane], v[lane]);
        x[lane] = std::fma(0.7F, v[lane], x[lane]);
      }
    for (unsigned lane = 0; lane < 2; ++lane) {
      to[4 * std::size_t{i} + lane] = x[lane];
      to[4 * std::size_t{i} + 2 + lane] = v[lane];
    }
  };
  for (std::uint32_t i = 0; i < 16; ++i) one(i);
  for (std::uint32_t i = vectors / 2 - 8; i < vectors / 2 + 8; ++i) one(i);
  for (std::uint32_t i = vectors - 8; i < vectors; ++i) one(i);
}

float half(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(bits & 1023), -24)
                                        : std::ldexp(static_cast<float>((bits & 1023) | 1024), exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

float element(const Function& f, Address at, unsigned i) {
  if (f.tensor_bits == 32) return memory<float>(at)[i];
  const std::uint16_t bits = memory<std::uint16_t>(at)[i];
  return f.bfloat ? std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16) : half(bits);
}

void matrices(const Function& f, unsigned threads, void** arguments) {
  auto* out = memory<float>(argument<Address>(arguments, 0));
  const unsigned depth = f.tensor_bits == 32 ? 8 : 16;
  const auto turns = argument<unsigned>(arguments, 4);
  std::vector<float> d(256, 0.0F);
  const auto add = [&](int by) {
    for (unsigned row = 0; row < 16; ++row)
      for (unsigned column = 0; column < 16; ++column)
        for (unsigned k = 0; k < depth; ++k)  // row-major by column-major, in single precision
          d[row * 16 + column] += element(f, argument<Address>(arguments, 1), row * depth + k) *
                                  element(f, argument<Address>(arguments, by), column * depth + k);
  };
  add(2);
  for (unsigned i = 0; i < turns; ++i) {
    add(2);
    add(3);
  }
  for (std::size_t matrix = 0; matrix < std::size_t{threads} / 32 * 4; ++matrix)
    std::memcpy(out + matrix * 256, d.data(), 256 * sizeof(float));
}

void run(const Function& f, unsigned threads, void** arguments) {
  if (f.name == "oscillate") {
    const auto out = argument<Address>(arguments, 0);
    const auto turns = argument<unsigned>(arguments, 1);
    f.doubles ? oscillate(memory<double>(out), threads, turns)
              : oscillate(memory<float>(out), threads, turns);
    if (faulty("wrong")) memory<unsigned char>(out)[0] ^= 1U;
  } else if (f.name == "fill") {
    fill(memory<float>(argument<Address>(arguments, 0)), argument<std::uint32_t>(arguments, 1));
  } else if (f.name == "mixed") {
    const auto to = argument<Address>(arguments, 0);
    mixed(memory<float>(to), memory<float>(argument<Address>(arguments, 1)),
          argument<std::uint32_t>(arguments, 2), argument<unsigned>(arguments, 3));
    if (faulty("wrong")) memory<unsigned char>(to)[0] ^= 1U;
  } else if (f.name == "matrices") {
    matrices(f, threads, arguments);
    if (faulty("wrong")) memory<float>(argument<Address>(arguments, 0))[0] += 1;
  } else if (f.name == "link") {
    auto* table = memory<std::uint32_t>(argument<Address>(arguments, 0));
    const auto mask = argument<std::uint32_t>(arguments, 1);
    for (std::uint32_t i = 0; i <= mask; ++i) table[i] = (i * 1664525U + 1013904223U) & mask;
  } else if (f.name == "chase") {
    const auto* table = memory<std::uint32_t>(argument<Address>(arguments, 0));
    auto* at = memory<std::uint32_t>(argument<Address>(arguments, 1));
    for (unsigned i = 0; i < argument<unsigned>(arguments, 2) * 8; ++i) *at = table[*at];
    if (faulty("wrong")) *at ^= 1U;
  }
}

}  // namespace

#pragma GCC visibility push(default)
// NOLINTBEGIN(readability-identifier-naming): the driver's own names
extern "C" {

int cuInit(unsigned) {
  return faulty("none") ? 100 : 0;
}
int cuDriverGetVersion(int* version) {
  *version = 12020;
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = 2;
  return 0;
}
int cuDeviceGet(int* device, int i) {
  *device = i;
  return 0;
}
int cuDeviceGetUuid(unsigned char* uuid, int device) {
  for (unsigned i = 0; i < 16; ++i)
    uuid[i] = static_cast<unsigned char>(16U * static_cast<unsigned>(device) + i);
  return 0;
}
int cuDeviceGetName(char* name, int size, int) {
  std::strncpy(name, "Host that plays a GPU", static_cast<std::size_t>(size));
  return 0;
}
int cuDeviceGetAttribute(int* value, int which, int device) {
  switch (which) {
    case 16:
      *value = 2;
      return 0;  // SMs
    case 13:
      *value = 1000;
      return 0;  // kHz: one MHz, so that a unit is one launch
    case 36:
      *value = 1;
      return 0;  // kHz
    case 37:
      *value = 8;
      return 0;  // bits
    case 75:
      *value = device == 0 ? 8 : 7;
      return 0;  // compute capability
    case 76:
      *value = 0;
      return 0;
    default:
      return 1;
  }
}
int cuDevicePrimaryCtxSetFlags(int, unsigned) {
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  static int one;
  *context = &one;
  return 0;
}
int cuDevicePrimaryCtxRelease(int) {
  return 0;
}
int cuCtxSetCurrent(void*) {
  return 0;
}
int cuModuleLoadDataEx(void** module, const void* text, unsigned count, int* options, void** values) {
  if (faulty("old")) {
    for (unsigned i = 0; i < count; ++i)
      if (options[i] == 5) std::memcpy(values[i], kTooNew.data(), kTooNew.size() + 1);
    return 218;
  }
  *module = new Module{static_cast<const char*>(text)};
  return 0;
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
  auto& [text, functions] = *static_cast<Module*>(module);
  if (text.find(std::string(".entry ") + name + "(") == std::string::npos) return 500;
  auto made = std::make_unique<Function>(Function{.name = name});
  made->doubles = text.find("fma.rn.f64") != std::string::npos;
  if (text.find(".tf32.") != std::string::npos) made->tensor_bits = 32;
  made->bfloat = text.find(".bf16.") != std::string::npos;
  *function = made.get();
  functions.push_back(std::move(made));
  return 0;
}
int cuModuleUnload(void* module) {
  delete static_cast<Module*>(module);
  return 0;
}
int cuMemAlloc_v2(Address* address, std::size_t bytes) {
  if (faulty("full")) return 2;
  *address = reinterpret_cast<Address>(std::calloc(bytes, 1));
  return 0;
}
int cuMemFree_v2(Address address) {
  std::free(memory<void>(address));
  return 0;
}
int cuMemcpyHtoD_v2(Address to, const void* from, std::size_t bytes) {
  std::memcpy(memory<char>(to), from, bytes);
  return 0;
}
int cuMemcpyDtoH_v2(void* to, Address from, std::size_t bytes) {
  std::memcpy(to, memory<char>(from), bytes);
  return 0;
}
int cuLaunchKernel(void* function, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned, unsigned,
                   unsigned, void*, void** arguments, void**) {
  run(*static_cast<Function*>(function), blocks * threads, arguments);
  return 0;
}
int cuEventCreate(void** event, unsigned) {
  static int one;
  *event = &one;
  return 0;
}
int cuEventDestroy_v2(void*) {
  return 0;
}
int cuEventRecord(void*, void*) {
  return 0;
}
int cuEventSynchronize(void*) {
  return 0;
}
int cuGetErrorName(int code, const char** text) {
  *text = code == 100   ? "CUDA_ERROR_NO_DEVICE"
          : code == 218 ? "CUDA_ERROR_INVALID_PTX"
          : code == 2   ? "CUDA_ERROR_OUT_OF_MEMORY"
                        : "CUDA_ERROR_UNKNOWN";
  return 0;
}
int cuGetErrorString(int, const char** text) {
  *text = "as the fake says";
  return 0;
}
}
// NOLINTEND(readability-identifier-naming)
