#include "agent/seal.h"

#include <sodium.h>

#include <algorithm>
#include <utility>

#include "agent/message.h"
#include "base/text.h"

namespace rubato::agent {
namespace {

static_assert(crypto_auth_hmacsha256_KEYBYTES == kSecretBytes);
static_assert(crypto_auth_hmacsha256_BYTES == crypto_aead_chacha20poly1305_ietf_KEYBYTES);

constexpr std::size_t kLengthBytes = 4;
constexpr std::size_t kTagBytes = crypto_aead_chacha20poly1305_ietf_ABYTES;
constexpr std::size_t kHandshakeBytes = kGreeting.size() + kNonceBytes;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

Secret hmac(const Secret& key, std::string_view text) {
  Secret out{};
  crypto_auth_hmacsha256(out.data(), bytes_of(text), text.size(), key.data());
  return out;
}

std::string_view text_of(const Nonce& nonce) {
  return {reinterpret_cast<const char*>(nonce.data()), nonce.size()};
}

std::array<char, kLengthBytes> length_of(std::size_t size) {
  std::array<char, kLengthBytes> out{};
  for (std::size_t i = 0; i < kLengthBytes; ++i)
    out[i] = static_cast<char>((size >> (8 * (kLengthBytes - 1 - i))) & 0xffU);
  return out;
}

std::size_t length_in(std::string_view head) {
  std::size_t out = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) out = (out << 8U) | static_cast<unsigned char>(head[i]);
  return out;
}

/// One direction: its key, and how many frames have gone.
struct Direction {
  Secret key{};
  std::uint64_t frames = 0;

  [[nodiscard]] std::array<unsigned char, crypto_aead_chacha20poly1305_ietf_NPUBBYTES> next() {
    std::array<unsigned char, crypto_aead_chacha20poly1305_ietf_NPUBBYTES> number{};
    for (std::size_t i = 0; i < 8; ++i) number[i] = static_cast<unsigned char>((frames >> (8 * i)) & 0xffU);
    ++frames;
    return number;
  }
};

}  // namespace

struct SealedStream::State {
  Side side;
  Secret secret;
  Nonce nonce;
  bool greeted = false;  // by the other side
  bool open = false;
  std::string in;
  std::string out;
  Direction sending;
  Direction receiving;

  State(Side whose, const Secret& key, const Nonce& number) : side(whose), secret(key), nonce(number) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    for (Secret* key : {&secret, &sending.key, &receiving.key}) sodium_memzero(key->data(), key->size());
  }

  void seal(std::string_view message) {
    const auto head = length_of(message.size() + kTagBytes);
    std::string sealed(message.size() + kTagBytes, '\0');
    const auto number = sending.next();
    crypto_aead_chacha20poly1305_ietf_encrypt(
        reinterpret_cast<unsigned char*>(sealed.data()), nullptr, bytes_of(message), message.size(),
        bytes_of({head.data(), head.size()}), head.size(), nullptr, number.data(), sending.key.data());
    out.append(head.data(), head.size());
    out += sealed;
  }

  Status greet() {
    if (!std::equal(kGreeting.begin(), kGreeting.end(), in.begin())) {
      return fail(ErrorCode::not_supported, "the other end does not speak rubato-agent/1",
                  "is something else on that port, or another version of rubato?");
    }
    std::string nonces = in.substr(kGreeting.size(), kNonceBytes);
    const std::string ours(text_of(nonce));
    nonces = side == Side::member ? cat(ours, nonces) : cat(nonces, ours);  // the member's first
    const Secret up = hmac(secret, cat("member to leader ", nonces));
    const Secret down = hmac(secret, cat("leader to member ", nonces));
    sending.key = side == Side::member ? up : down;
    receiving.key = side == Side::member ? down : up;
    in.erase(0, kHandshakeBytes);
    greeted = true;
    if (side == Side::leader) seal({});
    return {};
  }

  /// The next whole frame, or nothing yet.
  Result<std::optional<std::string>> unseal() {
    if (in.size() < kLengthBytes) return std::nullopt;
    const std::size_t length = length_in(in);
    if (length < kTagBytes || length > kLargestMessage + kTagBytes)
      return fail(ErrorCode::corrupt, cat("a frame of ", length, " bytes from another agent"));
    if (in.size() < kLengthBytes + length) return std::nullopt;
    std::string message(length - kTagBytes, '\0');
    const auto number = receiving.next();
    const int opened = crypto_aead_chacha20poly1305_ietf_decrypt(
        reinterpret_cast<unsigned char*>(message.data()), nullptr, nullptr, bytes_of(in) + kLengthBytes,
        length, bytes_of(in), kLengthBytes, number.data(), receiving.key.data());
    if (opened != 0) {
      return fail(ErrorCode::no_permission,
                  open ? "a message from another agent was changed on its way"
                       : "the other end does not know this job's secret",
                  "all ranks must read the same key file: is the state folder shared? else give each "
                  "--agents-key FILE");
    }
    in.erase(0, kLengthBytes + length);
    return message;
  }
};

SealedStream::SealedStream(Side side, const Secret& secret, const Nonce& nonce)
    : state_(std::make_unique<State>(side, secret, nonce)) {
  state_->out = cat(kGreeting, text_of(nonce));
}
SealedStream::~SealedStream() = default;
SealedStream::SealedStream(SealedStream&& other) noexcept = default;
SealedStream& SealedStream::operator=(SealedStream&& other) noexcept = default;

Result<std::vector<std::string>> SealedStream::receive(std::string_view bytes) {
  State& s = *state_;
  s.in += bytes;
  std::vector<std::string> messages;
  if (!s.greeted) {
    const std::string_view begin = std::string_view(s.in).substr(0, kGreeting.size());
    // Said at once: whoever sends something else need not send 47 bytes of it.
    if (begin != kGreeting.substr(0, begin.size()) || s.in.size() >= kHandshakeBytes) {
      if (s.in.size() < kHandshakeBytes) s.in.resize(kHandshakeBytes);
      if (const Status greeted = s.greet(); !greeted) return fail(greeted.error());
    } else {
      return messages;
    }
  }
  for (;;) {
    auto message = s.unseal();
    if (!message) return fail(message.error());
    if (!*message) return messages;
    const bool first = !std::exchange(s.open, true);
    if (!(first && s.side == Side::member)) messages.push_back(std::move(**message));
  }
}

void SealedStream::send(std::string_view message) {
  if (state_->greeted) state_->seal(message);
}

std::string SealedStream::take_output() {
  return std::exchange(state_->out, {});
}

bool SealedStream::open() const {
  return state_->open;
}

Status can_seal() {
  if (sodium_init() < 0) return fail(ErrorCode::unavailable, "libsodium does not start");
  return {};
}

Nonce fresh_nonce() {
  Nonce out{};
  randombytes_buf(out.data(), out.size());
  return out;
}

Secret fresh_secret() {
  return fresh_nonce();
}

Secret job_secret(const Secret& users, std::string_view job) {
  return hmac(users, cat("rubato job ", job));
}

std::string public_name(const Secret& of_job) {
  const Secret name = hmac(of_job, "public name");
  std::string out;
  for (std::size_t i = 0; i < 16; ++i) out += hex(name[i], 2);
  return out;
}

}  // namespace rubato::agent
