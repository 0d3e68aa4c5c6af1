#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <zmq.hpp>

#include "core/net/zmq/zmq_socket.h"

namespace forebay {

/// The public keys in the *.key files of a folder, kept up to date with the files.
///
/// Skips a file that holds no key and reports it once; the keys of all other files count. Rereads
/// only changed files, detected by size, times and inode number. For two seconds after a change it
/// also rereads the content, since two writes may have the same time on a disk with a coarse clock.
/// While the folder cannot be read no key counts. Belongs to one thread.
class KeyFolder {
 public:
  using Time = std::chrono::nanoseconds;
  using Say = std::function<void(const std::string&)>;

  /// The maximum number of files that are read; the surplus is reported.
  static constexpr std::size_t kMostFiles = 16'384;
  /// Time between two scans of all files.
  static constexpr std::chrono::seconds kPeriod{1};

  /// `say` receives a sentence for the user. Reads nothing yet.
  KeyFolder(std::string folder, Say say) : folder_(std::move(folder)), say_(std::move(say)) {}

  /// Whether a file holds `key` now. A key that replaced another one in the same file may be found
  /// only by the next scan.
  bool has(const std::string& key, Time now);

  /// Scans all files if a period has passed, and returns whether it did. `now` never goes back.
  bool look(Time now);

  /// Whether the last scan read the folder, and all of its key files: only then a key without a
  /// file was removed.
  bool is_complete() const { return folder_problem_.empty(); }

 private:
  /// Attributes that change when a file is written, replaced, or copied with its times.
  /// Device, inode number, size, and the times of the last write and change (s and ns).
  using Stamp = std::tuple<dev_t, ino_t, off_t, time_t, std::int64_t, time_t, std::int64_t>;
  struct File {
    Stamp stamp = {};
    Time since{0};             // when this stamp was first seen
    Time read{-1};             // when the content was read; negative: not yet
    std::string key = {};      // "": no key
    std::string problem = {};  // why there is no key
    bool named = false;
    bool listed = false;  // found by the current scan
  };

  static Stamp stamp_of(const std::string& path);
  void look_now(Time now);
  bool list(std::vector<std::string>& paths);
  void refresh(const std::string& path, File& file, Time now);
  void name_problems(Time now);

  const std::string folder_;
  const Say say_;
  std::map<std::string, File> files_;  // by path
  Stamp folder_stamp_;
  std::string folder_problem_;
  Time next_look_{0};
};

/// Decides which CURVE clients may connect: clients whose public key is in a folder (ZAP, RFC 27).
///
/// Owns the socket that libzmq sends its requests to. Belongs to the transport's thread. An added
/// or removed key counts from the next connection on; a key that replaced another one in the same
/// file counts within seconds. Refuses every client while the folder cannot be read. The sessions
/// of a removed key are ended by ZmqSessions::check_keys.
class ZapAuthenticator {
 public:
  static constexpr const char* kEndpoint = "inproc://zeromq.zap.01";

  /// Create it before a socket with keys is bound in `context`.
  ZapAuthenticator(zmq::context_t& context, std::string folder, KeyFolder::Say say);

  PolledSocket& socket() { return socket_; }

  /// Answers all waiting requests.
  void serve(KeyFolder::Time now);

  /// Scans the keys when it is time, so that problems with them are reported. Returns whether it
  /// has found all keys that count now.
  bool look(KeyFolder::Time now) { return keys_.look(now) && keys_.is_complete(); }

  /// Whether a file holds this key of a client.
  bool has(const std::string& key, KeyFolder::Time now) { return keys_.has(key, now); }

  std::uint64_t refused() const { return refused_; }

 private:
  PolledSocket socket_;
  KeyFolder keys_;
  std::uint64_t refused_ = 0;
};

}  // namespace forebay
