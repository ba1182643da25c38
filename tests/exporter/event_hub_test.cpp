// Queues of events: what each client gets, and that one who does not read is no matter of the others.
#include "exporter/event_hub.h"

#include <gmock/gmock.h>

#include <array>
#include <thread>

namespace rubato::exporter {
namespace {

using testing::HasSubstr;

std::string read_all(HttpStream& stream) {
  std::string out;
  std::array<char, 7> buffer{};  // smaller than any event
  while (const std::size_t got = stream.read(buffer.data(), buffer.size())) out.append(buffer.data(), got);
  return out;
}

TEST(EventHub, AClientBeginsWithEventsOfItsOwnAndGetsWhatComes) {
  EventHub hub(4, 1);
  hub.publish({"node", R"({"n":1})"});
  const std::array<EventHub::Event, 2> first{{{"node", R"({"n":2})"}, {"runs", "{}"}}};
  const auto client = hub.subscribe(first);
  ASSERT_NE(client, nullptr);
  EXPECT_EQ(read_all(*client), "retry: 2000\n\nevent: node\ndata: {\"n\":2}\n\nevent: runs\ndata: {}\n\n");
  EXPECT_FALSE(client->ready());
  int woken = 0;
  client->on_ready([&woken] { ++woken; });
  hub.publish({"node", R"({"n":3})"});
  EXPECT_EQ(woken, 1);
  EXPECT_TRUE(client->ready());
  EXPECT_EQ(read_all(*client), "event: node\ndata: {\"n\":3}\n\n");
  EXPECT_FALSE(client->ended());
}

TEST(EventHub, OneThatDoesNotReadIsEndedAndTheOthersGetEverything) {
  EventHub hub(4, 3);
  const auto slow = hub.subscribe();
  const auto quick = hub.subscribe();
  std::string got;
  for (int i = 0; i < 20; ++i) {
    hub.publish({"node", std::to_string(i)});
    got += read_all(*quick);
  }
  EXPECT_TRUE(slow->ended());
  EXPECT_TRUE(slow->ready()) << "so that its connection is closed";
  EXPECT_EQ(read_all(*slow), "") << "nothing is kept for it";
  EXPECT_EQ(hub.dropped(), 1U);
  EXPECT_EQ(hub.clients(), 1U);
  EXPECT_FALSE(quick->ended());
  for (int i = 0; i < 20; ++i) EXPECT_THAT(got, HasSubstr("data: " + std::to_string(i) + "\n"));
}

TEST(EventHub, ThereAreNoMoreClientsThanThereMayBe) {
  EventHub hub(2, 3);
  auto first = hub.subscribe();
  const auto second = hub.subscribe();
  EXPECT_EQ(hub.subscribe(), nullptr);
  first.reset();  // its connection is closed
  EXPECT_EQ(hub.clients(), 1U);
  EXPECT_NE(hub.subscribe(), nullptr);
}

TEST(EventHub, ReadersAndTheOneWhoPublishesNeedNotWaitForEachOther) {
  EventHub hub(8, 100'000);
  std::vector<std::shared_ptr<HttpStream>> clients;
  for (int i = 0; i < 4; ++i) clients.push_back(hub.subscribe());
  std::vector<std::string> got(clients.size());
  std::vector<std::thread> readers;
  for (std::size_t i = 0; i < clients.size(); ++i)
    readers.emplace_back([&, i] {
      while (got[i].find("data: last\n") == std::string::npos) got[i] += read_all(*clients[i]);
    });
  for (int n = 0; n < 500; ++n) hub.publish({"node", std::to_string(n)});
  hub.publish({"node", "last"});
  for (auto& reader : readers) reader.join();
  for (const std::string& text : got) EXPECT_EQ(text, got[0]);
}

}  // namespace
}  // namespace rubato::exporter
