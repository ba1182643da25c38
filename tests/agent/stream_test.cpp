#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "agent/bootstrap.h"
#include "agent/dialer.h"
#include "agent/hub.h"
#include "agent/key_file.h"
#include "agent/meeting.h"
#include "agent/message.h"
#include "base/text.h"

namespace rubato::agent {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

Secret secret(unsigned char first = 1) {
  Secret out{};
  out.front() = first;
  return out;
}

Nonce nonce(unsigned char first) {
  Nonce out{};
  out.back() = first;
  return out;
}

struct Pair {
  SealedStream leader{SealedStream::Side::leader, secret(), nonce(1)};
  SealedStream member{SealedStream::Side::member, secret(), nonce(2)};
  Pair() {
    EXPECT_TRUE(leader.receive(member.take_output()));
    EXPECT_TRUE(member.receive(leader.take_output()));
  }
};

TEST(SealedStream, CarriesMessagesBothWaysByteByByte) {
  ASSERT_TRUE(can_seal());
  Pair pair;
  EXPECT_TRUE(pair.member.open());
  EXPECT_FALSE(pair.leader.open());
  pair.member.send("one");
  pair.member.send("");
  std::vector<std::string> got;
  for (const char byte : pair.member.take_output()) {
    auto some = pair.leader.receive({&byte, 1});
    ASSERT_TRUE(some);
    got.insert(got.end(), some->begin(), some->end());
  }
  EXPECT_THAT(got, ElementsAre("one", ""));
  EXPECT_TRUE(pair.leader.open());
  pair.leader.send("two");
  EXPECT_THAT(*pair.member.receive(pair.leader.take_output()), ElementsAre("two"));
}

TEST(SealedStream, ShowsNothingOfSecretOrMessage) {
  Pair pair;
  pair.member.send("power-limit 150");
  const std::string bytes = pair.member.take_output();
  EXPECT_EQ(bytes.find("power"), std::string::npos);
  EXPECT_EQ(bytes.find(std::string(reinterpret_cast<const char*>(secret().data()), 8)), std::string::npos);
}

TEST(SealedStream, RefusesAnotherSecretAChangedByteARepeatedFrameAndAStranger) {
  SealedStream leader(SealedStream::Side::leader, secret(1), nonce(1));
  SealedStream member(SealedStream::Side::member, secret(2), nonce(2));
  ASSERT_TRUE(leader.receive(member.take_output()));
  const auto other = member.receive(leader.take_output());
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::no_permission);
  EXPECT_THAT(other.error().what, HasSubstr("does not know this job's secret"));

  for (std::size_t i = 0; i < 12; ++i) {
    Pair pair;
    pair.member.send("hello");
    std::string bytes = pair.member.take_output();
    bytes[4 + i] = static_cast<char>(bytes[4 + i] ^ 1);
    EXPECT_FALSE(pair.leader.receive(bytes)) << i;
  }
  {
    Pair pair;
    pair.member.send("once");
    const std::string frame = pair.member.take_output();
    ASSERT_TRUE(pair.leader.receive(frame));
    EXPECT_FALSE(pair.leader.receive(frame));
  }
  {
    Pair pair;
    EXPECT_EQ(pair.leader.receive(std::string("\xff\xff\xff\xff", 4)).error().code, ErrorCode::corrupt);
  }
  SealedStream asked(SealedStream::Side::leader, secret(), nonce(1));
  EXPECT_EQ(asked.receive("GET / HTTP/1.1\r\n").error().code, ErrorCode::not_supported);
  // A member's own words sent back to it are no leader's.
  SealedStream mirror(SealedStream::Side::member, secret(), nonce(2));
  const std::string greeting = mirror.take_output();
  ASSERT_TRUE(mirror.receive(greeting));
  mirror.send("join");
  EXPECT_FALSE(mirror.receive(mirror.take_output()));
}

class Network : public testing::Test {
 protected:
  Network() {
    HubOptions options;
    options.loopback = true;
    hub_.emplace(Hub::listen(secret(), options).value());
  }
  /// Polls both until `done`; a bound on rounds, each of which waits for the sockets, not for a time.
  template <class Done>
  void until(Dialer& dialer, Done done) {
    for (int round = 0; round < 2000 && !done(); ++round) {
      pollfd both[] = {{hub_->fd(), POLLIN, 0}, {dialer.fd(), POLLIN, 0}};
      poll(both, 2, 10);
      now_ = now_ + Seconds(0.01);
      for (auto& event : hub_->poll(now_)) events_.push_back(std::move(event));
      auto news = dialer.poll(now_);
      for (auto& message : news.messages) messages_.push_back(std::move(message));
      if (news.lost) lost_ = news.lost;
    }
    ASSERT_TRUE(done());
  }
  Dialer dialer(const Secret& with) {
    return Dialer::create(
               with, [this] { return resolve("127.0.0.1", hub_->port()).value(); }, {}, now_)
        .value();
  }

  std::optional<Hub> hub_;
  TimePoint now_;
  std::vector<Hub::Event> events_;
  std::vector<std::string> messages_;
  std::optional<Error> lost_;
};

TEST_F(Network, AMemberAndItsLeaderSpeakOverTheLoopback) {
  Dialer one = dialer(secret());
  until(one, [&] { return one.open(); });
  one.send("from the member");
  until(one, [&] { return !events_.empty(); });
  EXPECT_EQ(events_.front().message, "from the member");
  hub_->send(events_.front().peer, "from the leader");
  until(one, [&] { return !messages_.empty(); });
  EXPECT_THAT(messages_, ElementsAre("from the leader"));
  hub_->close(events_.front().peer);
  until(one, [&] { return lost_.has_value(); });
  EXPECT_THAT(lost_->what, HasSubstr("has ended"));
  // And it comes back by itself.
  until(one, [&] { return one.open(); });
}

TEST_F(Network, OneWithAnotherSecretIsNobody) {
  Dialer one = dialer(secret(9));
  until(one, [&] { return one.trouble().has_value(); });
  EXPECT_EQ(one.trouble()->code, ErrorCode::no_permission);
  until(one, [&] { return hub_->strangers() > 0; });
  EXPECT_THAT(events_, SizeIs(0));
}

TEST_F(Network, AFloodOfStrangersKeepsNobodyOut) {
  std::vector<ScopedFd> flood;
  const Address address = resolve("127.0.0.1", hub_->port()).value().front();
  for (int i = 0; i < 300; ++i) {
    auto socket = begin_connect(address);
    ASSERT_TRUE(socket);
    flood.push_back(std::move(*socket));
    static_cast<void>(hub_->poll(now_));
  }
  Dialer one = dialer(secret());
  until(one, [&] { return one.open(); });
  EXPECT_GE(hub_->strangers(), 200);
}

class Files : public testing::Test {
 protected:
  Files() : folder_(testing::TempDir() + "agent-" + std::to_string(getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~Files() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

TEST_F(Files, AKeyIsMadeOnceAndIsTheUsersAlone) {
  const auto file = folder_ / "deep" / "agents.key";
  EXPECT_EQ(read_key_file(file, false).error().code, ErrorCode::not_found);
  const auto made = read_key_file(file, true);
  ASSERT_TRUE(made);
  EXPECT_EQ(*read_key_file(file, true), *made);
  struct stat is {};
  ASSERT_EQ(stat(file.c_str(), &is), 0);
  EXPECT_EQ(is.st_mode & 0777U, 0600U);
  chmod(file.c_str(), 0640);
  EXPECT_EQ(read_key_file(file, true).error().code, ErrorCode::no_permission);
  chmod(file.c_str(), 0600);
  std::ofstream(file) << "too short\n";
  EXPECT_EQ(read_key_file(file, true).error().code, ErrorCode::corrupt);
  EXPECT_NE(job_secret(*made, "a"), job_secret(*made, "b"));
}

TEST_F(Files, AMeetingPointLastsAsLongAsItsTeller) {
  {
    const auto told = MeetingPoint::tell(folder_ / "agents", "job", 29400, {"127.0.0.1", "::1"});
    ASSERT_TRUE(told);
    const auto read = read_meeting_point(folder_ / "agents", "job");
    ASSERT_THAT(read, SizeIs(2));
    EXPECT_EQ(read.front().text, "127.0.0.1");
  }
  EXPECT_THAT(read_meeting_point(folder_ / "agents", "job"), SizeIs(0));
  std::ofstream(folder_ / "agents" / "job") << "rubato-meeting/1 99999\nwww.example.org\n";
  EXPECT_THAT(read_meeting_point(folder_ / "agents", "job"), SizeIs(0));
}

TEST(Messages, EveryOneIsReadAsItWasWritten) {
  Setting setting{.power_limit = Watts(150),
                  .sm_clock = ClockRange{Megahertz(900), Megahertz(1380)},
                  .memory_clock = ClockRange{Megahertz(877), Megahertz(877)}};
  const std::vector<Message> all = {
      Join{"run", "node one%", 3, 8, 4, "a\nb", {GpuId{"GPU-1"}, GpuId{"GPU-2"}}},
      Report{.iterations = 12,
             .by_marks = true,
             .epoch = 4,
             .may_set = true,
             .why_not = "x",
             .under_load = true,
             .tuning = true,
             .shift = "s",
             .tally = govern::Tally{11.5, TimePoint{123}, Joules(4.25), Seconds(1), Joules(2)}},
      Report{},
      Ack{1, true, {}},
      Ack{1, false, "no"},
      Received{2},
      Late{3, "late"},
      Bye{{.run = "r",
           .node = "n",
           .rank = 1,
           .duration = Seconds(2.5),
           .iterations = 9,
           .saved = Joules(-1),
           .gpus = {{GpuId{"GPU-1"}, "V100", Joules(7), Kind::modelled, Restoration::restored},
                    {GpuId{"GPU-2"}, "V100", std::nullopt, Kind::measured, std::nullopt}}}},
      Welcome{"run"},
      Refuse{"why"},
      Propose{5, 20, 10, Seconds(0.4), setting},
      Propose{5, 20, 10, Seconds(0.4), {}},
      Commit{5},
      Cancel{5, "why"},
      Halt{"why"},
      Stage{BlockRole::hold, "why"},
      Pulse{7}};
  for (const Message& one : all) {
    const std::string text = encode(one);
    const auto read = decode(text);
    ASSERT_TRUE(read) << text << read.error().what;
    EXPECT_EQ(encode(*read), text);
    EXPECT_EQ(read->index(), one.index());
  }
  EXPECT_EQ(std::get<Propose>(*decode(encode(all[10]))).setting, setting);
}

TEST(Messages, WhatIsWrongIsRefused) {
  for (const char* text :
       {"", "sing\n", "ack\n", "ack\nepoch x\n", "ack\nepoch -1\n", "ack\nepoch 1\nepoch 1\n",
        "report\niterations 1\nepoch 0\nwork 1 2\n", "stage\nrole king\n",
        "join\nrank 1\nworld 2\ncovers 1\ngpu \n", "propose\nepoch 1\nat 2\nnow 1\nsm-clock nan 1\n"})
    EXPECT_FALSE(decode(text)) << text;
  EXPECT_FALSE(decode(std::string(kLargestMessage + 1, 'x')));
}

TEST(Bootstrap, ReadsWhatLaunchersSet) {
  const auto slurm = job_place({{"SLURM_JOB_ID", "77"},
                                {"SLURM_STEP_ID", "0"},
                                {"SLURM_PROCID", "5"},
                                {"SLURM_LOCALID", "1"},
                                {"SLURM_NODEID", "1"},
                                {"SLURM_STEP_NUM_TASKS", "8"},
                                {"SLURM_STEP_NUM_NODES", "2"},
                                {"SLURM_STEP_TASKS_PER_NODE", "4(x2)"},
                                {"SLURM_STEP_NODELIST", "gpu[03-04]"}});
  ASSERT_TRUE(slurm);
  EXPECT_EQ(slurm->launcher, "srun");
  EXPECT_EQ(slurm->rank, 5);
  EXPECT_EQ(slurm->world, 8);
  EXPECT_EQ(slurm->local_world, 4);
  EXPECT_EQ(slurm->nodes, 2);
  EXPECT_EQ(slurm->host, "gpu03");
  const auto mpi = job_place({{"OMPI_COMM_WORLD_RANK", "2"},
                              {"OMPI_COMM_WORLD_SIZE", "4"},
                              {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                              {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                              {"PMIX_NAMESPACE", "123"}});
  ASSERT_TRUE(mpi);
  EXPECT_EQ(mpi->nodes, 2);
  EXPECT_EQ(mpi->host, "");
  const auto torch = job_place({{"RANK", "3"},
                                {"LOCAL_RANK", "1"},
                                {"WORLD_SIZE", "4"},
                                {"LOCAL_WORLD_SIZE", "2"},
                                {"GROUP_WORLD_SIZE", "2"},
                                {"MASTER_ADDR", "n0"},
                                {"MASTER_PORT", "29500"},
                                {"SLURM_JOB_ID", "1"}});
  ASSERT_TRUE(torch);
  EXPECT_EQ(torch->nodes, 2);
  EXPECT_EQ(torch->host, "n0");
  EXPECT_FALSE(job_place({}));
  EXPECT_FALSE(job_place(
      {{"RANK", "0"}, {"LOCAL_RANK", "0"}, {"WORLD_SIZE", "1"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "1"}}));
}

TEST(Bootstrap, HostListsAndTasksPerNode) {
  EXPECT_EQ(first_host("gpu[03-10,12],login1"), "gpu03");
  EXPECT_EQ(first_host("a1"), "a1");
  EXPECT_EQ(first_host("a1,b2"), "a1");
  EXPECT_EQ(first_host("rack[1-2]n[7-9]"), "rack1n7");
  EXPECT_EQ(first_host("n[1-2]-ib"), "n1-ib");
  EXPECT_EQ(first_host("broken[1"), "");
  EXPECT_EQ(tasks_on_node("4(x2),1", 1), 4);
  EXPECT_EQ(tasks_on_node("4(x2),1", 2), 1);
  EXPECT_FALSE(tasks_on_node("4(x2),1", 3));
  EXPECT_FALSE(tasks_on_node("4(y2)", 0));
}

TEST(Bootstrap, AgentsByHand) {
  const auto place = parse_job_place("1/2@node0:29401");
  ASSERT_TRUE(place);
  EXPECT_EQ(place->rank, 1);
  EXPECT_EQ(place->world, 2);
  EXPECT_EQ(place->host, "node0");
  EXPECT_EQ(place->port, 29401);
  EXPECT_EQ(place->job, parse_job_place("0/2@node0:29401")->job);
  for (const char* wrong : {"", "2/2@a:1", "0/2@a", "0/2@:1", "x/2@a:1", "0/2@a:0", "0/2@a:70000", "0@a:1"})
    EXPECT_EQ(parse_job_place(wrong).error().code, ErrorCode::invalid_argument) << wrong;
}

}  // namespace
}  // namespace rubato::agent
