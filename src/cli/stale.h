// What dead runs left behind: where to look, and putting it back at the start of every command that opens a
// GPU.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/restoration.h"

namespace rubato::cli {

/// Every folder that may hold journals this user can do something about.
[[nodiscard]] std::vector<std::filesystem::path> journal_folders();

/// Where there are journals without an owner, a guard process puts them back and the outcome is said on the
/// terminal. Costs two directory listings where there are none. Before any driver call of this process.
void put_back_stale(std::string_view gpu_list);

/// "GPU-…: restored: 200 W", as a line for a person.
[[nodiscard]] std::string describe(const RestorationReport& report);

}  // namespace rubato::cli
