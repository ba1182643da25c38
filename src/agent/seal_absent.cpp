// For builds without libsodium: agents are refused where somebody asks for them, and nothing else is missing.
#include "agent/seal.h"

namespace rubato::agent {

struct SealedStream::State {};

SealedStream::SealedStream(Side, const Secret&, const Nonce&) : state_(std::make_unique<State>()) {}
SealedStream::~SealedStream() = default;
SealedStream::SealedStream(SealedStream&& other) noexcept = default;
SealedStream& SealedStream::operator=(SealedStream&& other) noexcept = default;

Result<std::vector<std::string>> SealedStream::receive(std::string_view) {
  return fail(can_seal().error());
}
void SealedStream::send(std::string_view) {}
std::string SealedStream::take_output() {
  return {};
}
bool SealedStream::open() const {
  return false;
}

Status can_seal() {
  return fail(
      ErrorCode::not_supported, "this rubato was built without libsodium, so its agents cannot agree",
      "install the Debian package, or build with libsodium-dev; --agents off governs each node alone");
}

Nonce fresh_nonce() {
  return {};
}
Secret fresh_secret() {
  return {};
}
Secret job_secret(const Secret&, std::string_view) {
  return {};
}
std::string public_name(const Secret&) {
  return {};
}

}  // namespace rubato::agent
