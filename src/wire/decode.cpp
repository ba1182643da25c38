#include <array>

#include "base/text.h"
#include "wire/decode_answers.h"
#include "wire/decode_requests.h"
#include "wire/decode_times.h"
#include "wire/fields.h"
#include "wire/message.h"

namespace rubato::wire {
namespace {

using Read = Result<Body> (*)(const std::vector<Field>&);
struct Reader {
  std::string_view verb;
  Read read;
  std::size_t most_lines = kMostRequestLines;
};
constexpr std::array kReaders = {Reader{"hello", read_hello},
                                 Reader{"acquire", read_acquire},
                                 Reader{"apply", read_apply},
                                 Reader{"restore", read_restore},
                                 Reader{"release", read_release},
                                 Reader{"status", read_status},
                                 Reader{"job-begin", read_job_begin},
                                 Reader{"job-end", read_job_end},
                                 Reader{"times", read_times},
                                 Reader{"welcome", read_welcome, kMostReplyLines},
                                 Reader{"granted", read_granted, kMostReplyLines},
                                 Reader{"applied", read_applied, kMostReplyLines},
                                 Reader{"restored", read_restored, kMostReplyLines},
                                 Reader{"state", read_state, kMostReplyLines},
                                 Reader{"refused", read_refused, kMostReplyLines},
                                 Reader{"cleared", read_cleared, kMostReplyLines},
                                 Reader{"timed", read_timed, kMostReplyLines}};
/// "rubato-lease/1 VERB SEQUENCE" with room: no word of it is long.
constexpr std::size_t kLongestFirstLine = 128;
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
  if (first.size() > kLongestFirstLine) return bad_line(1, "is too long");
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
  // What comes most often, and holds nothing to read.
  if (words[1] == "heartbeat") return Message{static_cast<std::uint64_t>(*sequence), Heartbeat{}};
  for (const Reader& reader : kReaders) {
    if (reader.verb != words[1]) continue;
    const auto fields = parse_fields(rest, reader.most_lines);
    if (!fields) return fail(fields.error());
    auto body = reader.read(*fields);
    if (!body) return fail(body.error());
    return Message{static_cast<std::uint64_t>(*sequence), std::move(*body)};
  }
  return bad_line(1, "has an unknown verb");
}

}  // namespace rubato::wire
