#include "cli/report/series.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "base/text.h"
#include "record/writer.h"

namespace rubato::cli {
namespace {

using report::Cell;
using testing::HasSubstr;

constexpr TimePoint kBegin{1'000'000'000'000};
constexpr std::uint64_t kHash = 16'877'474'089'224'050'737U;  // as of a name: the highest bit is set
const GpuId kFirst{"GPU-a"};
const GpuId kSecond{"GPU-b"};

using CellRows = std::vector<std::vector<Cell>>;

/// A finished record of two GPUs: one sampled every 0.5 s, the other every second, both for a minute.
class SeriesTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) / cat("rubato-series-", getpid());
    std::filesystem::remove_all(folder_);
    record::RunInfo info;
    info.run_id = "20261121-081500-1a2b";
    info.mode = "run";
    info.command = {"python", "a\nb"};
    info.begin = kBegin;
    auto writer = record::Writer::create(folder_, info);
    ASSERT_TRUE(writer) << writer.error().what;
    for (const auto& [id, index] : {std::pair{kFirst, 0U}, std::pair{kSecond, 1U}}) {
      record::DeviceInfo device;
      device.identity = {id, "Tesla V100", index, "00000000:1B:00.0"};
      device.kind = Kind::modelled;
      (*writer)->device(device);
    }
    (*writer)->source(kFirst, {"power", "W", Scope::gpu, Kind::modelled, "as read"});
    for (int tick = 0; tick < 120; ++tick) {
      const TimePoint at = kBegin + Seconds(0.5 * tick);
      (*writer)->sample(kFirst, FastReading{.at = at, .power = Watts(100 + tick)});
      if (tick % 2 == 0) {
        (*writer)->sample(kSecond, FastReading{.at = at, .energy_counter = Joules(tick)});
        (*writer)->sample(kFirst, SlowReading{.at = at, .sm_clock = 1380_MHz});
      }
      ASSERT_TRUE((*writer)->step(at));
    }
    (*writer)->mark({.at = kBegin + 1_s, .kind = 17, .id = kHash, .detail = {25'557'032, kHash, 0, 0}});
    for (int i = 0; i < 3; ++i) (*writer)->iteration({i, kBegin + Seconds(i), kBegin + Seconds(i + 1)});
    (*writer)->statement(
        {.gpu = kSecond,
         .estimate = {.at = kBegin + 2_s, .periodic = true, .period = 1_s, .confidence = 0.9},
         .used = true,
         .check = {}});
    (*writer)->rate({std::nullopt, {.begin = kBegin, .end = kBegin + 2_s, .per_second = 0.5}});
    (*writer)->shift({kSecond, {kBegin + 3_s, kBegin + 4_s, "power", 100, 200, "W", "more"}});
    record::FeatureWindow counted{
        .gpu = kFirst, .provider = "gpm", .features = {}, .setting = {}, .why = "found"};
    counted.features.begin = kBegin + 2_s;
    counted.features.end = kBegin + 6_s;
    counted.features[Feature::sm_active] = 0.75;
    counted.features[Feature::dram_active] = 0.5;
    (*writer)->features(counted);
    (*writer)->expectation({kBegin + 5_s,
                            {{{.setting = Setting{.power_limit = 150_W},
                               .time = {1.05, 1.01, 1.09},
                               .energy = {0.8, 0.7, 0.9},
                               .holds = 0.5}}}});
    (*writer)->decision({kBegin + 5_s, "hold", Setting{.power_limit = 150_W}, "because, and so"});
    (*writer)->block({.role = BlockRole::hold,
                      .gpu = kSecond,
                      .setting = Setting{.power_limit = 150_W},
                      .begin = kBegin + 5_s,
                      .end = kBegin + 60_s,
                      .iterations = 3});
    const auto file = (*writer)->finish({.end = kBegin + 60_s, .exit_code = 0});
    ASSERT_TRUE(file) << file.error().what;
    file_ = *file;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  CellRows read(Series series) {
    const auto reader = SeriesReader::open(file_);
    EXPECT_TRUE(reader) << reader.error().what;
    const auto rows = reader->rows(series);
    EXPECT_TRUE(rows);
    CellRows table;
    std::vector<Cell> row;
    while (true) {
      row.clear();
      const auto more = (*rows)->next(row);
      EXPECT_TRUE(more) << more.error().what;
      if (!more || !*more) return table;
      EXPECT_EQ(row.size(), (*rows)->columns().size());
      table.push_back(row);
    }
  }

  std::filesystem::path folder_;
  std::filesystem::path file_;
};

TEST_F(SeriesTest, OfSamplesIsOneTimeAxisWithARowPerGpuAndMoment) {
  const CellRows rows = read(Series::samples);
  ASSERT_EQ(rows.size(), 180U) << "120 of the first GPU, 60 of the second";
  double last = 0;
  for (const auto& row : rows) {
    EXPECT_GE(std::get<double>(row[0]), last);
    last = std::get<double>(row[0]);
  }
  EXPECT_EQ(last, 59.5);
  // At the begin: a fast and a slow reading of GPU 0 in one row, then GPU 1.
  EXPECT_EQ(rows[0][1], Cell(std::int64_t{0}));
  EXPECT_EQ(rows[0][2], Cell(100.0));
  EXPECT_EQ(rows[0][8], Cell(1380.0));
  EXPECT_EQ(rows[1][1], Cell(std::int64_t{1}));
  EXPECT_EQ(rows[1][2], Cell()) << "power of the second GPU was not read";
  EXPECT_EQ(rows[1][3], Cell(0.0)) << "and this zero was";
  EXPECT_EQ(rows[2][8], Cell()) << "half a second later only power was read";
}

TEST_F(SeriesTest, WhoWatchesIsToldOfEveryRow) {
  auto reader = SeriesReader::open(file_);
  ASSERT_TRUE(reader) << reader.error().what;
  EXPECT_EQ(reader->rows_about(Series::samples), 180U);
  EXPECT_EQ(reader->rows_about(Series::decisions), 0U) << "nobody waits for these";
  std::size_t told = 0;
  reader->watch([&told](std::size_t rows) { told += rows; });
  const auto rows = reader->rows(Series::samples);
  ASSERT_TRUE(rows);
  std::vector<Cell> row;
  while ((*rows)->next(row).value()) row.clear();
  EXPECT_EQ(told, 180U);
}

TEST_F(SeriesTest, OfEverythingElseHasARowForEach) {
  const CellRows iterations = read(Series::iterations);
  ASSERT_EQ(iterations.size(), 3U);
  EXPECT_EQ(iterations[2], (std::vector<Cell>{std::int64_t{2}, 2.0, 3.0, 1.0, std::string("marks")}));
  const CellRows decisions = read(Series::decisions);
  ASSERT_EQ(decisions.size(), 1U);
  EXPECT_EQ(decisions[0][0], Cell(5.0));
  EXPECT_EQ(decisions[0][2], Cell(150.0));
  EXPECT_EQ(decisions[0].back(), Cell(std::string("because, and so")));
  const CellRows expected = read(Series::expectations);
  ASSERT_EQ(expected.size(), 1U);
  EXPECT_EQ(expected[0][0], Cell(5.0));
  EXPECT_EQ(expected[0][1], Cell(150.0));
  EXPECT_EQ(expected[0][8], Cell(1.05));
  EXPECT_EQ(expected[0][14], Cell(0.5));
  EXPECT_EQ(expected[0].back(), Cell(std::int64_t{1}));
  const CellRows blocks = read(Series::blocks);
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_EQ(blocks[0][2], Cell(std::int64_t{1}));
  EXPECT_EQ(blocks[0][3], Cell(std::string("hold")));
  EXPECT_EQ(blocks[0].back(), Cell()) << "its energy could not be read";
}

TEST_F(SeriesTest, OfMarksHasIdsAndDetailsAsTheyWereMarked) {
  const CellRows marks = read(Series::marks);
  ASSERT_EQ(marks.size(), 1U);
  EXPECT_EQ(marks[0][1], Cell(std::string("model")));
  EXPECT_EQ(marks[0][3], Cell(kHash));
  EXPECT_EQ(marks[0][8], Cell(std::uint64_t{25'557'032}));
  EXPECT_EQ(marks[0][9], Cell(kHash));
}

TEST_F(SeriesTest, OfWhatWasKnownOfTheIterationHasARowForEach) {
  const CellRows statements = read(Series::statements);
  ASSERT_EQ(statements.size(), 1U);
  EXPECT_EQ(statements[0][1], Cell(std::int64_t{1}));
  EXPECT_EQ(statements[0][2], Cell(std::string("telemetry")));
  EXPECT_EQ(statements[0][6], Cell()) << "launches were not told";
  EXPECT_EQ(statements[0][7], Cell(1.0));
  const CellRows rates = read(Series::rates);
  ASSERT_EQ(rates.size(), 1U);
  EXPECT_EQ(rates[0][2], Cell()) << "it is the job's";
  EXPECT_EQ(rates[0][4], Cell(0.5));
  const CellRows shifts = read(Series::shifts);
  ASSERT_EQ(shifts.size(), 1U);
  EXPECT_EQ(shifts[0][1], Cell(4.0));
  EXPECT_EQ(shifts[0][5], Cell(200.0));
  const CellRows features = read(Series::features);
  ASSERT_EQ(features.size(), 2U) << "one for each counter that was read";
  EXPECT_EQ(features[0], (std::vector<Cell>{2.0, 6.0, std::int64_t{0}, std::string("gpm"),
                                            std::string("sm_active"), 0.75, std::string("found")}));
}

TEST_F(SeriesTest, TellsItsFactsInLinesThatStayOne) {
  const auto reader = SeriesReader::open(file_);
  ASSERT_TRUE(reader);
  const auto facts = reader->facts();
  ASSERT_TRUE(facts);
  for (const std::string& fact : *facts) EXPECT_EQ(fact.find('\n'), std::string::npos) << fact;
  EXPECT_THAT(*facts, testing::Contains(HasSubstr("source of gpu 0: power, W, gpu, modelled")));
  EXPECT_THAT(*facts, testing::Contains(HasSubstr("gpu 1: Tesla V100, GPU-b, modelled")));
}

TEST_F(SeriesTest, OfWhatIsNoRecordSaysSo) {
  const auto reader = SeriesReader::open(folder_);
  ASSERT_FALSE(reader);
  EXPECT_THAT(reader.error().what, HasSubstr(folder_.string()));
}

}  // namespace
}  // namespace rubato::cli
