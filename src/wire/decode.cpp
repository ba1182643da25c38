#include <array>
#include <utility>

#include "base/text.h"
#include "wire/decode_answers.h"
#include "wire/decode_requests.h"
#include "wire/decode_times.h"
#include "wire/fields.h"
#include "wire/message.h"

namespace rubato::wire {
namespace {

using Reader = Result<Body> (*)(const std::vector<Field>&);
constexpr std::array<std::pair<std::string_view, Reader>, 18> kReaders = {{{"hello", read_hello},
                                                                           {"acquire", read_acquire},
                                                                           {"apply", read_apply},
                                                                           {"restore", read_restore},
                                                                           {"heartbeat", read_heartbeat},
                                                                           {"release", read_release},
                                                                           {"status", read_status},
                                                                           {"welcome", read_welcome},
                                                                           {"granted", read_granted},
                                                                           {"applied", read_applied},
                                                                           {"restored", read_restored},
                                                                           {"state", read_state},
                                                                           {"refused", read_refused},
                                                                           {"job-begin", read_job_begin},
                                                                           {"job-end", read_job_end},
                                                                           {"cleared", read_cleared},
                                                                           {"times", read_times},
                                                                           {"timed", read_timed}}};
constexpr std::string_view kProtocol = "rubato-lease/";

}  // namespace

Result<Message> decode(std::string_view datagram) {
  if (datagram.size() > kLargestMessage) {
    return fail(ErrorCode::corrupt, cat("a lease message has ", datagram.size(), " bytes; at most ",
                                        kLargestMessage, " are legal"));
  }
  const std::size_t end = datagram.find('\n');
  const std::string_view first = datagram.substr(0, end);
  const std::string_view rest = end == std::string_view::npos ? std::string_view() : datagram.substr(end + 1);
  if (!first.starts_with(kProtocol)) return bad_line(1, "does not begin with 'rubato-lease/'");
  const std::vector<std::string> words = split(first.substr(kProtocol.size()), ' ');
  if (words[0] != "1") {
    const auto version = parse_integer(words[0]);
    if (!version) return bad_line(1, "has no protocol version");
    return fail(ErrorCode::not_supported,
                cat("the other end speaks rubato-lease/", *version, "; this one needs rubato-lease/1"),
                "use the same rubato version at both ends");
  }
  if (words.size() != 3) return bad_line(1, "is not 'rubato-lease/1 VERB SEQUENCE'");
  const auto sequence = parse_integer(words[2]);
  if (!sequence || *sequence < 0) return bad_line(1, "has no sequence number");
  for (const auto& [verb, read] : kReaders) {
    if (verb != words[1]) continue;
    const auto fields = parse_fields(rest);
    if (!fields) return fail(fields.error());
    auto body = read(*fields);
    if (!body) return fail(body.error());
    return Message{static_cast<std::uint64_t>(*sequence), std::move(*body)};
  }
  return bad_line(1, "has an unknown verb");
}

}  // namespace rubato::wire
