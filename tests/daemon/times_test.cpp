// Where the time of requests goes, as rubatod counts it: by the clock of the wall, which the test moves.
#include <gmock/gmock.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <thread>

#include "daemon/daemon_world.h"
#include "daemon/datagram.h"
#include "wire/channel.h"

namespace rubato::daemon {
namespace {

using fake::DaemonWorld;
using fake::is;
using fake::kGpu;
using fake::kOneGpu;
using fake::kTwoGpus;
using fake::limit_to;
using guard::fake::refusal;

const wire::TimedPart* part(const wire::Timed& times, std::string_view name) {
  for (const wire::TimedPart& one : times.parts)
    if (one.name == name) return &one;
  return nullptr;
}
double ms(const wire::Timed& times, std::string_view name) {
  const auto* found = part(times, name);
  return found == nullptr ? -1 : found->sum.value() * 1e3;
}
std::uint64_t count(const wire::Timed& times) {
  std::uint64_t all = 0;
  if (const auto* total = part(times, "total"))
    for (const wire::TimedBin& bin : total->bins) all += bin.count;
  return all;
}

class Times : public ::testing::Test {
 protected:
  wire::Timed of(const std::string& request) {
    const auto answer = daemon_.ask(asking_, wire::TimesRequest{request});
    EXPECT_TRUE(is<wire::Timed>(answer)) << fake::words(answer);
    return is<wire::Timed>(answer) ? std::get<wire::Timed>(answer) : wire::Timed{};
  }
  /// The owner of the GPU takes `ms` of which the driver and the journal take these; handing over takes 1 ms
  /// each way.
  void owner_answers(std::size_t gpu, Seconds driver, Seconds journal) {
    wall().advance(Seconds(1e-3) + driver + journal);
    daemon_.run_one(daemon_.owner(gpu), {.driver = driver,
                                         .journal = journal,
                                         .behind = {},
                                         .hand_over = Seconds(1e-3),
                                         .done = wall().now() - Seconds(1e-3)});
  }
  VirtualClock& wall() { return *daemon_.wall; }

  DaemonWorld daemon_;
  ConnectionId asking_ = daemon_.connect();
};

TEST_F(Times, OfASetAreWholeAndItsParts) {
  const auto client = daemon_.connect();
  (void)daemon_.ask(client, kOneGpu);
  daemon_.send(client, limit_to(150));
  wall().advance(2_ms);
  owner_answers(0, 5_ms, 3_ms);
  wall().advance(4_ms);
  daemon_.deliver();
  const auto times = of("apply");
  EXPECT_EQ(count(times), 1U);
  EXPECT_NEAR(ms(times, "total"), 15, 1e-6);
  EXPECT_NEAR(ms(times, "driver"), 5, 1e-6);
  EXPECT_NEAR(ms(times, "journal"), 3, 1e-6);
  EXPECT_NEAR(ms(times, "own"), 7, 1e-6);
  EXPECT_NEAR(ms(times, "hand-over"), 2, 1e-6);
  EXPECT_NEAR(ms(times, "work"), 5, 1e-6);
  EXPECT_EQ(part(times, "queue"), nullptr) << "nobody said how long it lay in its socket";
}

TEST_F(Times, WaitingForOnesOwnEarlierRequestIsNotRubatods) {
  const auto client = daemon_.connect();
  (void)daemon_.ask(client, kOneGpu);
  daemon_.send(client, limit_to(150));
  daemon_.send(client, limit_to(140));
  owner_answers(0, 500_ms, 0_ms);
  daemon_.deliver();
  owner_answers(0, 20_ms, 0_ms);
  daemon_.deliver();
  const auto times = of("apply");
  EXPECT_EQ(count(times), 2U);
  EXPECT_NEAR(part(times, "total")->longest.value() * 1e3, 501, 1e-6);
  EXPECT_NEAR(ms(times, "total"), 522, 1e-6);
}

TEST_F(Times, OfSeveralGpusAreThoseOfTheSlowestOne) {
  const auto client = daemon_.connect();
  daemon_.send(client, kTwoGpus);
  owner_answers(0, 100_ms, 0_ms);
  owner_answers(1, 10_ms, 0_ms);
  daemon_.deliver();
  EXPECT_NEAR(ms(of("acquire"), "driver"), 100, 1e-6);
}

TEST_F(Times, RefusedRequestsAndUnknownOnesAreNotCounted) {
  const auto client = daemon_.connect();
  EXPECT_EQ(refusal(daemon_.ask(client, limit_to(150))), ErrorCode::invalid_argument) << "no lease";
  EXPECT_TRUE(of("apply").parts.empty());
  EXPECT_EQ(refusal(daemon_.ask(client, wire::TimesRequest{"heartbeat"})), ErrorCode::invalid_argument);
  EXPECT_EQ(refusal(daemon_.ask(daemon_.connect(1000, false), wire::TimesRequest{"apply"})),
            ErrorCode::no_permission)
      << "a hello first, as ever";
}

TEST(OwnerThreadTimes, AreInsideTheDriverAndTheJournal) {
  guard::fake::World world;
  const auto guarding = world.options();
  const auto mailbox = std::make_shared<Mailbox>();
  OwnerThread owner({.gpu = kGpu,
                     .open = guarding.open,
                     .folder = world.folder,
                     .root = guarding.root,
                     .driver_version = [&world] { return world.driver_version; },
                     .clock = world.clock,
                     .files = guarding.files},
                    mailbox);
  const RealClock wall;
  const TimePoint begun = wall.now();
  owner.post(1, Take{.terms = {{Knob::power_limit}, {}}, .caller = {}, .shared = true});
  owner.post(2, Set{{.power_limit = 150_W}});
  std::vector<Answered> answers;
  while (answers.size() < 2 && wall.now() - begun < 30_s) {
    for (Answered& answer : mailbox->take()) answers.push_back(std::move(answer));
    std::this_thread::yield();
  }
  ASSERT_EQ(answers.size(), 2U);
  const Seconds passed = wall.now() - begun;
  const Spent& set = answers[1].spent;
  ASSERT_TRUE(answers[1].outcome.has_value()) << answers[1].outcome.error().what;
  EXPECT_GT(set.driver, 0_s);
  EXPECT_GT(set.journal, 0_s);
  EXPECT_LE(set.driver + set.journal + set.behind + set.hand_over, passed);
}

std::size_t open_files() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

void send_with_descriptor(int socket) {
  char byte = 'x';
  iovec bytes{.iov_base = &byte, .iov_len = 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(rights), &socket, sizeof socket);
  ASSERT_EQ(::sendmsg(socket, &message, 0), 1);
}

TEST(Datagrams, SayHowLongTheyLayAndBringNoDescriptorsAlong) {
  auto [here, there] = wire::socket_pair().value();
  std::array<char, 16> buffer{};
  send_with_descriptor(there.get());
  const std::size_t before = open_files();
  EXPECT_EQ(receive(here.get(), buffer).size, 1) << "not stamped yet: room for a descriptor";
  EXPECT_EQ(open_files(), before);

  stamp_arrivals(here.get());
  const RealClock wall;
  const TimePoint begun = wall.now();
  send_with_descriptor(there.get());
  while (wall.now() - begun < 2_ms) std::this_thread::yield();
  const Datagram got = receive(here.get(), buffer);
  EXPECT_EQ(got.size, 1);
  EXPECT_EQ(open_files(), before);
  ASSERT_TRUE(got.queued.has_value());
  EXPECT_GE(*got.queued, 1_ms);
  EXPECT_LE(*got.queued, wall.now() - begun + 1_ms);
  EXPECT_EQ(receive(here.get(), buffer).size, -1) << "nothing more";

  const std::string longer(100, 'y');
  ASSERT_EQ(::send(there.get(), longer.data(), longer.size(), 0), 100);
  EXPECT_EQ(receive(here.get(), buffer).size, 100) << "its whole length";
}

}  // namespace
}  // namespace rubato::daemon
