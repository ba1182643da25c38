#include <vector>

#include "fuzz/target.h"
#include "meter/mcp39f511n/packet.h"

// Bytes from a serial line: the first says how much data was asked for.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rubato::meter::mcp39f511n;
  if (size == 0) return 0;
  const std::size_t count = data[0] % 33U;
  const std::span<const std::uint8_t> bytes(data + 1, size - 1);
  const Reply reply = parse_reply(bytes, count);
  rubato::fuzz::require(reply.state == ReplyState::complete ? reply.data.size() == count
                                                            : reply.data.empty());
  if (count >= 8 && reply.state == ReplyState::complete) (void)little_endian(reply.data, count - 8, 8);
  // However the bytes are cut up on the line, a packet that was found stays found.
  std::vector<std::uint8_t> whole(bytes.begin(), bytes.end());
  whole.push_back(0);
  rubato::fuzz::require(reply.state != ReplyState::complete ||
                        parse_reply(whole, count).state == ReplyState::complete);
  return 0;
}
