// A folder that stands for the root of a file system, with the fake /sys and /dev that meters read.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/fs_root.h"

namespace rubato::meter::testing {

class Tree {
 public:
  Tree() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rubato-meter-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    folder_ = pattern;
  }
  ~Tree() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  [[nodiscard]] FsRoot root() const { return FsRoot(folder_); }
  [[nodiscard]] std::filesystem::path path(std::string_view absolute) const { return root().path(absolute); }
  std::filesystem::path write(std::string_view absolute, std::string_view text) const {
    const auto file = path(absolute);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
    return file;
  }
  void remove(std::string_view absolute) const { std::filesystem::remove_all(path(absolute)); }
  void link(std::string_view absolute, const std::filesystem::path& target) const {
    const auto file = path(absolute);
    std::filesystem::create_directories(file.parent_path());
    std::filesystem::remove(file);
    std::filesystem::create_symlink(target, file);
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace rubato::meter::testing
