#include "record/learned_store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "sample_run.h"

namespace rubato::record {
namespace {

using namespace testing_data;
namespace fs = std::filesystem;

const LearnedKey kKey{"0123456789abcdef", "Tesla V100-PCIE-16GB", "550.1"};

LearnedSetting learned() {
  return {.setting = {.power_limit = 150_W, .sm_clock = ClockRange{1005_MHz, 1005_MHz}},
          .time_ratio = 1.03,
          .energy_ratio = 0.8,
          .features = {{"dram_active", 0.4}},
          .learned_on = "2026-11-21",
          .run_id = "20261121-081500-1a2b"};
}

fs::path only_file(const fs::path& folder) {
  fs::path found;
  int files = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    found = entry.path();
    ++files;
  }
  EXPECT_EQ(files, 1);
  return found;
}

TEST(LearnedStore, GivesBackWhatWasKept) {
  const Folder folder;
  ASSERT_TRUE(save_learned(folder.path() / "learned", kKey, learned()));
  const auto read = load_learned(folder.path() / "learned", kKey);
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->setting, learned().setting);
  EXPECT_EQ(read->time_ratio, 1.03);
  EXPECT_EQ(read->energy_ratio, 0.8);
  EXPECT_EQ(read->features, learned().features);
  EXPECT_EQ(read->learned_on, "2026-11-21");
}

TEST(LearnedStore, TheFileIsTheOwnersAlone) {
  const Folder folder;
  ASSERT_TRUE(save_learned(folder.path() / "learned", kKey, learned()));
  struct stat facts {};
  ASSERT_EQ(stat(only_file(folder.path() / "learned").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600U);
}

TEST(LearnedStore, AnotherProgramGpuOrDriverKnowsNothing) {
  const Folder folder;
  ASSERT_TRUE(save_learned(folder.path(), kKey, learned()));
  for (const LearnedKey& other : {LearnedKey{"fedcba9876543210", kKey.gpu, kKey.driver_version},
                                  LearnedKey{kKey.program, "NVIDIA A100-PCIE-80GB", kKey.driver_version},
                                  LearnedKey{kKey.program, kKey.gpu, "560.0"}})
    EXPECT_EQ(load_learned(folder.path(), other).error().code, ErrorCode::not_found);
}

TEST(LearnedStore, GarbageIsCorruptAndWrittenOver) {
  const Folder folder;
  ASSERT_TRUE(save_learned(folder.path(), kKey, learned()));
  const fs::path file = only_file(folder.path());
  std::ifstream in(file);
  const std::string good{std::istreambuf_iterator<char>(in), {}};
  const auto with = [&](const std::string& what, const std::string& instead) {
    std::string text = good;
    return text.replace(text.find(what), what.size(), instead);
  };
  for (const std::string& bad :
       {std::string(), std::string("{"), std::string("[1]"), good.substr(0, good.size() / 2),
        with("\"time_ratio\": 1.03", "\"time_ratio\": -1"), with("rubato.learned/1", "rubato.learned/9"),
        with("Tesla", "Other")}) {
    std::ofstream(file) << bad;
    EXPECT_EQ(load_learned(folder.path(), kKey).error().code, ErrorCode::corrupt) << bad;
  }
  ASSERT_TRUE(save_learned(folder.path(), kKey, learned()));
  EXPECT_TRUE(load_learned(folder.path(), kKey));
}

TEST(LearnedStore, AnAbsurdFieldIsLeftOutWhereTheRestStands) {
  const Folder folder;
  LearnedSetting odd = learned();
  odd.setting.sm_clock = ClockRange{2000_MHz, 1000_MHz};
  ASSERT_TRUE(save_learned(folder.path(), kKey, odd));
  EXPECT_EQ(load_learned(folder.path(), kKey)->setting, (Setting{.power_limit = 150_W}));
}

TEST(LearnedStore, AFolderThatCannotBeWrittenIsAnError) {
  const Folder folder;
  std::ofstream(folder.path() / "file") << "no folder";
  EXPECT_FALSE(save_learned(folder.path() / "file" / "learned", kKey, learned()));
}

TEST(LearnedStore, AProgramIsItsWordsAndWhereItsFilesLie) {
  const Folder folder;
  fs::create_directories(folder.path() / "a");
  fs::create_directories(folder.path() / "b");
  std::ofstream(folder.path() / "a" / "train.py") << "1";
  std::ofstream(folder.path() / "b" / "train.py") << "2";
  const std::vector<std::string> command{"python3", "train.py", "--batch", "64"};
  const auto key = [&](const std::string& where, const std::vector<std::string>& words) {
    return program_key(words, folder.path() / where);
  };
  EXPECT_EQ(key("a", command), key("a", {"python3", "../a/train.py", "--batch", "64"}));
  EXPECT_NE(key("a", command), key("b", command));
  EXPECT_NE(key("a", command), key("a", {"python3", "train.py", "--batch", "128"}));
  EXPECT_NE(key("a", {"x", "yz"}), key("a", {"xy", "z"}));
  EXPECT_NE(key("a", {"x", ""}), key("a", {"x"}));
}

}  // namespace
}  // namespace rubato::record
