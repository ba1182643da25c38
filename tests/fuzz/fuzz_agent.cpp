#include "agent/message.h"
#include "agent/seal.h"
#include "fuzz/target.h"

// Twice the same bytes: as a message whose sender knew the secret, and as what a stranger sends to the port.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rubato::agent;
  const std::string_view text = rubato::fuzz::text_of(data, size);
  if (const auto message = decode(text)) {
    const std::string again = encode(*message);
    const auto twice = decode(again);
    rubato::fuzz::require(twice.has_value() && encode(*twice) == again);
  }
  SealedStream stream(SealedStream::Side::leader, Secret{}, Nonce{});
  std::size_t taken = 0;
  for (std::size_t step = 1; taken < size; step = step % 7 + 1) {
    const auto messages = stream.receive(text.substr(taken, step));
    if (!messages) break;
    rubato::fuzz::require(messages->empty());  // nobody guesses a key
    taken += step;
  }
  rubato::fuzz::require(!stream.open());
  return 0;
}
