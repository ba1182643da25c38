// docs/simulated-gpu.md is what the simulator gives now. To renew it:
//   build/release/bin/rubato-sim-facts --data ../shared/data > docs/simulated-gpu.md
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "generated_page.h"

namespace {

using rubato::environment;
using rubato::output_of;

std::string whole(const std::filesystem::path& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

std::string without_tables(const std::string& page) {
  return page.substr(0, page.find("\n## Tables\n"));
}

TEST(SimulatedGpuPage, IsWhatTheSimulatorGivesNow) {
  const std::string source = environment("RUBATO_SOURCE_DIR");
  const std::string data = environment("RUBATO_TEST_DATA");
  if (source.empty()) GTEST_SKIP() << "run by ctest, which says where the sources are";
  const std::string committed = whole(source + "/docs/simulated-gpu.md");
  const bool measured = std::filesystem::exists(data + "/tables");
  const std::string made =
      output_of(std::string(RUBATO_SIM_FACTS) + (measured ? " --data '" + data + "'" : std::string()));
  EXPECT_NE(committed.find("\n## Tables\n"), std::string::npos);
  EXPECT_EQ(measured ? committed : without_tables(committed), made)
      << "renew it: rubato-sim-facts --data ../shared/data > docs/simulated-gpu.md";
}

}  // namespace
