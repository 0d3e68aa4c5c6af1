#pragma once

#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

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

  /// Scans all files if a period has passed. `now` never goes back.
  void look(Time now);

 private:
  /// Attributes that change when a file is written, replaced, or copied with its times.
  struct Stamp {
    std::uint64_t device = 0;
    std::uint64_t number = 0;
    std::int64_t size = 0;
    std::int64_t written = 0;  // ns
    std::int64_t changed = 0;  // ns
    bool operator==(const Stamp&) const = default;
  };
  struct File {
    Stamp stamp;
    Time since{0};        // when this stamp was first seen
    Time read{-1};        // when the content was read; negative: not yet
    std::string key;      // "": no key
    std::string problem;  // why there is no key
    bool named = false;
    bool listed = false;  // found by the current scan
  };

  static Stamp stamp_of(const struct stat& info);
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

}  // namespace forebay
