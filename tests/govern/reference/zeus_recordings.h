// For tests: recordings of Zeus's power-limit optimizer on real boards, and what its own code decides when
// they are played back to it (zeus_decisions.tsv, made by tests/clients/zeus_decisions.py).
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "base/units.h"

namespace rubato::govern::zeus_test {

struct Window {
  Watts limit;
  Seconds time;   // of 40 training steps
  Joules energy;  // of all GPUs
};

struct Recording {
  std::string name;
  unsigned gpus = 0;
  std::vector<Window> windows;  // from the highest limit down, as it ran
};

/// The rules and their limits in W, by the column's name; "sweep" as text.
struct Decisions {
  std::vector<std::string> rules;
  std::map<std::string, std::map<std::string, std::string>> by_recording;
};

inline std::vector<std::string> cells(const std::string& line, char separator) {
  std::vector<std::string> out(1);
  for (const char c : line) {
    if (c == separator)
      out.emplace_back();
    else
      out.back() += c;
  }
  return out;
}

inline Recording read_recording(const std::filesystem::path& path) {
  Recording out{.name = path.stem().string(), .gpus = 0, .windows = {}};
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    const auto row = cells(line, ',');
    const std::string& window = row.at(1);
    Joules energy;
    for (std::size_t i = 3; i < row.size(); ++i) energy += Joules(std::stod(row[i]));
    out.gpus = static_cast<unsigned>(row.size() - 3);
    out.windows.push_back(
        {Watts(std::stod(window.substr(window.rfind('_') + 1))), Seconds(std::stod(row.at(2))), energy});
  }
  return out;
}

/// Nothing where the data is absent.
inline std::vector<Recording> recordings() {
  const char* data = std::getenv("RUBATO_TEST_DATA");
  if (data == nullptr) return {};
  const auto folder = std::filesystem::path(data) / "zeus-format" / "zeus-optimizer-recordings";
  std::vector<Recording> out;
  std::error_code absent;
  for (const auto& entry : std::filesystem::directory_iterator(folder, absent))
    if (entry.path().extension() == ".csv") out.push_back(read_recording(entry.path()));
  return out;
}

inline Decisions decisions() {
  const char* source = std::getenv("RUBATO_SOURCE_DIR");
  Decisions out;
  if (source == nullptr) return out;
  std::ifstream file(std::filesystem::path(source) / "tests/govern/reference/zeus_decisions.tsv");
  std::string line;
  std::getline(file, line);  // which Zeus, and what made it
  std::getline(file, line);
  const auto header = cells(line, '\t');
  out.rules.assign(header.begin() + 1, header.end() - 1);
  while (std::getline(file, line)) {
    const auto row = cells(line, '\t');
    for (std::size_t i = 1; i < row.size(); ++i) out.by_recording[row[0]][header.at(i)] = row[i];
  }
  return out;
}

}  // namespace rubato::govern::zeus_test
