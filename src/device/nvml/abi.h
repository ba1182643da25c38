// What of NVML's C interface rubato uses, written down anew from the NVML API reference
// (docs.nvidia.com/deploy/ nvml-api): numbers, layouts and signatures, so that building needs no CUDA. Shared
// with the stand-in in simgpu/.
#pragma once

#include <cstddef>

namespace rubato::device::nvml::abi {

using Return = int;  // an enum in C; kept open because newer drivers return newer codes
inline constexpr Return kSuccess = 0;
inline constexpr Return kUninitialized = 1;
inline constexpr Return kInvalidArgument = 2;
inline constexpr Return kNotSupported = 3;
inline constexpr Return kNoPermission = 4;
inline constexpr Return kNotFound = 6;
inline constexpr Return kInsufficientSize = 7;
inline constexpr Return kInsufficientPower = 8;
inline constexpr Return kDriverNotLoaded = 9;
inline constexpr Return kTimeout = 10;
inline constexpr Return kIrqIssue = 11;
inline constexpr Return kLibraryNotFound = 12;
inline constexpr Return kFunctionNotFound = 13;
inline constexpr Return kCorruptedInforom = 14;
inline constexpr Return kGpuIsLost = 15;
inline constexpr Return kResetRequired = 16;
inline constexpr Return kOperatingSystem = 17;
inline constexpr Return kLibRmVersionMismatch = 18;
inline constexpr Return kInUse = 19;
inline constexpr Return kMemory = 20;
inline constexpr Return kNoData = 21;
inline constexpr Return kInsufficientResources = 23;
inline constexpr Return kFreqNotSupported = 24;
inline constexpr Return kArgumentVersionMismatch = 25;
inline constexpr Return kDeprecated = 26;
inline constexpr Return kNotReady = 27;
inline constexpr Return kGpuNotFound = 28;
inline constexpr Return kInvalidState = 29;
inline constexpr Return kUnknown = 999;

using Device = struct DeviceHandle*;        // opaque: a GPU
using EventSet = struct EventSetHandle*;    // opaque
using GpmSample = struct GpmSampleHandle*;  // opaque: the GPU's performance monitors at one moment

inline constexpr unsigned kUuidSize = 96;
inline constexpr unsigned kNameSize = 96;
inline constexpr unsigned kVersionSize = 80;
inline constexpr unsigned long long kValueNotAvailable = ~0ULL;

inline constexpr unsigned kArchKepler = 2;
inline constexpr unsigned kArchMaxwell = 3;
inline constexpr unsigned kArchPascal = 4;
inline constexpr unsigned kArchVolta = 5;
inline constexpr unsigned kArchTuring = 6;
inline constexpr unsigned kArchAmpere = 7;
inline constexpr unsigned kArchAda = 8;
inline constexpr unsigned kArchHopper = 9;
inline constexpr unsigned kArchBlackwell = 10;
inline constexpr unsigned kArchUnknown = 0xffffffffU;

inline constexpr int kClockGraphics = 0;
inline constexpr int kClockSm = 1;
inline constexpr int kClockMemory = 2;
inline constexpr int kClockVideo = 3;
inline constexpr int kClockIdCurrent = 0;
inline constexpr int kClockIdApplicationTarget = 1;
inline constexpr int kClockIdApplicationDefault = 2;
inline constexpr int kClockIdBoostMax = 3;

inline constexpr int kTemperatureGpu = 0;
inline constexpr int kVirtualizationVgpu = 2;      // this system is the guest
inline constexpr int kVirtualizationHostVgpu = 3;  // this system's GPU is shared among guests
inline constexpr int kVirtualizationHostVsga = 4;
inline constexpr unsigned kPerformanceStateUnknown = 32;
inline constexpr int kPerfPolicyPower = 0;
inline constexpr int kPerfPolicyThermal = 1;

inline constexpr unsigned kFieldTimePowerCap = 74;  // ns held back since the driver was loaded
inline constexpr unsigned kFieldTotalEnergy = 83;   // mJ since the driver was loaded
inline constexpr unsigned kFieldPowerAverage = 185;
inline constexpr unsigned kFieldPowerInstant = 186;
inline constexpr unsigned kFieldPowerMinLimit = 187;
inline constexpr unsigned kFieldPowerMaxLimit = 188;
inline constexpr unsigned kFieldPowerDefaultLimit = 189;
inline constexpr unsigned kFieldPowerCurrentLimit = 190;  // enforced
inline constexpr unsigned kFieldEnergy = 191;             // same as 83, with scopes
inline constexpr unsigned kFieldPowerRequestedLimit = 192;
// In ns, and with these numbers from driver 580.82 on only: 570 to 580.65 give them to other values (see
// driver_version.h).
inline constexpr unsigned kFieldTimeSwThermal = 269;
inline constexpr unsigned kFieldTimeHwThermal = 270;
inline constexpr unsigned kFieldTimePowerBrake = 271;

// Of the GPU performance monitors (GPM, Hopper and newer): percent of the most possible, or MiB/s.
inline constexpr unsigned kGpmSmActive = 2;
inline constexpr unsigned kGpmSmOccupancy = 3;
inline constexpr unsigned kGpmInteger = 4;
inline constexpr unsigned kGpmTensor = 5;  // of any type
inline constexpr unsigned kGpmDram = 10;
inline constexpr unsigned kGpmFp64 = 11;
inline constexpr unsigned kGpmFp32 = 12;
inline constexpr unsigned kGpmFp16 = 13;
inline constexpr unsigned kGpmPcieTx = 20;  // from the GPU
inline constexpr unsigned kGpmPcieRx = 21;
inline constexpr unsigned kGpmNvlinkRx = 60;  // all links
inline constexpr unsigned kGpmNvlinkTx = 61;

// FieldValue::scope of the power and energy fields.
inline constexpr unsigned kScopeGpu = 0;
inline constexpr unsigned kScopeModule = 1;  // GPU, CPU and their memory, on superchips
inline constexpr unsigned kScopeMemory = 2;

inline constexpr unsigned long long kReasonIdle = 0x1;
inline constexpr unsigned long long kReasonUserClocks = 0x2;
inline constexpr unsigned long long kReasonSwPowerCap = 0x4;
inline constexpr unsigned long long kReasonHwSlowdown = 0x8;
inline constexpr unsigned long long kReasonSyncBoost = 0x10;
inline constexpr unsigned long long kReasonSwThermal = 0x20;
inline constexpr unsigned long long kReasonHwThermal = 0x40;
inline constexpr unsigned long long kReasonHwPowerBrake = 0x80;
inline constexpr unsigned long long kReasonDisplay = 0x100;

enum class ValueType : int {
  real = 0,
  unsigned_int = 1,
  unsigned_long = 2,
  unsigned_long_long = 3,
  signed_long_long = 4,
  signed_int = 5,
  unsigned_short = 6,
};

union Value {
  double real;
  int signed_int;
  unsigned int unsigned_int;
  unsigned long unsigned_long;
  unsigned long long unsigned_long_long;
  long long signed_long_long;
  unsigned short unsigned_short;
};
static_assert(sizeof(Value) == 8);

struct FieldValue {
  unsigned int field;
  unsigned int scope;
  long long timestamp_us;  // since 1970
  long long latency_us;
  ValueType type;
  Return result;  // of this field alone
  Value value;
};
static_assert(sizeof(FieldValue) == 40 && offsetof(FieldValue, value) == 32);

struct PciInfo {
  char bus_id_legacy[16];
  unsigned int domain;
  unsigned int bus;
  unsigned int device;
  unsigned int pci_device_id;
  unsigned int pci_subsystem_id;
  char bus_id[32];
};
static_assert(sizeof(PciInfo) == 68 && offsetof(PciInfo, bus_id) == 36);

struct Utilization {
  unsigned int gpu;  // percent of time
  unsigned int memory;
};
static_assert(sizeof(Utilization) == 8);

struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};
static_assert(sizeof(Memory) == 24);

struct MemoryV2 {
  unsigned int version;
  unsigned long long total;
  unsigned long long reserved;
  unsigned long long free;
  unsigned long long used;
};
static_assert(sizeof(MemoryV2) == 40);
inline constexpr unsigned kMemoryVersion2 = sizeof(MemoryV2) | (2U << 24U);

struct ProcessV1 {
  unsigned int pid;
  unsigned long long used_memory;
};
static_assert(sizeof(ProcessV1) == 16);

/// Of the _v2 and the _v3 call.
struct Process {
  unsigned int pid;
  unsigned long long used_memory;
  unsigned int gpu_instance;
  unsigned int compute_instance;
};
static_assert(sizeof(Process) == 24 && offsetof(Process, gpu_instance) == 16);

struct ViolationTime {
  unsigned long long reference_us;
  unsigned long long violation_ns;
};
static_assert(sizeof(ViolationTime) == 16);

struct TemperatureV1 {
  unsigned int version;
  int sensor;
  int celsius;
};
static_assert(sizeof(TemperatureV1) == 12);
inline constexpr unsigned kTemperatureVersion1 = sizeof(TemperatureV1) | (1U << 24U);

struct PowerValueV2 {
  unsigned int version;
  unsigned char scope;
  unsigned int milliwatts;
};
static_assert(sizeof(PowerValueV2) == 12);
inline constexpr unsigned kPowerValueVersion2 = sizeof(PowerValueV2) | (2U << 24U);
inline constexpr unsigned char kPowerScopeGpu = 0;

struct GpmMetric {
  unsigned int id;
  Return result;  // of this metric alone
  double value;
  const char* short_name;
  const char* long_name;
  const char* unit;
};
static_assert(sizeof(GpmMetric) == 40 && offsetof(GpmMetric, value) == 8);

/// The array grew with every release (98, 210, 333, 477 so far) and the version stayed, so a driver can look
/// only at the first `count`; ours is longer than any, lest one clears what it knows.
inline constexpr std::size_t kGpmMetricRoom = 512;
struct GpmMetricsGet {
  unsigned int version;
  unsigned int count;
  GpmSample earlier;
  GpmSample later;
  GpmMetric metrics[kGpmMetricRoom];
};
static_assert(offsetof(GpmMetricsGet, metrics) == 24);
inline constexpr unsigned kGpmMetricsGetVersion = 1;

struct GpmSupport {
  unsigned int version;
  unsigned int supported;
};
static_assert(sizeof(GpmSupport) == 8);
inline constexpr unsigned kGpmSupportVersion = 1;

// Signatures by shape; the table of names in library.h says which function has which.
using Plain = Return();
using InitFlags = Return(unsigned int flags);
using ErrorText = const char*(Return);
using GetText = Return(char* text, unsigned int size);
using GetNumber = Return(unsigned int* number);
using GetInt = Return(int* number);
using HandleByIndex = Return(unsigned int index, Device* device);
using HandleByName = Return(const char* name, Device* device);
using DeviceText = Return(Device device, char* text, unsigned int size);
using DeviceNumber = Return(Device device, unsigned int* number);
using DeviceInt = Return(Device device, int* number);
using DeviceTwoNumbers = Return(Device device, unsigned int* first, unsigned int* second);
using DeviceTwoInts = Return(Device device, int* first, int* second);
using DeviceLong = Return(Device device, unsigned long long* number);
using DevicePci = Return(Device device, PciInfo* pci);
using DeviceFields = Return(Device device, int count, FieldValue* values);
using DeviceKindNumber = Return(Device device, int kind, unsigned int* number);
using DeviceClock = Return(Device device, int clock, int id, unsigned int* mhz);
using DeviceMemoryClocks = Return(Device device, unsigned int* count, unsigned int* mhz);
using DeviceGraphicsClocks = Return(Device device, unsigned int memory_mhz, unsigned int* count,
                                    unsigned int* mhz);
using DeviceViolation = Return(Device device, int policy, ViolationTime* time);
using DeviceTemperature = Return(Device device, TemperatureV1* temperature);
using DeviceUtilization = Return(Device device, Utilization* utilization);
using DeviceMemory = Return(Device device, Memory* memory);
using DeviceMemoryV2 = Return(Device device, MemoryV2* memory);
using DeviceProcesses = Return(Device device, unsigned int* count, Process* processes);
using DeviceProcessesV1 = Return(Device device, unsigned int* count, ProcessV1* processes);
using SetNumber = Return(Device device, unsigned int number);
using SetTwoNumbers = Return(Device device, unsigned int first, unsigned int second);
using SetPowerValue = Return(Device device, PowerValueV2* value);
using DeviceReset = Return(Device device);
using MakeEventSet = Return(EventSet* set);
using FreeEventSet = Return(EventSet set);
using GpmQuery = Return(Device device, GpmSupport* support);
using GpmAlloc = Return(GpmSample* sample);
using GpmFree = Return(GpmSample sample);
using GpmTake = Return(Device device, GpmSample sample);
using GpmMetrics = Return(GpmMetricsGet* metrics);

// What only the stand-in exports, so that no simulated number can pass for a measured one.
using SimulatedClock = int(double* rate, long long* origin_ns);  // 0 on success
using SimulatedOutlivesJob = int();                              // 0 or 1
using SimulatedWorld = const char*();                            // path of the world's file
using SimulatedRights = int();                                   // one of the three below
inline constexpr int kSimulatedRightsNone = 0;
inline constexpr int kSimulatedRightsOwner = 1;
inline constexpr int kSimulatedRightsCapSysAdmin = 2;

}  // namespace rubato::device::nvml::abi
