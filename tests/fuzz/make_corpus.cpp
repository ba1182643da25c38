// Writes the seeds of every fuzz target: OUT/<target>/<name>. They are made by the encoders themselves, so
// that they follow the formats wherever those go.
#include <rubato/kernel_layout.h>

#include <array>
#include <cstdio>
#include <span>

#include "agent/message.h"
#include "agent/seal.h"
#include "experiment/latency/latency_file.h"
#include "fuzz/target.h"
#include "guard/journal_format.h"
#include "meter/mcp39f511n/packet.h"
#include "plan/layers/layer_plan.h"
#include "record/chunk.h"
#include "record/sample_run.h"
#include "record/sensor_store.h"
#include "simgpu/trainer/kernel_writer.h"
#include "simgpu/trainer/mark_writer.h"
#include "wire/message.h"

namespace {

using namespace rubato;
using std::filesystem::path;

path g_out;

void seed(std::string_view target, const std::string& name, std::string_view bytes) {
  std::filesystem::create_directories(g_out / target);
  std::ofstream(g_out / target / name, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

void wire_seeds() {
  const GpuId gpu{"GPU-1"};
  const Setting setting{.power_limit = 150_W, .sm_clock = ClockRange{1005_MHz, 1005_MHz}};
  const std::vector<wire::Body> bodies{
      wire::Hello{.client = "rubato", .token = "abc"},
      wire::Acquire{.gpus = {gpu}, .knobs = {Knob::power_limit, Knob::sm_clock}, .max_slowdown = 0.05},
      wire::Apply{.gpu = gpu, .setting = setting},
      wire::Restore{.gpu = gpu},
      wire::Heartbeat{},
      wire::Release{},
      wire::StatusRequest{},
      wire::Welcome{.guard_pid = 7, .server = "rubatod 0.1.0", .mode = "observe"},
      wire::StatusReply{
          .mode = "manage",
          .gpus = {{.gpu = gpu, .name = "V100", .state = "free", .allowed = true, .why_not = "c"}},
          .last_refusal = "d"},
      wire::Granted{.found = {{.gpu = gpu, .limits = {100_W, 250_W, 250_W, 200_W, 200_W}, .note = "a b"}}},
      wire::Applied{.gpu = gpu, .requested_limit = 150_W},
      wire::Restored{.reports = {{.gpu = gpu, .outcome = Restoration::restored, .detail = "200 W"}}},
      wire::JobBegin{.slurm_job = 12, .user = 1000, .gpus = {gpu}},
      wire::JobEnd{.slurm_job = 12, .gpus = {gpu}},
      wire::Cleared{.gpus = {{.report = {.gpu = gpu, .outcome = Restoration::restored, .detail = "200 W"},
                              .energy = 3_J,
                              .duration = 4_s}}},
      wire::TimesRequest{.request = "apply"},
      wire::Timed{.request = "apply",
                  .parts = {{.name = "own", .sum = 1_s, .longest = 0.5_s, .bins = {{0.5_s, 3}}}}},
      wire::Refused{.error = {ErrorCode::conflict, "what", "hint"}}};
  std::uint64_t sequence = 1;
  std::string life;  // of a client of rubatod: what happens, then the datagram
  for (const auto& body : bodies)
    life += cat('\2', wire::encode({.sequence = sequence, .body = body}), '\xff');
  seed("fuzz_daemon", "life", life);
  seed("fuzz_daemon", "two", life + life);
  for (const auto& body : bodies)
    seed("fuzz_wire", cat("message-", sequence), wire::encode({.sequence = sequence, .body = body})),
        ++sequence;
}

void agent_seeds() {
  const Setting setting{.power_limit = 150_W, .sm_clock = ClockRange{1005_MHz, 1005_MHz}};
  const std::vector<agent::Message> messages{
      agent::Join{"run", "node", 1, 2, 1, "an SM clock", {GpuId{"GPU-1"}, GpuId{"GPU-2"}}},
      agent::Report{
          .iterations = 9, .by_marks = true, .tally = govern::Tally{.work = 9, .energy = Joules(1)}},
      agent::Ack{.epoch = 1, .yes = true},
      agent::Received{1},
      agent::Late{1, "late"},
      agent::Bye{{.run = "run", .gpus = {{.gpu = {"GPU-1"}, .restoration = Restoration::restored}}}},
      agent::Welcome{"run"},
      agent::Refuse{"why"},
      agent::Propose{1, 20, 10, Seconds(0.4), setting},
      agent::Commit{1},
      agent::Cancel{1, "why"},
      agent::Halt{"why"},
      agent::Stage{BlockRole::hold, "why"},
      agent::Pulse{7}};
  for (std::size_t i = 0; i < messages.size(); ++i)
    seed("fuzz_agent", cat("message-", i), agent::encode(messages[i]));
  const std::string greeting = cat(agent::kGreeting, std::string(agent::kNonceBytes, 'n'));
  seed("fuzz_agent", "stranger", cat(greeting, std::string("\0\0\0\x14", 4), std::string(20, 'x')));
}

void journal_seeds() {
  const std::array<guard::Record, 5> records{
      guard::Header{.gpu = {"GPU-1"}, .boot_id = "b", .driver_version = "535", .energy_mj = 1000},
      guard::LimitIntent{.found = 200_W, .previous = 200_W, .intended = 150_W},
      guard::LimitDone{.read_back = 150_W},
      guard::LockIntent{.knob = Knob::sm_clock, .intended = ClockRange{1005_MHz, 1005_MHz}},
      guard::LockDone{.knob = Knob::sm_clock, .state = ClockRange{1005_MHz, 1005_MHz}}};
  std::string text;
  for (const auto& record : records) {
    text += guard::print_record(record);
    seed("fuzz_journal", cat("lines-", text.size()), text);
  }
}

void record_seeds() {
  namespace data = record::testing_data;
  const std::array<FastReading, 3> fast{data::fast(0), data::fast(1), data::fast(2)};
  const std::array<SlowReading, 1> slow{SlowReading{.at = data::kBegin, .sm_clock = 1380_MHz}};
  record::ChunkEncoder encoder;
  const auto claimed = [](char samples, std::span<const char> blob) {
    return cat(samples, static_cast<char>(record::kChunkLayout), std::string(blob.begin(), blob.end()));
  };
  if (const auto chunk = encoder.encode(fast)) seed("fuzz_chunk", "fast", claimed('\3', *chunk));
  if (const auto chunk = encoder.encode(slow)) seed("fuzz_chunk", "slow", claimed('\1', *chunk));
  seed("fuzz_sensor_facts", "found", [] {
    const fuzz::Scratch scratch;
    (void)record::save_sensor_facts(scratch.folder(),
                                    {.gpu = {"GPU-1"}, .driver_version = "535", .update_period = 20_ms});
    std::ifstream in(scratch.folder() / "GPU-1.json", std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }());
  const data::Folder folder;
  auto writer = record::Writer::create(folder.path(), data::run_info());
  if (!writer) return;
  (*writer)->device(data::device_info());
  (*writer)->source(data::kGpu, data::counter_source());
  (void)data::write_tenths(**writer, 0, 25);
  const auto file = (*writer)->finish(data::run_end());
  if (!file) return;
  std::ifstream in(*file, std::ios::binary);
  seed("fuzz_record", "run", std::string(std::istreambuf_iterator<char>(in), {}));
}

void mark_seeds() {
  const fuzz::Scratch scratch;
  auto writer = sim_trainer::MarkWriter::create(scratch.folder(), 16);
  if (!writer) return;
  for (std::uint64_t i = 0; i < 20; ++i)
    writer->write(TimePoint{static_cast<std::int64_t>(i) * 1'000'000}, RUBATO_MARK_ITERATION_BEGIN, i);
  for (const auto& entry : std::filesystem::directory_iterator(scratch.folder())) {
    std::ifstream in(entry.path(), std::ios::binary);
    seed("fuzz_marks", "ring", std::string(std::istreambuf_iterator<char>(in), {}));
  }
}

void kernel_seeds() {
  const fuzz::Scratch scratch;
  auto marks = sim_trainer::MarkWriter::create(scratch.folder(), 16);
  auto writer = sim_trainer::KernelWriter::create(scratch.folder(), {.on = 2_s, .period = 3_s}, "GPU-1");
  if (!marks || !writer) return;
  for (std::int64_t i = 1; i < 10; ++i)
    writer->write({.begin = TimePoint{i * 1'000'000'000},
                   .end = TimePoint{(i + 1) * 1'000'000'000},
                   .segments = {{.phase = RUBATO_PHASE_FORWARD, .compute_s = 1}},
                   .runs = {{.seconds = 1, .compute_busy = 1, .kernel_busy = 1}}},
                  *marks);
  for (const auto& entry : std::filesystem::directory_iterator(scratch.folder())) {
    if (entry.path().extension() != ".kernels") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    std::string bytes(std::istreambuf_iterator<char>(in), {});
    // As if its capacity were 128: a seed of 4 MiB would only be slow.
    const std::uint32_t capacity = 128;
    bytes.replace(offsetof(rubato_mark_header, capacity), sizeof capacity,
                  reinterpret_cast<const char*>(&capacity), sizeof capacity);
    bytes.resize(sizeof(rubato_mark_header) + capacity * sizeof(rubato_kernel_record));
    seed("fuzz_kernels", "ring", bytes);
  }
}

void text_seeds() {
  seed("fuzz_scenario", "all", R"({"rights":"none","rate":20,"outlives_job":false,"seed":3,"temperature_c":60,
"found":{"power_limit_w":200},"energy_counter":false,"faults":[{"call":"set_power_limit","after":1,"count":2,
"effect":"clamp","to_w":180,"role":"guard"},{"effect":"slow","wall_ms":5}]})");
  seed("fuzz_scenario", "empty", "{}");
  const std::array<std::string_view, 6> lists{
      "0,1", "GPU-1a", "1B:00.0,0000:1c:00.0", "sim:v100,sim:a100", "-1,0", "MIG-GPU-1a/0/0"};
  for (std::size_t i = 0; i < lists.size(); ++i) seed("fuzz_selection", cat("list-", i), lists[i]);
  seed("fuzz_sweep_table", "two-rows",
       "# made "
       "up\ngpu,workload,group,power_limit_w,sm_clock_mhz,memory_clock_mhz,time_s,power_w,energy_j,default,"
       "feature_x\nv,a,a,250,,,1,200,200,1,0.5\nv,a,a,150,,,1.2,140,168,0,0.5\n");
  seed("fuzz_telemetry", "five-rows",
       "# made up\r\ntime_s,power_w,sm_util_pct,fan\n0,100,50,x\n0.1,nan,101,\n\"0.2\",-3,,\n,1,1,\n0.3,2");
}

void layer_seeds() {
  plan::LayerPlan plan;
  plan.board = "Tesla V100-PCIE-16GB";
  plan.uuid = "GPU-1";
  plan.network = "resnet50";
  plan.batch = 64;
  plan.parameters = 25'557'032;
  plan.input = "3x224x224";
  plan.strategy = "phase";
  plan.single = {1200_MHz, 877_MHz};
  plan.at_default = {0.4_s, 80_J};
  plan.at_single = {0.42_s, 72_J};
  plan.planned = {0.41_s, 70_J};
  plan.phases = {{"conv1", "fc", LayerPass::forward, {1380_MHz, 877_MHz}, 0.11_s, 20_J},
                 {"fc", "sgd", LayerPass::backward, {1005_MHz, 877_MHz}, 0.3_s, 50_J}};
  seed("fuzz_layer_plan", "two-phases", plan::write_layer_plan(plan));
  seed("fuzz_stage_profile", "two-stages",
       "# made up\nstage,instruction,frequency,time,energy\n0,forward,1410,0.05,12\n0,forward,1200,0.06,11\n"
       "0,backward,1410,0.1,25\n0,backward,1200,0.11,22\n1,forward,1410,0.05,12\n1,forward,1200,0.06,11\n"
       "1,backward,1410,0.1,25\n1,backward,1200,0.11,22\n");
  seed("fuzz_stage_profile", "other-order",
       "\"energy\",time,frequency,instruction,stage\r\n5,1,900,backward,0\r\n5,1,900,forward,0\r\n");
  experiment::LatencyTable latency{
      .uuid = "GPU-1", .gpu = "a board", .driver_version = "535", .load = "fp32"};
  const experiment::DelaySummary delays{0.02_s, 0.03_s, 0.3_s, 10, 1};
  latency.readout_period = 0.01_s;
  latency.pairs = {{.from = {900_MHz, 877_MHz}, .to = {1200_MHz, 877_MHz}, .clock = delays, .power = delays},
                   {.from = {1200_MHz, 877_MHz}, .to = {900_MHz, 877_MHz}, .lost = 2, .why_not = "heat"}};
  latency.overall = delays;
  seed("fuzz_latency", "two-pairs", experiment::write_latency(latency));
  seed("fuzz_network", "branches",
       R"({"schema":"rubato.network/1","name":"t","source":"s","input":[3,8,8],"batch":2,"precision":"bf16",
"optimizer":"adam","notes":["n"],"layers":[{"name":"c","kind":"conv","channels":4,"kernel":[3,3],"padding":"same",
"groups":1},{"name":"d","kind":"convtranspose","channels":4,"kernel":2,"stride":2,"inputs":["c"]},
{"name":"p","kind":"maxpool","kernel":2,"ceil":true},{"name":"a","kind":"add","inputs":["c","p"]},
{"name":"f","kind":"flatten"},{"name":"l","kind":"linear","features":3,"trainable":false},
{"name":"m","kind":"matmul","input_shapes":[[3],[3]],"output_shape":[1],"operations":6},
{"name":"x","kind":"lstm","input_shapes":[[5,3]],"output_shape":[null,7],"dynamic":[[1],[2]]}]})");
}

void meter_seeds() {
  seed("fuzz_meters_toml", "two-tables",
       "[rack]\nkind = \"snmp\"\nhost = \"pdu-3\"\ncommunity = \"env:HOME\"\nscale = 0.1\n\n"
       "[plug]\nkind = 'mqtt'\nport = 1883\ntls = false\nscope = \"node\"\n");
  seed("fuzz_meters_toml", "nested", "[a.b]\nkind = [1, { c = 1979-05-27 }]\n");
  // Asked for, answer: header, length, data, sum.
  std::string reply{8, 6, 11, 16, 39, 0, 0, 32, 78, 0, 0};
  const std::vector<std::uint8_t> packet(reply.begin() + 1, reply.end());
  reply += static_cast<char>(meter::mcp39f511n::checksum(packet));
  seed("fuzz_mcp_packet", "good", reply);
  seed("fuzz_mcp_packet", "after-noise", cat(reply.substr(0, 4), reply.substr(1)));
  seed("fuzz_mcp_packet", "refused", std::string{8, 0x15});
}

// The project's own profiles and workloads are the seeds of their parsers.
void copy_seeds(std::string_view target, const path& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    seed(target, entry.path().filename().string(), std::string(std::istreambuf_iterator<char>(in), {}));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: make_corpus SOURCE_FOLDER OUT_FOLDER\n");
    return 2;
  }
  g_out = argv[2];
  agent_seeds();
  wire_seeds();
  journal_seeds();
  record_seeds();
  mark_seeds();
  kernel_seeds();
  text_seeds();
  layer_seeds();
  meter_seeds();
  copy_seeds("fuzz_network", path(argv[1]) / "workloads" / "networks");
  copy_seeds("fuzz_profile", path(argv[1]) / "gpus");
  copy_seeds("fuzz_workload", path(argv[1]) / "workloads");
  return 0;
}
