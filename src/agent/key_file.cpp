#include "agent/key_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/fd.h"
#include "base/text.h"

namespace rubato::agent {
namespace {

constexpr std::size_t kDigits = 2 * kSecretBytes;

Result<Secret> parse(const std::filesystem::path& file, std::string_view text) {
  const std::string_view digits = trim(text);
  Secret out{};
  for (std::size_t i = 0; i < out.size() && digits.size() == kDigits; ++i) {
    const auto byte = parse_hex(digits.substr(2 * i, 2));
    if (!byte) break;
    out[i] = static_cast<unsigned char>(*byte);
    if (i + 1 == out.size()) return out;
  }
  return fail(ErrorCode::corrupt,
              cat(file.string(), " is no key: it is not ", kDigits, " hexadecimal digits"),
              "make one with: openssl rand -hex 32");
}

/// Linked into its place whole, so that nobody reads half of it, and nobody's key is replaced.
Status make_key(const std::filesystem::path& file) {
  std::error_code ignored;
  std::filesystem::create_directories(file.parent_path(), ignored);
  std::string made = cat(file.string(), ".XXXXXX");
  const ScopedFd fd(mkostemp(made.data(), O_CLOEXEC));  // 0600
  if (!fd.is_open()) return fail(from_errno(errno, cat("cannot make ", file.string())));
  std::string text;
  for (const unsigned char byte : fresh_secret()) text += hex(byte, 2);
  text += '\n';
  const bool written =
      write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) && fsync(fd.get()) == 0;
  const int linked = written ? link(made.c_str(), file.c_str()) : -1;
  const int why = errno;
  unlink(made.c_str());
  if (linked != 0 && why != EEXIST) return fail(from_errno(why, cat("cannot make ", file.string())));
  return {};
}

}  // namespace

Result<Secret> read_key_file(const std::filesystem::path& file, bool make) {
  if (make && access(file.c_str(), F_OK) != 0)
    if (const Status made = make_key(file); !made) return fail(made.error());
  const ScopedFd fd(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd.is_open())
    return fail(from_errno(errno, cat("cannot open the key ", file.string()),
                           "it has to be the same file on every node of the job"));
  struct stat is {};
  if (fstat(fd.get(), &is) != 0 || !S_ISREG(is.st_mode) || is.st_uid != geteuid() ||
      (is.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return fail(ErrorCode::no_permission,
                cat(file.string(), " is not this user's own file of mode 0600, so it is no secret"),
                cat("chmod 600 ", file.string()));
  std::array<char, 4 * kDigits> buffer{};
  const ssize_t got = read(fd.get(), buffer.data(), buffer.size());
  if (got < 0) return fail(from_errno(errno, cat("cannot read ", file.string())));
  return parse(file, {buffer.data(), static_cast<std::size_t>(got)});
}

}  // namespace rubato::agent
