#include "report/value.h"

#include <cmath>

namespace rubato::report {

Object::Object() = default;
Object::Object(std::initializer_list<Member> members) : members_(members) {}
Object::Object(const Object& other) = default;
Object::Object(Object&& other) noexcept = default;
Object& Object::operator=(const Object& other) = default;
Object& Object::operator=(Object&& other) noexcept = default;
Object::~Object() = default;

void Object::set(std::string key, Value value) {
  for (Member& member : members_)
    if (member.key == key) {
      member.value = std::move(value);
      return;
    }
  members_.push_back({std::move(key), std::move(value)});
}

const Value* Object::find(std::string_view key) const {
  for (const Member& member : members_)
    if (member.key == key) return &member.value;
  return nullptr;
}

Value::Value(Amount amount) {
  if (std::isfinite(amount.number))
    content_ = std::move(amount);
  else
    content_ = Missing{"not a finite number"};
}

}  // namespace rubato::report
