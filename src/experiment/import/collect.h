// What every format's reader works with: the table so far, and where each row came from.
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "base/result.h"
#include "core/sweep_table.h"
#include "experiment/import/formats.h"

namespace rubato::experiment {

class Collect {
 public:
  /// invalid_argument: the setting stands there already, with both places.
  [[nodiscard]] Status add(SweepRow row, const std::string& file, std::size_t line);
  void comment(std::string text) { table_.comments.push_back(std::move(text)); }
  /// Counters that some row lacks teach nothing of the others: they are left out, and named in a comment.
  void keep_common_features();
  [[nodiscard]] Result<SweepTable> finish() &&;

 private:
  using Key = std::tuple<std::string, std::string, std::optional<Watts>, std::optional<Megahertz>,
                         std::optional<Megahertz>>;
  std::map<Key, std::string> places_;
  SweepTable table_;
};

/// "FILE, line 3"
[[nodiscard]] std::string place(const std::string& file, std::size_t line);
/// The file's own name without folder and extension.
[[nodiscard]] std::string stem(const std::string& file);

/// A limit no board has is a limit in another unit.
[[nodiscard]] Result<Watts> plausible_limit(double watts, const std::string& file, std::size_t line);

using ReadFormat = Status (*)(const ForeignFile& file, const ImportWishes& wishes, Collect& into);

[[nodiscard]] Status read_zeus_power(const ForeignFile& file, const ImportWishes& wishes, Collect& into);
[[nodiscard]] Status read_zeus_optimizer(const ForeignFile& file, const ImportWishes& wishes, Collect& into);
[[nodiscard]] Status read_zeus_monitor(const ForeignFile& file, const ImportWishes& wishes, Collect& into);
[[nodiscard]] Status read_zeus_profile(const ForeignFile& file, const ImportWishes& wishes, Collect& into);
[[nodiscard]] Status read_rubato_sweep(const ForeignFile& file, const ImportWishes& wishes, Collect& into);
[[nodiscard]] Status read_perseus(const ForeignFile& file, const ImportWishes& wishes, Collect& into);

}  // namespace rubato::experiment
