#include "record/index.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <vector>

#include "base/fd.h"
#include "base/text.h"

namespace rubato::record {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kHeader = "rubato-index/1";
constexpr std::size_t kFields = 9;

// A field may hold any byte (command lines do): what would break a line or a field is written as %XX.
std::string escape(std::string_view raw) {
  std::string out;
  for (const char c : raw) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == '%' || byte == 0x7f)
      out += cat('%', hex(byte, 2));
    else
      out += c;
  }
  return out;
}

std::string unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto value = text[i] == '%' ? parse_hex(text.substr(i + 1, 2)) : std::nullopt;
    if (!value) {
      out += text[i];
      continue;
    }
    out += static_cast<char>(*value);
    i += 2;
  }
  return out;
}

template <class T>
std::string or_dash(const std::optional<T>& value) {
  return value ? number(static_cast<double>(*value)) : "-";
}

std::string line_of(const IndexEntry& entry) {
  const RunSummary& run = entry.summary;
  std::string command;
  for (const std::string& argument : run.command) command += argument + '\0';
  const std::vector<std::string> fields = {run.file.filename().string(),
                                           cat(entry.size),
                                           cat(entry.modified_ns),
                                           run.run_id,
                                           run.mode,
                                           run.started_at,
                                           run.duration ? number(run.duration->value()) : "-",
                                           cat(or_dash(run.exit_code), ",", or_dash(run.exit_signal)),
                                           command};
  std::string line;
  for (const std::string& field : fields) line += cat(line.empty() ? "" : "\t", escape(field));
  return line + "\n";
}

std::optional<int> optional_int(std::string_view text) {
  const auto value = parse_integer(text);
  return value ? std::optional(static_cast<int>(*value)) : std::nullopt;
}

std::optional<IndexEntry> parse_line(const fs::path& directory, std::string_view line) {
  std::vector<std::string> fields = split(line, '\t');
  if (fields.size() != kFields) return std::nullopt;
  for (std::string& field : fields) field = unescape(field);
  const auto size = parse_integer(fields[1]);
  const auto modified = parse_integer(fields[2]);
  const std::vector<std::string> exits = split(fields[7], ',');
  const fs::path name = fields[0];
  if (!size || *size < 0 || !modified || exits.size() != 2 || name != name.filename()) return std::nullopt;
  IndexEntry entry;
  entry.size = static_cast<std::uintmax_t>(*size);
  entry.modified_ns = *modified;
  RunSummary& run = entry.summary;
  run.file = directory / name;
  run.run_id = fields[3];
  run.mode = fields[4];
  run.started_at = fields[5];
  if (const auto duration = parse_number(fields[6])) run.duration = Seconds(*duration);
  run.exit_code = optional_int(exits[0]);
  run.exit_signal = optional_int(exits[1]);
  run.command = split(fields[8], '\0');
  run.command.pop_back();  // every argument ends with NUL, so the last piece is empty
  return entry;
}

bool write_all(int fd, std::string_view text) {
  return ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

}  // namespace

fs::path index_file(const fs::path& directory) {
  return directory / "index.tsv";
}

Index read_index(const fs::path& directory) {
  Index index;
  std::ifstream in(index_file(directory), std::ios::binary);
  std::string line;
  index.damaged = !std::getline(in, line) || line != kHeader;
  while (!index.damaged && std::getline(in, line)) {
    auto entry = parse_line(directory, line);
    if (entry)
      index.by_file_name[entry->summary.file.filename().string()] = std::move(*entry);
    else
      index.damaged = true;
  }
  return index;
}

void append_to_index(const IndexEntry& entry) {
  const fs::path file = index_file(entry.summary.file.parent_path());
  const ScopedFd fd(::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  if (!fd.is_open()) return;
  struct stat there {};
  const bool fresh = ::fstat(fd.get(), &there) == 0 && there.st_size == 0;
  // One write, so that two runs that end together do not mix their lines.
  static_cast<void>(write_all(fd.get(), cat(fresh ? cat(kHeader, "\n") : "", line_of(entry))));
}

void write_index(const fs::path& directory, const Index& index) {
  std::string text = cat(kHeader, "\n");
  for (const auto& [name, entry] : index.by_file_name) text += line_of(entry);
  const fs::path part = directory / cat(".index.", ::getpid(), ".part");
  const ScopedFd fd(::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd.is_open()) return;
  if (!write_all(fd.get(), text) || ::rename(part.c_str(), index_file(directory).c_str()) != 0)
    ::unlink(part.c_str());
}

bool stamp(IndexEntry& entry) {
  struct stat there {};
  if (::stat(entry.summary.file.c_str(), &there) != 0) return false;
  entry.size = static_cast<std::uintmax_t>(there.st_size);
  entry.modified_ns = there.st_mtim.tv_sec * 1'000'000'000 + there.st_mtim.tv_nsec;
  return true;
}

}  // namespace rubato::record
