// One conversation with an SNMP agent through net-snmp's single-session API. Nothing of the machine's own
// net-snmp set-up (snmp.conf, MIB files, saved state) is read or written.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "meter/snmp/oid.h"
#include "meter/snmp/target.h"

namespace rubato::meter::snmp {

enum class ValueType { missing, integer, gauge32, counter32, counter64, real, text };

[[nodiscard]] std::string_view name_of(ValueType type);

struct Value {
  ValueType type = ValueType::missing;
  std::int64_t whole = 0;  // integer, gauge32, counter32, counter64
  double real = 0;
  std::string text;
};

class Session {
 public:
  /// `where` is numeric; `name` is what messages call the agent. v3 asks the agent for its engine's identity
  /// here.
  [[nodiscard]] static Result<Session> open(const Endpoint& where, const std::string& name,
                                            const Login& login);
  /// All objects in one request; the answers in the same order, `missing` where the agent has no such object.
  [[nodiscard]] Result<std::vector<Value>> get(const std::vector<Oid>& oids);

 private:
  struct Close {
    void operator()(void* session) const;
  };
  Session(void* session, std::string name, Version version)
      : session_(session), name_(std::move(name)), version_(version) {}

  std::unique_ptr<void, Close> session_;
  std::string name_;
  Version version_;
};

}  // namespace rubato::meter::snmp
