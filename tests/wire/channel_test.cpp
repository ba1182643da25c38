#include "wire/channel.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "wire/message.h"

namespace rubato::wire {
namespace {

struct Pair {
  Pair() : Pair(socket_pair().value()) {}
  explicit Pair(std::pair<ScopedFd, ScopedFd> ends)
      : left(std::move(ends.first)), right(std::move(ends.second)) {}
  SocketChannel left;
  SocketChannel right;
};

TEST(SocketChannel, KeepsMessagesApartAndInOrder) {
  Pair pair;
  ASSERT_TRUE(pair.left.send("one").has_value());
  ASSERT_TRUE(pair.left.send("two").has_value());
  EXPECT_EQ(pair.right.receive(Seconds(0)).value(), "one");
  EXPECT_EQ(pair.right.receive(Seconds(0)).value(), "two");
  EXPECT_EQ(pair.right.receive(Seconds(0)).error().code, ErrorCode::timeout);
}

TEST(SocketChannel, SaysWhenTheOtherEndIsGoneWithoutASignal) {
  auto ends = socket_pair().value();
  SocketChannel left(std::move(ends.first));
  ends.second.reset();
  EXPECT_EQ(left.send("anyone?").error().code, ErrorCode::unavailable);
  EXPECT_EQ(left.receive(Seconds(0)).error().code, ErrorCode::unavailable);
}

TEST(SocketChannel, DoesNotBlockOnAProcessThatNeverReads) {
  Pair pair;
  Status sent;
  for (int i = 0; i < 100'000 && sent; ++i) sent = pair.left.send("heartbeat");
  ASSERT_FALSE(sent.has_value());
  EXPECT_EQ(sent.error().code, ErrorCode::timeout);
}

TEST(SocketChannel, AMessageThatIsTooLongIsNamedAndTheNextOneArrives) {
  Pair pair;
  const std::string longest(kLargestMessage, 'x');
  ASSERT_TRUE(pair.left.send(longest).has_value());
  ASSERT_TRUE(pair.left.send(longest + "x").has_value());
  ASSERT_TRUE(pair.left.send("short").has_value());
  EXPECT_EQ(pair.right.receive(Seconds(0)).value(), longest);
  EXPECT_EQ(pair.right.receive(Seconds(0)).error().code, ErrorCode::corrupt);
  EXPECT_EQ(pair.right.receive(Seconds(0)).value(), "short");
}

}  // namespace
}  // namespace rubato::wire
