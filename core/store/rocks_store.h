#pragma once

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>

#include "core/store/store.h"

namespace rocksdb {
class DB;
}  // namespace rocksdb

namespace forebay {

/// A Store in its own folder, implemented with RocksDB and a few MB of memory.
///
/// Owns the folder while it lives; syncs the write-ahead log for every batch. After a failed write
/// it reopens the folder before the next operation, so it recovers once the disk has space again.
class RocksStore final : public Store {
 public:
  /// Opens or creates the folder. kUnavailable: another process holds it (the message names it), or
  /// the disk refuses; kCorrupt: its content cannot be read.
  static Result<std::unique_ptr<RocksStore>> open(const std::string& folder);

  ~RocksStore() override;
  RocksStore(const RocksStore&) = delete;
  RocksStore& operator=(const RocksStore&) = delete;

  Result<std::string> get(std::string_view key) const override;
  Status write(const StoreBatch& batch) override;
  Status scan(std::string_view prefix, std::string_view from, const Visitor& visit) const override;

 private:
  explicit RocksStore(std::string folder);
  Status reopen() const;
  /// The lock under which the database may be used; opens it if it is closed.
  Result<std::shared_lock<std::shared_mutex>> in_use() const;

  const std::string folder_;
  // Null after a failure, until the folder can be reopened. Mutable: reopening changes no stored
  // data.
  mutable std::unique_ptr<rocksdb::DB> database_;
  mutable std::shared_mutex mutex_;  // exclusive to reopen, shared to use the database
};

}  // namespace forebay
