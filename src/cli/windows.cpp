// `rubato windows`: measures for a program that opens and closes stretches over this process's standard
// input, one request and one answer a line (docs/python.md). Sets nothing.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>

#include "base/log.h"
#include "base/text.h"
#include "cli/gpus.h"
#include "cli/invocation.h"
#include "cli/job_options.h"
#include "cli/window_gpus.h"
#include "cli/window_json.h"
#include "cli/window_meters.h"
#include "conduct/patience.h"
#include "measure/window_book.h"
#include "report/render.h"
#include "report/value.h"

namespace rubato::cli {
namespace {

using report::Amount;
using report::Object;
using report::Value;

constexpr std::size_t kLongestRequest = 4096;

Value gpu_json(const measure::ClosedWindow::OfGpu& of) {
  Object out{{"uuid", of.identity.id.uuid}, {"name", of.identity.name}, {"index", of.identity.index}};
  set_energy(out, of.energy, of.why_missing);
  return out;
}

Object answer_of(const measure::ClosedWindow& window, report::Array meters) {
  report::Array gpus;
  for (const auto& of : window.gpus) gpus.emplace_back(gpu_json(of));
  return Object{{"schema", "rubato.window/1"},
                {"name", window.name},
                {"seconds", Amount{(window.end - window.begin).value(), "s"}},
                {"gpus", std::move(gpus)},
                {"meters", std::move(meters)}};
}

template <class Quantity>
Value value_or_missing(const std::optional<Quantity>& quantity, const char* unit, const std::string& why) {
  if (!quantity) return report::Missing{why.empty() ? "the driver does not tell it" : why};
  return Amount{quantity->value(), unit};
}

Value readings_json(const measure::GpuReadings& of) {
  const FastReading fast = of.fast.value_or(FastReading{});
  const SlowReading slow = of.slow.value_or(SlowReading{});
  const std::string& why = of.why_missing;
  return Object{{"uuid", of.identity.id.uuid},
                {"name", of.identity.name},
                {"index", of.identity.index},
                {"power_w", value_or_missing(fast.power, "W", why)},
                {"power_limit_w", value_or_missing(slow.requested_limit, "W", why)},
                {"temperature_c", value_or_missing(slow.temperature, "°C", why)},
                {"sm_clock_mhz", value_or_missing(slow.sm_clock, "MHz", why)},
                {"memory_clock_mhz", value_or_missing(slow.memory_clock, "MHz", why)},
                {"kind", name_of(of.kind)},
                {"why_missing", why}};
}

Object answer_of(const std::vector<measure::GpuReadings>& readings) {
  report::Array gpus;
  for (const auto& of : readings) gpus.emplace_back(readings_json(of));
  return Object{{"schema", "rubato.window/1"}, {"gpus", std::move(gpus)}};
}

Object answer_of(const Error& error) {
  return Object{{"schema", "rubato.window/1"}, {"error", error.what}, {"hint", error.hint}};
}

void tell(Object answer, const std::string& why_no_gpu) {
  if (!why_no_gpu.empty()) answer.set("why_missing", why_no_gpu);
  std::fputs(report::render_json_line(Value(std::move(answer))).c_str(), stdout);
  std::fflush(stdout);
}

class Service {
 public:
  Service(OpenGpus open, std::string why_no_gpu, const std::vector<std::string>& meters)
      : open_(std::move(open)), why_no_gpu_(std::move(why_no_gpu)) {
    clock_ = open_.selection.backend ? open_.selection.backend->clock() : std::make_shared<RealClock>();
    std::vector<device::Gpu*> gpus;
    std::vector<SensorFacts> sensors;
    for (const auto& gpu : open_.gpus) {
      gpus.push_back(gpu.get());
      sensors.push_back(known_sensor(*open_.selection.backend, *gpu));
    }
    book_.emplace(std::move(gpus), sensors, clock_->now());
    meters_.emplace(meters, clock_);
  }

  /// Until the program at the other end is gone or says `quit`.
  int serve() {
    std::string pending;
    for (;;) {
      book_->step(clock_->now());
      meters_->step(clock_->now());
      pollfd input{STDIN_FILENO, POLLIN, 0};
      const int ready = poll(&input, 1, patience_ms());
      if (ready < 0 && errno != EINTR) return 1;
      if (ready <= 0) continue;
      std::array<char, 512> buffer{};
      const ssize_t got = read(STDIN_FILENO, buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return 0;
      pending.append(buffer.data(), static_cast<std::size_t>(got));
      for (std::size_t end = pending.find('\n'); end != std::string::npos; end = pending.find('\n')) {
        const std::string request = pending.substr(0, end);
        pending.erase(0, end + 1);
        if (request == "quit") return 0;
        carry_out(request);
      }
      if (pending.size() > kLongestRequest) {
        pending.clear();
        tell(answer_of(Error{ErrorCode::invalid_argument,
                             cat("a request is longer than ", kLongestRequest, " bytes"),
                             {}}),
             why_no_gpu_);
      }
    }
  }

  /// False: a meter hangs.
  [[nodiscard]] bool finish() { return meters_->finish(); }

 private:
  [[nodiscard]] int patience_ms() const {
    auto due = meters_->next_due();
    if (!open_.gpus.empty()) due = due ? std::min(*due, book_->next_due()) : book_->next_due();
    if (!due) return -1;
    const double ms = clock_->wall(*due - clock_->now()).value() * 1e3;
    return static_cast<int>(std::clamp(std::ceil(ms), 0.0, 60'000.0));
  }

  void carry_out(const std::string& request) {
    const auto name_after = [&](std::string_view verb) -> std::optional<std::string> {
      return request.starts_with(verb) ? std::optional(request.substr(verb.size())) : std::nullopt;
    };
    const TimePoint now = clock_->now();
    if (const auto begun = name_after("begin ")) {
      const Status status = book_->begin(*begun, now);
      if (status) meters_->begin(now);
      return tell(status ? Object{{"schema", "rubato.window/1"}, {"name", *begun}, {"open", true}}
                         : answer_of(status.error()),
                  why_no_gpu_);
    }
    if (const auto ended = name_after("end ")) {
      const auto closed = book_->end(*ended, now);
      return tell(closed ? answer_of(*closed, meters_->end(closed->begin, now)) : answer_of(closed.error()),
                  why_no_gpu_);
    }
    if (request == "now") return tell(answer_of(book_->readings()), why_no_gpu_);
    tell(answer_of(Error{ErrorCode::invalid_argument, cat("'", request, "' is no request"),
                         "begin NAME, end NAME, now, quit"}),
         why_no_gpu_);
  }

  OpenGpus open_;
  std::string why_no_gpu_;
  std::shared_ptr<const Clock> clock_;
  std::optional<measure::WindowBook> book_;
  std::optional<WindowMeters> meters_;
};

int windows(Invocation& invocation, bool cuda_numbers, const std::vector<std::string>& meters) {
  auto open = open_window_gpus(invocation.gpu, cuda_numbers);
  // Without a GPU the program that asks goes on, and is told why it gets no joules.
  if (!open && !invocation.gpu.empty()) return refuse(invocation, open.error());
  const std::string why = open ? std::string() : open.error().what;
  Service service(open ? std::move(*open) : OpenGpus{}, why, meters);
  const int status = service.serve();
  if (!service.finish()) conduct::leave_now(status);
  return status;
}

}  // namespace

void add_windows(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand(
      "windows", "measure named stretches for another program, over standard input and output");
  add_common(*command, invocation);
  auto cuda_numbers = std::make_shared<bool>(false);
  command->add_flag(
      "--cuda-numbers", *cuda_numbers,
      "numbers after --gpu count the GPUs that CUDA_VISIBLE_DEVICES shows this process, not the driver's");
  auto options = std::make_shared<JobOptions>();
  add_meter_option(*command, *options);
  command->callback([&invocation, cuda_numbers, options] {
    invocation.status = windows(invocation, *cuda_numbers, options->meters);
  });
}

}  // namespace rubato::cli
