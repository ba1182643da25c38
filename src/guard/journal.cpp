#include "guard/journal.h"

#include <fcntl.h>

#include "base/text.h"

namespace rubato::guard {
namespace {

/// Some thousand settings: read in a moment, and far below what a reader takes for damage.
constexpr std::size_t kLongJournal = 256U << 10U;

}  // namespace

Result<Journal> Journal::create(const Folder& folder, const Header& header,
                                const std::vector<Record>& first) {
  auto fd = folder.open_file(header.gpu.uuid, O_RDWR | O_APPEND | O_CREAT | O_EXCL);
  if (!fd) return fail(fd.error());
  Journal journal(folder, std::move(*fd));
  std::string lines = print_record(header);
  bool fits = enter(journal.content_, header);
  for (const Record& record : first) {
    fits = fits && enter(journal.content_, record);
    lines += print_record(record);
  }
  if (!fits) return fail(ErrorCode::internal, "a journal cannot begin with the outcome of a write");
  if (const Status written = journal.write_lines(lines); !written) {
    (void)journal.discard();
    return fail(written.error());
  }
  return journal;
}

Result<std::optional<Journal>> Journal::open_left_behind(const Folder& folder, const GpuId& gpu) {
  auto fd = folder.open_file(gpu.uuid, O_RDWR | O_APPEND);
  if (!fd) {
    if (fd.error().code == ErrorCode::not_found) return std::nullopt;
    return fail(fd.error());
  }
  const auto bytes = folder.files().read_all(fd->get());
  if (!bytes) return fail(bytes.error());
  auto content = parse_journal(*bytes, gpu);
  if (!content) return fail(content.error());
  Journal journal(folder, std::move(*fd));
  if (!*content) {
    journal.content_.header.gpu = gpu;
    if (const Status gone = journal.discard(); !gone) return fail(gone.error());
    return std::nullopt;
  }
  journal.content_ = std::move(**content);
  journal.good_size_ = journal.content_.valid_bytes;
  journal.torn_ = bytes->size() > journal.good_size_;
  return journal;
}

Result<std::string> Journal::move_aside(const Folder& folder, const GpuId& gpu) {
  constexpr int kMost = 100;
  for (int i = 1; i <= kMost; ++i) {
    const std::string name = i == 1 ? gpu.uuid + ".corrupt" : cat(gpu.uuid, ".corrupt-", i);
    const Status moved = folder.files().rename(folder.fd(), gpu.uuid, name);
    if (moved) return (folder.path() / name).string();
    if (moved.error().code != ErrorCode::conflict) return fail(moved.error());
  }
  return fail(ErrorCode::io, cat(folder.path().string(), " holds ", kMost, " damaged journals of ", gpu.uuid),
              "look at them and remove them");
}

Status Journal::append(const Record& record) {
  JournalContent next = content_;
  if (!enter(next, record)) {
    return fail(ErrorCode::internal,
                cat("the journal of ", content_.header.gpu.uuid, " has no such intention"));
  }
  // One that cannot be shortened is still a journal.
  if (good_size_ > kLongJournal) (void)shorten();
  if (Status written = write_lines(print_record(record)); !written) return written;
  content_ = std::move(next);
  return {};
}

Status Journal::shorten() {
  const std::string name = content_.header.gpu.uuid + ".new";
  FileOps& files = folder_.files();
  (void)files.remove(folder_.fd(), name);  // of a guard that died in here
  auto fd = folder_.open_file(name, O_RDWR | O_APPEND | O_CREAT | O_EXCL);
  if (!fd) return fail(fd.error());
  const std::string lines = print_content(content_);
  Status done = files.append(fd->get(), lines);
  if (done) done = files.sync(fd->get());
  if (done) done = files.replace(folder_.fd(), name, content_.header.gpu.uuid);
  if (!done) {
    (void)files.remove(folder_.fd(), name);
    return done;
  }
  fd_ = std::move(*fd);
  good_size_ = lines.size();
  torn_ = false;
  return {};
}

Status Journal::write_lines(const std::string& lines) {
  FileOps& files = folder_.files();
  if (torn_) {
    if (Status cut = files.truncate(fd_.get(), good_size_); !cut) return cut;
    torn_ = false;
  }
  Status written = files.append(fd_.get(), lines);
  if (written) written = files.sync(fd_.get());
  if (!written) {
    // A full disk leaves half a line; a later record behind it would make the whole file unreadable.
    torn_ = !files.truncate(fd_.get(), good_size_);
    return written;
  }
  good_size_ += lines.size();
  return {};
}

Status Journal::discard() {
  return folder_.files().remove(folder_.fd(), content_.header.gpu.uuid);
}

}  // namespace rubato::guard
