// Exact outputs kept as files. RUBATO_UPDATE_GOLDEN=1 writes them anew; read the difference before you keep
// it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace rubato::cli::testing_data {

inline void expect_golden(const std::string& text, const std::string& name,
                          const std::string& room = "cli_report") {
  const char* source = std::getenv("RUBATO_SOURCE_DIR");
  ASSERT_NE(source, nullptr) << "RUBATO_SOURCE_DIR names the checkout: run this through ctest";
  const auto file = std::filesystem::path(source) / "tests" / room / "golden" / name;
  if (std::getenv("RUBATO_UPDATE_GOLDEN") != nullptr) std::ofstream(file, std::ios::binary) << text;
  std::ifstream in(file, std::ios::binary);
  ASSERT_TRUE(in) << file;
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), text) << file;
}

}  // namespace rubato::cli::testing_data
