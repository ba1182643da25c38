#include "experiment/evidence_scrub.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace rubato::experiment {
namespace {

TEST(Scrub, IdentifiersAndPathsGo) {
  EXPECT_EQ(scrubbed("GPU-51a0c2de-0000-4111-8222-0123456789ab is busy", {}), "... is busy");
  EXPECT_EQ(scrubbed("00000000:1B:00.0 fell off the bus", {}), "... fell off the bus");
  EXPECT_EQ(scrubbed("cannot open /home/ada/.local/state/rubato: full", {}), "cannot open ...: full");
  EXPECT_EQ(scrubbed("see '/run/rubato/x'.", {}), "see '...'.");
}

TEST(Scrub, NamesGoWhereTheyAreWordsAndOnlyThere) {
  EXPECT_EQ(scrubbed("ada on node7.lab", {"ada", "node7", "node7.lab"}), "... on ...");
  EXPECT_EQ(scrubbed("adaptive, Canada", {"ada"}), "adaptive, Canada");
  EXPECT_EQ(scrubbed("nothing", {""}), "nothing");
}

TEST(Scrub, UnitsFractionsAndOrdinaryWordsStay) {
  for (const char* text :
       {"0.2 J/s and/or 3/4", "Tesla V100-PCIE-16GB", "driver 550.54.14, 10 / 2", "a //", "/"})
    EXPECT_EQ(scrubbed(text, {}), text);
}

TEST(Scrub, ADocumentIsScrubbedToItsLastText) {
  nlohmann::ordered_json document = {{"a", {{{"why", "by ada"}}, 7, nullptr}}, {"ada", "x"}};
  scrub(document, {"ada"});
  EXPECT_EQ(document.dump(), R"({"a":[{"why":"by ..."},7,null],"ada":"x"})");
}

}  // namespace
}  // namespace rubato::experiment
