#include "meter/snmp/session.h"

#include <net-snmp/net-snmp-config.h>
// net-snmp's headers want this order.
#include <net-snmp/net-snmp-includes.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "base/text.h"

namespace rubato::meter::snmp {
namespace {

// Three sendings of half a second each end before kReadPatience.
constexpr long kTimeoutUs = 500'000;
constexpr int kRetries = 2;
// The first contact of v3 is two such exchanges in one read().
constexpr int kRetriesOfProbe = 0;

/// net-snmp's list of users is one for the whole process: one session is opened or closed at a time. No
/// std::timed_mutex: the thread sanitizer of GCC 12 does not see it locked.
class Turn {
 public:
  /// Waits for it, so long at most.
  explicit Turn(std::optional<std::chrono::milliseconds> patience = std::nullopt) {
    const auto is_free = [this] { return !gate_.taken; };
    std::unique_lock lock(gate_.mutex);
    if (patience)
      mine_ = gate_.ended.wait_for(lock, *patience, is_free);
    else
      gate_.ended.wait(lock, is_free);
    if (mine_) gate_.taken = true;
  }
  ~Turn() {
    if (!mine_) return;
    const std::scoped_lock lock(gate_.mutex);
    gate_.taken = false;
    gate_.ended.notify_one();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  [[nodiscard]] bool mine() const { return mine_; }

 private:
  struct Gate {
    std::mutex mutex;
    std::condition_variable ended;
    bool taken = false;
  };
  static Gate& gate() {
    static Gate one;
    return one;
  }

  Gate& gate_ = gate();
  bool mine_ = true;
};

void start_library() {
  static std::once_flag once;
  std::call_once(once, [] {
    // Without a handler net-snmp would write on the standard error of the job.
    netsnmp_register_loghandler(NETSNMP_LOGHANDLER_NONE, LOG_DEBUG);
    netsnmp_set_mib_directory("");
    netsnmp_ds_set_boolean(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_DONT_READ_CONFIGS, 1);
    netsnmp_ds_set_boolean(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_DONT_PERSIST_STATE, 1);
    init_snmp("rubato");
  });
}

Error no_answer(const std::string& name, Version version) {
  return {ErrorCode::timeout, cat("no answer from the SNMP agent ", name),
          version == Version::v2c ? "check host and community (agents stay silent on a wrong one) and that "
                                    "UDP reaches it: snmpget -v2c -c "
                                    "COMMUNITY HOST 1.3.6.1.2.1.1.1.0"
                                  : "check the host and that UDP reaches it: snmpget -v3 -l authPriv -u USER "
                                    "... HOST 1.3.6.1.2.1.1.1.0"};
}

Error failed_with(int number, const char* text, const std::string& name, Version version) {
  constexpr const char* kLoginHint = "check user, auth, auth_password, priv and priv_password in meters.toml";
  switch (number) {
    case SNMPERR_TIMEOUT:
      return no_answer(name, version);
    case SNMPERR_AUTHENTICATION_FAILURE:
    case SNMPERR_UNKNOWN_USER_NAME:
    case SNMPERR_UNSUPPORTED_SEC_LEVEL:
    case SNMPERR_DECRYPTION_ERR:
      return {ErrorCode::no_permission, cat("the SNMP agent ", name, " refuses the login: ", text),
              kLoginHint};
    default:
      return {ErrorCode::io, cat("cannot read from the SNMP agent ", name, ": ", text),
              "the next look tries again"};
  }
}

Error last_error(void* session, const std::string& name, Version version) {
  int from_libc = 0;
  int number = 0;
  char* text = nullptr;
  snmp_sess_error(session, &from_libc, &number, &text);
  Error error = failed_with(number, text == nullptr ? "no reason given" : text, name, version);
  SNMP_FREE(text);
  return error;
}

Status make_key(const oid* protocol, std::size_t length, std::string& password, u_char* key,
                std::size_t& key_length, const std::string& name) {
  key_length = USM_AUTH_KU_LEN;
  auto* text = reinterpret_cast<u_char*>(password.data());
  if (generate_Ku(protocol, static_cast<u_int>(length), text, password.size(), key, &key_length) ==
      SNMPERR_SUCCESS)
    return {};
  return fail(ErrorCode::not_supported, cat("net-snmp cannot make a key from the password for ", name),
              "try auth = \"SHA\" in meters.toml, if the agent can do that");
}

/// A session takes names of protocols as if it might change them, and copies them.
oid* unchanged(const oid* protocol) {
  return const_cast<oid*>(protocol);  // NOLINT(cppcoreguidelines-pro-type-const-cast): C has no other way
}

Status fill_v3(netsnmp_session& session, Login& login, const std::string& name) {
  const oid* auth = usmHMACSHA1AuthProtocol;
  if (login.auth == AuthProtocol::sha256) auth = usmHMAC192SHA256AuthProtocol;
  if (login.auth == AuthProtocol::sha512) auth = usmHMAC384SHA512AuthProtocol;
  constexpr std::size_t kAuthLength = OID_LENGTH(usmHMACSHA1AuthProtocol);
  session.securityName = login.user.data();
  session.securityNameLen = login.user.size();
  session.securityAuthProto = unchanged(auth);
  session.securityAuthProtoLen = kAuthLength;
  session.securityLevel = login.priv_password.empty() ? SNMP_SEC_LEVEL_AUTHNOPRIV : SNMP_SEC_LEVEL_AUTHPRIV;
  if (auto made = make_key(auth, kAuthLength, login.auth_password, session.securityAuthKey,
                           session.securityAuthKeyLen, name);
      !made)
    return made;
  if (login.priv_password.empty()) return {};
  session.securityPrivProto = unchanged(usmAESPrivProtocol);
  session.securityPrivProtoLen = OID_LENGTH(usmAESPrivProtocol);
  // The key for encryption is made with the hash of authentication (RFC 3826, section 1.2).
  return make_key(auth, kAuthLength, login.priv_password, session.securityPrivKey, session.securityPrivKeyLen,
                  name);
}

Value value_of(const netsnmp_variable_list& variable) {
  Value value;
  switch (variable.type) {
    case ASN_INTEGER:
      value.type = ValueType::integer;
      value.whole = static_cast<std::int32_t>(*variable.val.integer);
      break;
    case ASN_GAUGE:
      value.type = ValueType::gauge32;
      value.whole = static_cast<std::uint32_t>(*variable.val.integer);
      break;
    case ASN_COUNTER:
      value.type = ValueType::counter32;
      value.whole = static_cast<std::uint32_t>(*variable.val.integer);
      break;
    case ASN_COUNTER64:
      value.type = ValueType::counter64;
      value.whole =
          static_cast<std::int64_t>((static_cast<std::uint64_t>(variable.val.counter64->high) << 32) |
                                    static_cast<std::uint32_t>(variable.val.counter64->low));
      break;
    case ASN_OPAQUE_FLOAT:
      value.type = ValueType::real;
      value.real = static_cast<double>(*variable.val.floatVal);
      break;
    case ASN_OCTET_STR:
      value.type = ValueType::text;
      value.text.assign(reinterpret_cast<const char*>(variable.val.string), variable.val_len);
      break;
    default:
      break;  // noSuchObject, noSuchInstance, and types that hold no number
  }
  return value;
}

}  // namespace

std::string_view name_of(ValueType type) {
  switch (type) {
    case ValueType::missing:
      return "nothing";
    case ValueType::integer:
      return "INTEGER";
    case ValueType::gauge32:
      return "Gauge32";
    case ValueType::counter32:
      return "Counter32";
    case ValueType::counter64:
      return "Counter64";
    case ValueType::real:
      return "Opaque Float";
    case ValueType::text:
      return "OCTET STRING";
  }
  return "unknown";
}

void Session::Close::operator()(void* session) const {
  const Turn turn;
  snmp_sess_close(session);
}

Result<Session> Session::open(const Endpoint& where, const std::string& name, const Login& login) {
  start_library();
  Login own = login;
  std::string peer = cat(where.host.find(':') == std::string::npos ? "udp:" : "udp6:", where.text());
  netsnmp_session wanted{};
  snmp_sess_init(&wanted);
  wanted.peername = peer.data();
  wanted.timeout = kTimeoutUs;
  wanted.retries = login.version == Version::v3 ? kRetriesOfProbe : kRetries;
  wanted.version = login.version == Version::v3 ? SNMP_VERSION_3 : SNMP_VERSION_2c;
  if (login.version == Version::v3) {
    if (auto filled = fill_v3(wanted, own, name); !filled) return fail(filled.error());
  } else {
    wanted.community = reinterpret_cast<u_char*>(own.community.data());
    wanted.community_len = own.community.size();
  }
  const Turn turn(std::chrono::milliseconds(300));
  if (!turn.mine())
    return fail(ErrorCode::busy, cat("another SNMP agent keeps the login to ", name, " waiting"),
                "the next look tries again");
  void* session = snmp_sess_open(&wanted);
  if (session == nullptr) {
    int from_libc = 0;
    int number = 0;
    char* text = nullptr;
    snmp_error(&wanted, &from_libc, &number, &text);
    Error error = failed_with(number, text == nullptr ? "no reason given" : text, name, login.version);
    SNMP_FREE(text);
    // A v3 agent that does not answer the first question is reported as an unknown engine.
    if (login.version == Version::v3 && number != SNMPERR_AUTHENTICATION_FAILURE)
      error = no_answer(name, login.version);
    return fail(std::move(error));
  }
  if (login.version == Version::v3) snmp_sess_session(session)->retries = 1;
  return Session(session, name, login.version);
}

Result<std::vector<Value>> Session::get(const std::vector<Oid>& oids) {
  netsnmp_pdu* request = snmp_pdu_create(SNMP_MSG_GET);
  for (const Oid& wanted : oids) {
    const std::vector<oid> name(wanted.begin(), wanted.end());
    snmp_add_null_var(request, name.data(), name.size());
  }
  netsnmp_pdu* raw = nullptr;
  const int status = snmp_sess_synch_response(session_.get(), request, &raw);
  const std::unique_ptr<netsnmp_pdu, void (*)(netsnmp_pdu*)> answer(raw, [](netsnmp_pdu* pdu) {
    if (pdu != nullptr) snmp_free_pdu(pdu);
  });
  if (status == STAT_TIMEOUT) return fail(no_answer(name_, version_));
  if (status != STAT_SUCCESS || !answer) return fail(last_error(session_.get(), name_, version_));
  if (answer->command == SNMP_MSG_REPORT)
    return fail(ErrorCode::no_permission, cat("the SNMP agent ", name_, " refuses the login"),
                "check user, auth, auth_password, priv and priv_password in meters.toml");
  if (answer->errstat == SNMP_ERR_TOOBIG)
    return fail(ErrorCode::not_supported,
                cat("the SNMP agent ", name_, " cannot answer ", oids.size(), " objects at once"),
                "list fewer outlets in one table of meters.toml");
  if (answer->errstat != SNMP_ERR_NOERROR)
    return fail(
        ErrorCode::io,
        cat("the SNMP agent ", name_, " answers: ", snmp_errstring(static_cast<int>(answer->errstat))),
        "check that this user or community may read the object");
  std::vector<Value> values;
  for (const netsnmp_variable_list* v = answer->variables; v != nullptr; v = v->next_variable) {
    if (values.size() == oids.size()) break;
    const Oid& asked = oids[values.size()];
    const bool same = v->name_length == asked.size() && std::equal(asked.begin(), asked.end(), v->name);
    if (!same)
      return fail(ErrorCode::corrupt,
                  cat("the SNMP agent ", name_, " answers with another object than ", to_text(asked)),
                  "the next look tries again");
    values.push_back(value_of(*v));
  }
  if (values.size() != oids.size())
    return fail(ErrorCode::corrupt,
                cat("the SNMP agent ", name_, " answers ", values.size(), " objects, needed ", oids.size()),
                "the next look tries again");
  return values;
}

}  // namespace rubato::meter::snmp
