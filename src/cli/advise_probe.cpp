#include "cli/advise_probe.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/fs_root.h"
#include "base/text.h"
#include "cli/records.h"
#include "conduct/job.h"

namespace rubato::cli {
namespace {

std::vector<std::string> words_of(const predict::KnobPoint& at, const Invocation& invocation,
                                  const std::string& report) {
  std::vector<std::string> words = {"/proc/self/exe", "run", "--json", "--report", report};
  const auto add = [&](const char* option, const auto& value) {
    if (!value) return;
    words.emplace_back(option);
    words.push_back(number(value->value(), 1));
  };
  if (!invocation.gpu.empty()) words.insert(words.end(), {"--gpu", invocation.gpu});
  if (invocation.quiet) words.emplace_back("--quiet");
  add("--power-limit", at.power_limit);
  add("--sm-clock", at.sm_clock);
  add("--memory-clock", at.memory_clock);
  words.emplace_back("--");
  words.insert(words.end(), invocation.command.begin(), invocation.command.end());
  return words;
}

/// With the signals this process was started with: the job is not to ignore what rubato ignores.
Status run_and_wait(const std::vector<std::string>& words) {
  const auto job = conduct::Job::start(words, {});
  if (!job) return fail(job.error().error);
  int status = 0;
  while (waitpid(job->pid(), &status, 0) < 0)
    if (errno != EINTR) return fail(from_errno(errno, "cannot wait for rubato run"));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return fail(ErrorCode::unavailable, "the command failed at the setting that was tried",
              "rubato show last says how far it came");
}

/// A file that goes away with this object.
class TemporaryFile {
 public:
  TemporaryFile() {
    path_ = (std::filesystem::temp_directory_path() / "rubato-advise-XXXXXX").string();
    const int fd = mkstemp(path_.data());
    if (fd >= 0) close(fd);
    made_ = fd >= 0;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (made_) unlink(path_.c_str());
  }
  [[nodiscard]] bool made() const { return made_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool made_ = false;
};

}  // namespace

Result<std::filesystem::path> run_at(const predict::KnobPoint& at, const Invocation& invocation) {
  const TemporaryFile report;
  if (!report.made()) return fail(from_errno(errno, cat("cannot create ", report.path())));
  if (const Status ran = run_and_wait(words_of(at, invocation, report.path())); !ran)
    return fail(ran.error());
  const auto text = read_small_file(report.path());
  if (!text) return fail(text.error());
  const auto document = nlohmann::json::parse(*text, nullptr, false);
  if (!document.is_object() || !document.contains("run_id") || !document["run_id"].is_string())
    return fail(ErrorCode::corrupt, "rubato run left no report of the setting that was tried");
  return find_record(document["run_id"].get<std::string>());
}

}  // namespace rubato::cli
