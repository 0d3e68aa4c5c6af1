#include "core/store/rocks_store.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <system_error>
#include <utility>

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include "core/base/descriptor.h"
#include "core/base/open_files.h"
#include "core/base/thread/start_thread.h"

namespace forebay {
namespace {

/// Disables RocksDB's own log. No component reads it, and on a full disk its second line ends the
/// process (an assertion on the file's earlier error).
class NoLog final : public rocksdb::Logger {
 public:
  using Logger::Logv;
  void Logv(const char*, va_list) override {}
};

rocksdb::Options small_options() {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(2 << 20);
  rocksdb::Options options;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.create_if_missing = true;
  options.write_buffer_size = 2 << 20;
  options.max_write_buffer_number = 2;
  options.max_total_wal_size = 8 << 20;
  options.max_open_files = 64;
  // Instead of 16: RocksDB aborts if it cannot start one of them.
  options.max_file_opening_threads = 1;
  options.compression = rocksdb::kNoCompression;
  options.info_log = std::make_shared<NoLog>();
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  // A crash may leave a log that ends in the middle of a record: recover the complete records.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  return options;
}

rocksdb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }

/// The process that has locked a RocksDB folder; 0 if it is unknown.
pid_t holder_of(const std::string& folder) {
  const Descriptor file(::open((folder + "/LOCK").c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return 0;
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  const bool told = ::fcntl(file.number(), F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  return told ? lock.l_pid : 0;
}

tl::unexpected<Error> refusal(const std::string& folder, const rocksdb::Status& status) {
  const std::string where = "the store " + folder;
  const std::string why = status.ToString();
  if (status.IsCorruption()) {
    return fail(Code::kCorrupt, where + " is damaged (" + why +
                                    "); move the folder away: a run resumes from its checkpoint");
  }
  if (why.find(std::generic_category().message(EMFILE)) != std::string::npos) {
    return fail(Code::kUnavailable, where + " cannot be used: " + system_words(EMFILE));
  }
  // Opening and closing the file to ask for its holder would release a lock of this process.
  const bool is_ours = why.find("lock hold by current process") != std::string::npos;
  if (is_ours) return fail(Code::kUnavailable, where + " is already open in this process");
  if (why.find("While lock file") != std::string::npos) {
    const pid_t holder = holder_of(folder);
    return fail(Code::kUnavailable,
                where + " is held by " +
                    (holder > 0 ? "process " + std::to_string(holder) : "another process") +
                    "; stop it, or give this one another folder");
  }
  if (status.IsNoSpace())
    return fail(Code::kUnavailable, where + " has no room on its disk (" + why + ")");
  return fail(Code::kUnavailable, where + " cannot be used (" + why + ")");
}

}  // namespace

RocksStore::RocksStore(std::string folder) : folder_(std::move(folder)) {}
RocksStore::~RocksStore() = default;

Result<std::unique_ptr<RocksStore>> RocksStore::open(const std::string& folder) {
  // RocksDB aborts if it cannot start its threads to flush and compact.
  constexpr std::size_t kThreads = 3;
  if (auto status = check_threads(kThreads, "the store " + folder); !status) return pass(status);
  auto store = std::unique_ptr<RocksStore>(new RocksStore(folder));
  if (auto status = store->reopen(); !status) return pass(status);
  return store;
}

Status RocksStore::reopen() const {
  database_.reset();  // Releases the lock first.
  rocksdb::DB* database = nullptr;
  const rocksdb::Status status = rocksdb::DB::Open(small_options(), folder_, &database);
  if (!status.ok()) return refusal(folder_, status);
  database_.reset(database);
  return {};
}

Result<std::shared_lock<std::shared_mutex>> RocksStore::in_use() const {
  std::shared_lock use(mutex_);
  while (database_ == nullptr) {
    use.unlock();
    {
      const std::unique_lock alone(mutex_);
      auto status = database_ == nullptr ? reopen() : Status();
      if (!status) return pass(status);
    }
    use.lock();
  }
  return use;
}

Result<std::string> RocksStore::get(std::string_view key) const {
  auto use = in_use();
  if (!use) return pass(use);
  std::string value;
  const rocksdb::Status status = database_->Get(rocksdb::ReadOptions(), slice(key), &value);
  if (status.IsNotFound()) return fail(Code::kNotFound, "no key " + std::string(key));
  if (!status.ok()) return refusal(folder_, status);
  return value;
}

Status RocksStore::write(const StoreBatch& batch) {
  auto use = in_use();
  if (!use) return pass(use);
  rocksdb::WriteBatch changes;
  for (const auto& change : batch.changes()) {
    const rocksdb::Status status =
        change.value ? changes.Put(change.key, *change.value) : changes.Delete(change.key);
    if (!status.ok()) return refusal(folder_, status);
  }
  rocksdb::WriteOptions synced;
  synced.sync = true;
  const rocksdb::Status status = database_->Write(synced, &changes);
  if (status.ok()) return {};
  auto refused = refusal(folder_, status);
  // Only reading the log again shows which changes reached the disk: reopen now, if possible.
  use->unlock();
  const std::unique_lock alone(mutex_);
  static_cast<void>(reopen());
  return refused;
}

Status RocksStore::scan(std::string_view prefix, std::string_view from,
                        const Visitor& visit) const {
  auto use = in_use();
  if (!use) return pass(use);
  const std::unique_ptr<rocksdb::Iterator> at(database_->NewIterator(rocksdb::ReadOptions()));
  for (at->Seek(slice(std::max(prefix, from))); at->Valid(); at->Next()) {
    const rocksdb::Slice key = at->key();
    if (!key.starts_with(slice(prefix))) break;
    if (!visit({key.data(), key.size()}, {at->value().data(), at->value().size()})) break;
  }
  if (!at->status().ok()) return refusal(folder_, at->status());
  return {};
}

}  // namespace forebay
