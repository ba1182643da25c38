// The stream between two agents: both prove that they know the job's secret before either believes a word,
// and nobody between them can read, change, repeat or reorder a message. Pure: bytes in, bytes out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace rubato::agent {

inline constexpr std::size_t kSecretBytes = 32;
inline constexpr std::size_t kNonceBytes = 32;
/// What both sides say first, before their nonce. The version of everything behind it.
inline constexpr std::string_view kGreeting = "rubato-agent/1\n";

using Secret = std::array<unsigned char, kSecretBytes>;
using Nonce = std::array<unsigned char, kNonceBytes>;

/// Each side sends the greeting and a nonce; a key for each direction is HMAC-SHA-256 of direction and both
/// nonces under the secret. What follows is frames: four bytes of length, most significant first, and a
/// message sealed with ChaCha20-Poly1305 (RFC 8439) under its number in that direction, the length being
/// authenticated too. The leader's first frame is empty and shows the member that it holds the secret.
class SealedStream {
 public:
  enum class Side { leader, member };

  /// `nonce`: fresh randomness for each connection (fresh_nonce()).
  SealedStream(Side side, const Secret& secret, const Nonce& nonce);
  ~SealedStream();
  SealedStream(SealedStream&& other) noexcept;
  SealedStream& operator=(SealedStream&& other) noexcept;

  /// Messages that arrived whole. Errors: no_permission (another secret, or the bytes were tampered with),
  /// not_supported (another version, or no agent at all), corrupt (a frame longer than a message may be). The
  /// connection is to be closed then.
  [[nodiscard]] Result<std::vector<std::string>> receive(std::string_view bytes);
  /// Only once open().
  void send(std::string_view message);
  /// To be written to the socket, in order.
  [[nodiscard]] std::string take_output();
  /// The other side has shown that it knows the secret.
  [[nodiscard]] bool open() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Whether this build can seal streams at all; not_supported says how to get one that can.
[[nodiscard]] Status can_seal();

/// Of the operating system's generator.
[[nodiscard]] Nonce fresh_nonce();
[[nodiscard]] Secret fresh_secret();

/// The secret of one job, from one of its user's and what names the job: HMAC-SHA-256.
[[nodiscard]] Secret job_secret(const Secret& users, std::string_view job);
/// A name for the job that tells nothing of its secret: 32 hexadecimal digits.
[[nodiscard]] std::string public_name(const Secret& of_job);

}  // namespace rubato::agent
