#pragma once

#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace forebay {

/// The public keys in the *.key files of a folder, as the files are now.
///
/// A file that holds no key is skipped and named once; the keys of all other files count. Reads
/// only what has changed: a file's size, times and number on its disk tell, and for two seconds
/// after a change, which two writes may share on a disk with a coarse clock, the content itself.
/// While the folder cannot be read no key counts. Belongs to one thread.
class KeyFolder {
 public:
  using Time = std::chrono::nanoseconds;
  using Say = std::function<void(const std::string&)>;

  /// At most so many files are read; the others are named as too many.
  static constexpr std::size_t kMostFiles = 16'384;
  /// Between two looks at all files.
  static constexpr std::chrono::seconds kPeriod{1};

  /// `say` gets a sentence for the user. Reads nothing yet.
  KeyFolder(std::string folder, Say say) : folder_(std::move(folder)), say_(std::move(say)) {}

  /// Whether a file holds `key` at this moment. A key that was written over another one in the same
  /// file may need until the next look.
  bool has(const std::string& key, Time now);

  /// Looks at all files when it is time. `now` never goes back.
  void look(Time now);

 private:
  /// What changes when a file is written, replaced, or copied with its times.
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
    Time since{0};        // this stamp was first seen
    Time read{-1};        // when its content was; negative: not yet
    std::string key;      // "": none
    std::string problem;  // why none
    bool named = false;
    bool listed = false;  // in the look under way
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
