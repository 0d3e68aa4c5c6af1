#pragma once

#include <memory>
#include <string>

#include "core/store/store.h"

namespace forebay {

/// A Store in a folder of its own, by RocksDB with a few MB of memory.
///
/// Owns the folder while it lives; its write-ahead log is synced for every batch. After a write
/// that failed the folder is opened anew before anything else is asked of it, so a disk that has
/// room again is enough to go on.
class RocksStore final : public Store {
 public:
  /// Opens the folder, or makes it. kUnavailable: another process holds it (named), or the disk
  /// refuses; kCorrupt: what is there cannot be read.
  static Result<std::unique_ptr<RocksStore>> open(const std::string& folder);

  ~RocksStore() override;
  RocksStore(const RocksStore&) = delete;
  RocksStore& operator=(const RocksStore&) = delete;

  Result<std::string> get(std::string_view key) const override;
  Status write(const StoreBatch& batch) override;
  Status scan(std::string_view prefix, std::string_view from, const Visitor& visit) const override;

 private:
  struct Open;

  explicit RocksStore(std::string folder);
  Status reopen() const;
  Status open_if_closed() const;

  const std::string folder_;
  // Absent after a failure, until it can be opened again; which changes nothing of what is kept.
  mutable std::unique_ptr<Open> open_;
};

}  // namespace forebay
