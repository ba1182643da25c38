// The CUDA driver calls that are used here, as cuda.h of the toolkit declares them (stable since CUDA 4; the
// _v2 names since 3.2).
#pragma once

#include <cstddef>

namespace rubato::experiment::cuda_abi {

using Device = int;
using Address = unsigned long long;
struct Uuid {
  unsigned char bytes[16];
};

inline constexpr int kSuccess = 0;
inline constexpr int kErrorOutOfMemory = 2;
inline constexpr int kErrorNoDevice = 100;
inline constexpr unsigned kScheduleBlockingSync =
    4;  // a waiting host thread sleeps: its watts are not the GPU's
inline constexpr unsigned kEventBlockingSync = 1;
inline constexpr unsigned kEventDisableTiming = 2;

enum Attribute : int {
  kSmCount = 16,
  kClockRateKhz = 13,
  kMemoryClockRateKhz = 36,
  kMemoryBusBits = 37,
  kComputeMajor = 75,
  kComputeMinor = 76,
};
enum JitOption : int { kJitErrorLog = 5, kJitErrorLogBytes = 6 };

using Init = int(unsigned);
using DriverVersion = int(int*);
using DeviceCount = int(int*);
using DeviceGet = int(Device*, int);
using DeviceUuid = int(Uuid*, Device);
using DeviceName = int(char*, int, Device);
using DeviceAttribute = int(int*, int, Device);
using ContextFlags = int(Device, unsigned);
using ContextRetain = int(void**, Device);
using ContextRelease = int(Device);
using ContextCurrent = int(void*);
using ModuleLoad = int(void**, const void*, unsigned, int*, void**);
using ModuleFunction = int(void**, void*, const char*);
using ModuleUnload = int(void*);
using Allocate = int(Address*, std::size_t);
using Free = int(Address);
using CopyToDevice = int(Address, const void*, std::size_t);
using CopyToHost = int(void*, Address, std::size_t);
using Launch = int(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                   void**);
using EventCreate = int(void**, unsigned);
using EventDestroy = int(void*);
using EventRecord = int(void*, void*);
using EventSynchronize = int(void*);
using ErrorText = int(int, const char**);

}  // namespace rubato::experiment::cuda_abi
