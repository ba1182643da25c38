#include "exporter/report_maker.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace rubato::exporter {
namespace {

constexpr std::size_t kMostWaiting = 8;
constexpr std::size_t kMostKept = 4;

/// Tells two states of a record apart, also of one that is still written.
std::string state_of_file(const std::filesystem::path& record) {
  std::string out;
  for (const char* suffix : {"", "-wal"}) {
    struct stat there {};
    if (stat(cat(record.string(), suffix).c_str(), &there) != 0) continue;
    out += cat(there.st_size, " ", there.st_mtim.tv_sec, ".", there.st_mtim.tv_nsec, "; ");
  }
  return out;
}

}  // namespace

ReportMaker::ReportMaker(Make make) : make_(std::move(make)), thread_([this] { work(); }) {}

void ReportMaker::end() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

HttpAnswer ReportMaker::ask(const std::filesystem::path& record,
                            std::vector<std::pair<std::string, std::string>> headers) {
  HttpAnswer out;
  const std::lock_guard lock(mutex_);
  if (wanted_.size() >= kMostWaiting || ending_) {
    out = text_answer(503, "Other reports are being made. Ask again in a few seconds.\n");
    out.headers.emplace_back("Retry-After", "5");
    return out;
  }
  out.later = std::make_shared<HttpLater>();
  wanted_.push_back({record, std::move(headers), out.later});
  changed_.notify_one();
  return out;
}

void ReportMaker::work() {
  for (;;) {
    Wanted wanted;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return ending_ || !wanted_.empty(); });
      if (ending_) return;
      wanted = std::move(wanted_.front());
      wanted_.pop_front();
    }
    wanted.later->give(made(wanted));
  }
}

HttpAnswer ReportMaker::made(const Wanted& wanted) {
  const std::string as_of = state_of_file(wanted.record);
  const auto known = std::ranges::find_if(
      kept_, [&](const Kept& k) { return k.record == wanted.record && k.as_of == as_of; });
  std::shared_ptr<const std::string> page;
  if (known != kept_.end()) {
    page = known->page;
  } else {
    auto fresh = make_(wanted.record, ending_);
    if (!fresh) return text_answer(500, cat(fresh.error().what, "\n\n", fresh.error().hint, "\n"));
    page = std::make_shared<const std::string>(std::move(*fresh));
    std::erase_if(kept_, [&](const Kept& k) { return k.record == wanted.record; });
    kept_.push_front({wanted.record, as_of, page});
    if (kept_.size() > kMostKept) kept_.pop_back();
  }
  return {200, "text/html; charset=utf-8", page, wanted.headers};
}

}  // namespace rubato::exporter
