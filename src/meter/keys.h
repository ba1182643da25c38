// One table of meters.toml as its kind of meter reads it: typed values, and an error that names file, table,
// key and what was expected for everything else. A table belongs to a kind by its key `kind`.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "meter/meter.h"

namespace rubato::meter {

/// The table `name`, which must say kind = "KIND". Errors: not_found naming the tables of that kind and the
/// file; invalid_argument where it is another kind's.
[[nodiscard]] Result<const MeterTable*> table_for(std::string_view kind, std::string_view name,
                                                  const Surroundings& around);
/// Every table of this kind, for find().
[[nodiscard]] std::vector<const MeterTable*> tables_of(std::string_view kind, const Surroundings& around);

/// Reads the values of one table. Every error is invalid_argument and complete: it can be handed to the user.
class Keys {
 public:
  explicit Keys(const MeterTable& table) : table_(table) {}

  /// An error where the table holds any other key; `kind` is always known.
  [[nodiscard]] Status only(std::initializer_list<std::string_view> known) const;

  [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }
  /// Must be there and not be empty.
  [[nodiscard]] Result<std::string> text(std::string_view key) const;
  [[nodiscard]] std::string text(std::string_view key, std::string_view otherwise) const;
  /// Must be there; finite and within [low, high].
  [[nodiscard]] Result<double> number(std::string_view key,
                                      double low = std::numeric_limits<double>::lowest(),
                                      double high = std::numeric_limits<double>::max()) const;
  [[nodiscard]] Result<double> number_or(std::string_view key, double otherwise,
                                         double low = std::numeric_limits<double>::lowest(),
                                         double high = std::numeric_limits<double>::max()) const;
  [[nodiscard]] Result<std::int64_t> integer(std::string_view key, std::int64_t low, std::int64_t high) const;
  [[nodiscard]] Result<std::int64_t> integer_or(std::string_view key, std::int64_t otherwise,
                                                std::int64_t low, std::int64_t high) const;
  /// `true` or `false`.
  [[nodiscard]] Result<bool> flag_or(std::string_view key, bool otherwise) const;
  [[nodiscard]] Result<std::string> one_of(std::string_view key,
                                           std::initializer_list<std::string_view> choices,
                                           std::string_view otherwise) const;
  /// "node", "rail", … as name_of(Scope) prints them.
  [[nodiscard]] Result<Scope> scope_or(std::string_view key, Scope otherwise) const;

  /// An error about this key, for checks of the kind's own: "meters.toml, [rack], oid: found 'x', needed …".
  [[nodiscard]] Error wrong(std::string_view key, std::string_view needed, std::string_view hint = {}) const;

 private:
  [[nodiscard]] const std::string* find(std::string_view key) const;
  [[nodiscard]] std::string where() const;

  const MeterTable& table_;
};

/// Values that are never shown and need a private file: keys that end in password, secret, community or
/// token.
[[nodiscard]] bool is_secret(std::string_view key);

}  // namespace rubato::meter
