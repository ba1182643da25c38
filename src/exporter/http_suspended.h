// Connections that wait for somebody of ours. libmicrohttpd asks that none is left waiting when its server
// stops, and that none is woken twice.
#pragma once

#include <microhttpd.h>

#include <mutex>
#include <set>

namespace rubato::exporter {

class SuspendedConnections {
 public:
  /// On the server's thread. From the end on none waits any more.
  void suspend(MHD_Connection* connection) {
    const std::lock_guard lock(mutex_);
    if (ending_ || !waiting_.insert(connection).second) return;
    MHD_suspend_connection(connection);
  }
  /// From any thread; one that does not wait, or is gone, is left alone.
  void resume(MHD_Connection* connection) {
    const std::lock_guard lock(mutex_);
    if (waiting_.erase(connection) == 1) MHD_resume_connection(connection);
  }
  void end() {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    for (MHD_Connection* connection : waiting_) MHD_resume_connection(connection);
    waiting_.clear();
  }
  [[nodiscard]] bool ending() const {
    const std::lock_guard lock(mutex_);
    return ending_;
  }

 private:
  mutable std::mutex mutex_;
  std::set<MHD_Connection*> waiting_;
  bool ending_ = false;
};

}  // namespace rubato::exporter
