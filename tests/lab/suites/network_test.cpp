#include "lab/suites/network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace rubato::lab {
namespace {

using testing::HasSubstr;

constexpr std::string_view kHeading =
    "network,family,kind,gmacs,mactivations,mparameters,operators,optimizer,load_us,host_us,rtx3090_per_s,"
    "source\n";

TEST(Networks, EachRowHasASourceAndPlausibleShapes) {
  for (const Network& n : networks()) {
    EXPECT_GT(n.source.size(), 20U) << n.name;
    EXPECT_THAT(n.source, testing::ContainsRegex("[0-9]")) << n.name << ": no table, section or year";
    EXPECT_GT(n.multiply_adds, 0) << n.name;
    EXPECT_LT(n.multiply_adds, 1e12) << n.name;
    EXPECT_GT(n.activations, 0) << n.name;
    EXPECT_GT(n.parameters, 0) << n.name;
    EXPECT_GE(n.operators, 4) << n.name;
    // A multiply-add makes less than one element, and an element takes less than 100,000 of them.
    EXPECT_LT(n.activations, n.multiply_adds * 20) << n.name;
    EXPECT_LT(n.multiply_adds, n.activations * 1e5) << n.name;
  }
}

TEST(Networks, AreNamedOnce) {
  std::set<std::string> names;
  for (const Network& n : networks()) EXPECT_TRUE(names.insert(n.name).second) << n.name;
}

TEST(Networks, AreAllTrainedSomewhere) {
  std::set<const Network*> trained;
  for (const Training& t : desktop_trainings()) trained.insert(t.network);
  for (const Training& t : server_trainings()) trained.insert(t.network);
  EXPECT_EQ(trained.size(), networks().size());
}

TEST(Networks, TrainingsHaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const Training& t : desktop_trainings()) EXPECT_TRUE(names.insert(name_of(t)).second) << name_of(t);
  EXPECT_EQ(names.size(), 71U);
  EXPECT_EQ(server_trainings().size(), 30U);
}

TEST(Networks, ReadARow) {
  const auto read = parse_networks(std::string(kHeading) +
                                   "tiny,family,grouped,2,3,4,5,adam,6,7,,\"Somebody 2020, table 1\"\n");
  ASSERT_TRUE(read) << read.error().what;
  const Network& n = read->front();
  EXPECT_EQ(n.kind, OperatorClass::grouped);
  EXPECT_DOUBLE_EQ(n.multiply_adds, 2e9);
  EXPECT_DOUBLE_EQ(n.activations, 3e6);
  EXPECT_DOUBLE_EQ(n.parameters, 4e6);
  EXPECT_DOUBLE_EQ(n.load_s, 6e-6);
  EXPECT_DOUBLE_EQ(n.host_s, 7e-6);
  EXPECT_EQ(n.optimizer, Optimizer::adam);
  EXPECT_FALSE(n.rtx3090_per_s);
}

TEST(Networks, ErrorsNameTheLine) {
  const auto wrong = [](std::string_view row) {
    const auto read = parse_networks(std::string(kHeading) + "# a comment\n" + std::string(row));
    return read ? std::string("no error") : read.error().what;
  };
  EXPECT_THAT(wrong("tiny,f,round,1,1,1,1,sgd,0,0,,s\n"), HasSubstr("line 3: 'round'"));
  EXPECT_THAT(wrong("tiny,f,matrix,-1,1,1,1,sgd,0,0,,s\n"), HasSubstr("line 3: '-1'"));
  EXPECT_THAT(wrong("tiny,f,matrix,1,1,1,1,sgd,0,0,,\n"), HasSubstr("without a source"));
  EXPECT_THAT(wrong("tiny,f,matrix\n"), HasSubstr("3 cells, not 12"));
}

TEST(Networks, ATrainingOfAnUnknownNetworkIsRefused) {
  const auto read = parse_trainings("network,batch,precision\nnothing,1,amp\n", networks());
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().what, HasSubstr("line 2: there is no network 'nothing'"));
  EXPECT_FALSE(parse_trainings("network,batch,precision\nresnet50,0,amp\n", networks()));
}

}  // namespace
}  // namespace rubato::lab
