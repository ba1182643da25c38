// What a report says, before it is text or JSON: a tree of values that know their unit and why they are
// missing.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace rubato::report {

/// `digits` after the point in text; JSON has the whole number, and the unit in the key.
struct Amount {
  double number = 0.0;
  std::string unit;
  int digits = 1;
};

/// null in JSON, "-" and the reason in text; never zero.
struct Missing {
  std::string why;
};

class Value;
struct Member;
using Array = std::vector<Value>;

/// Keeps the order of its members.
class Object {
 public:
  Object();
  Object(std::initializer_list<Member> members);
  // All defined where Member is complete, as the vector needs it then.
  Object(const Object& other);
  Object(Object&& other) noexcept;
  Object& operator=(const Object& other);
  Object& operator=(Object&& other) noexcept;
  ~Object();
  void set(std::string key, Value value);
  [[nodiscard]] const std::vector<Member>& members() const { return members_; }
  [[nodiscard]] const Value* find(std::string_view key) const;

 private:
  std::vector<Member> members_;
};

class Value {
 public:
  using Content = std::variant<Missing, bool, std::int64_t, Amount, std::string, Array, Object>;

  Value() : content_(Missing{}) {}
  // Implicit, so that a tree stands in the code as it is printed. NOLINTBEGIN(google-explicit-constructor)
  Value(Missing missing) : content_(std::move(missing)) {}
  Value(bool truth) : content_(truth) {}
  template <std::integral Integer>
  requires(!std::same_as<Integer, bool>) Value(Integer number)
      : content_(static_cast<std::int64_t>(number)) {}
  /// A number that is not finite is missing.
  Value(Amount amount);
  Value(std::string text) : content_(std::move(text)) {}
  Value(std::string_view text) : content_(std::string(text)) {}
  Value(const char* text) : content_(std::string(text)) {}
  Value(Array items) : content_(std::move(items)) {}
  Value(Object members) : content_(std::move(members)) {}
  // NOLINTEND(google-explicit-constructor)

  [[nodiscard]] const Content& content() const { return content_; }
  template <class T>
  [[nodiscard]] const T* as() const {
    return std::get_if<T>(&content_);
  }

 private:
  Content content_;
};

struct Member {
  std::string key;
  Value value;
};

}  // namespace rubato::report
