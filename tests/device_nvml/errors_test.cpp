#include "device/nvml/errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rubato::device::nvml {
namespace {

using testing::HasSubstr;

TEST(NvmlErrors, KeepTheConstantsName) {
  const Error error = from_return(abi::kNoPermission, "GPU-1: cannot set the power limit to 150.0 W");
  EXPECT_EQ(error.code, ErrorCode::no_permission);
  EXPECT_EQ(error.what, "GPU-1: cannot set the power limit to 150.0 W: NVML_ERROR_NO_PERMISSION");
  EXPECT_THAT(error.hint, HasSubstr("rubato doctor"));
}

TEST(NvmlErrors, ANewerDriversCodeIsShownAsItsNumber) {
  EXPECT_EQ(name_of_return(77), "NVML error 77");
  EXPECT_EQ(error_code_of(77), ErrorCode::internal);
}

TEST(NvmlErrors, OnlyWhatAskingAgainCannotChangeIsUnsupported) {
  for (const auto code :
       {abi::kNotSupported, abi::kFunctionNotFound, abi::kInvalidArgument, abi::kDeprecated})
    EXPECT_TRUE(means_unsupported(code)) << code;
  for (const auto code : {abi::kSuccess, abi::kNoPermission, abi::kTimeout, abi::kGpuIsLost, abi::kUnknown})
    EXPECT_FALSE(means_unsupported(code)) << code;
}

TEST(NvmlErrors, EveryKnownFailureHasAHint) {
  for (abi::Return code = 1; code < 30; ++code) EXPECT_FALSE(from_return(code, "x").hint.empty()) << code;
}

}  // namespace
}  // namespace rubato::device::nvml
