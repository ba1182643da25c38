#include "device/nvml/abi.h"

#include <gtest/gtest.h>

#include <type_traits>

// Sizes stand beside the declarations; here are the places and the numbers a wrong guess would move silently.
namespace rubato::device::nvml::abi {
namespace {

TEST(NvmlAbi, FieldValuePlacesAreThoseOfTheReference) {
  EXPECT_EQ(offsetof(FieldValue, field), 0U);
  EXPECT_EQ(offsetof(FieldValue, scope), 4U);
  EXPECT_EQ(offsetof(FieldValue, timestamp_us), 8U);
  EXPECT_EQ(offsetof(FieldValue, latency_us), 16U);
  EXPECT_EQ(offsetof(FieldValue, type), 24U);
  EXPECT_EQ(offsetof(FieldValue, result), 28U);
}

TEST(NvmlAbi, ProcessRowsGrewAtTheirEnd) {
  EXPECT_EQ(offsetof(ProcessV1, used_memory), offsetof(Process, used_memory));
  EXPECT_EQ(offsetof(Process, compute_instance), 20U);
}

TEST(NvmlAbi, VersionedStructuresCarrySizeAndVersion) {
  EXPECT_EQ(kMemoryVersion2, 0x02000028U);
}

TEST(NvmlAbi, EverythingThatCrossesTheBorderIsPlainC) {
  EXPECT_TRUE(std::is_standard_layout_v<FieldValue> && std::is_trivial_v<FieldValue>);
  EXPECT_TRUE(std::is_standard_layout_v<PciInfo> && std::is_trivial_v<PciInfo>);
  EXPECT_TRUE(std::is_standard_layout_v<Process> && std::is_trivial_v<Process>);
}

}  // namespace
}  // namespace rubato::device::nvml::abi
