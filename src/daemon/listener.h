// The socket that clients connect to, and who they are.
#pragma once

#include <filesystem>
#include <optional>

#include "base/fd.h"
#include "base/result.h"
#include "wire/peer.h"

namespace rubato::daemon {

struct Accepted {
  ScopedFd socket;  // does not block
  wire::Peer peer;
};

class Listener {
 public:
  /// In a folder that only this user may change. busy: another rubatod listens there.
  [[nodiscard]] static Result<Listener> open(const std::filesystem::path& path, mode_t mode);
  ~Listener();
  Listener(Listener&&) noexcept = default;
  Listener& operator=(Listener&&) = delete;

  [[nodiscard]] int fd() const { return socket_.get(); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Nothing where nobody waits.
  [[nodiscard]] std::optional<Accepted> accept() const;

 private:
  Listener(std::filesystem::path path, ScopedFd lock, ScopedFd socket)
      : path_(std::move(path)), lock_(std::move(lock)), socket_(std::move(socket)) {}

  std::filesystem::path path_;
  ScopedFd lock_;  // held: the file at path_ is ours to remove
  ScopedFd socket_;
};

}  // namespace rubato::daemon
