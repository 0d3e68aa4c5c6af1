#include "core/store/rocks_rows.h"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/write_batch.h>

#include "core/base/check.h"
#include "core/base/parallel.h"
#include "core/store/direct_files.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlock = 4096;     // What the disk reads at once.
constexpr std::size_t kReadAtOnce = 32;  // Rows that one call asks for.
constexpr std::size_t kReadAhead = std::size_t{2} << 20;
constexpr int kReaders = 8;         // Calls at a time, each for many rows at once,
constexpr int kLoneReaders = 24;    // or, where the kernel takes no more, for one.
constexpr double kFilterBits = 10;  // A row; one look in a hundred is in vain.
constexpr double kIndexEntry = 12;  // Bytes a block.
constexpr int kIndexGroup = 8;      // Index entries that share a prefix.
constexpr std::size_t kCache = std::size_t{256} << 10;  // Of no use: no row is read twice.
constexpr std::uint64_t kLeastBuffer = std::uint64_t{1} << 20;
constexpr std::uint64_t kMostBuffer = std::uint64_t{8} << 20;
constexpr std::uint64_t kLeastFile = std::uint64_t{8} << 20;
constexpr std::uint64_t kFiles = 128;  // About so many, however large the tables.
constexpr int kBuffers = 3;
constexpr double kBufferFilter = 0.02;  // Of a buffer.
constexpr int kRuns = 8;                // Sorted runs before some are merged.
constexpr unsigned kNewer = 50;         // Percent of the oldest run that newer ones may take.
constexpr std::uint64_t kLeastMerging = std::uint64_t{1} << 20;
constexpr std::uint64_t kMostMerging = std::uint64_t{16} << 20;

/// Big-endian, so that numbers sort.
std::array<char, 8> key_of(std::uint64_t number) {
  std::array<char, 8> key;
  for (int i = 7; i >= 0; --i, number >>= 8) {
    key[static_cast<std::size_t>(i)] = static_cast<char>(number);
  }
  return key;
}

std::uint64_t number_of(const rocksdb::Slice& key) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < key.size(); ++i) {
    number = number << 8 | static_cast<unsigned char>(key[i]);
  }
  return number;
}

/// Who only reads leaves no log behind.
class NoLog final : public rocksdb::Logger {
 public:
  using Logger::Logv;
  void Logv(const char*, va_list) override {}
};

/// What a merge reads ahead and has not written yet.
std::uint64_t merging_bytes(const RocksRows::Options& options) {
  const std::uint64_t all = options.most_rows * options.row_bytes;
  return std::clamp(all / 256, kLeastMerging, kMostMerging);
}

std::uint64_t buffer_bytes(const RocksRows::Options& options) {
  const std::uint64_t all = options.most_rows * options.row_bytes;
  return std::clamp(all / 256, kLeastBuffer, kMostBuffer);
}

/// Rows are changed all over, so few of them share a block that is merged: what costs is how often
/// a row is written again. Runs of sorted rows are therefore merged when there are several of like
/// size (tiered, O'Neil et al.'s LSM tree with runs), not level into level: that takes less than
/// half the writing, for a look into a filter a run.
void set_merging(const RocksRows::Options& rows, rocksdb::Options& options) {
  const std::uint64_t all = rows.most_rows * rows.row_bytes;
  options.compaction_style = rocksdb::kCompactionStyleUniversal;
  options.compaction_options_universal.max_size_amplification_percent = kNewer;
  options.compaction_options_universal.allow_trivial_move = true;
  options.level0_file_num_compaction_trigger = kRuns;
  options.target_file_size_base = std::max(all / kFiles, kLeastFile);
  options.max_background_jobs = 3;
  options.compaction_readahead_size = merging_bytes(rows) / (2 * kRuns);
  // Merging may lag behind: what has not been merged costs a read a look into a filter, and a
  // writer that is made to wait would hold up the trainer.
  options.level0_slowdown_writes_trigger = 40;
  options.level0_stop_writes_trigger = 60;
  options.soft_pending_compaction_bytes_limit = 0;
  options.hard_pending_compaction_bytes_limit = 0;
}

rocksdb::Options rocks_options(const RocksRows::Options& rows, rocksdb::Env& env) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(kCache);
  table.block_size = kBlock;
  if (!rows.ascending) table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(kFilterBits));
  table.format_version = 5;
  table.block_align = true;  // A block is one page of the disk.
  table.index_block_restart_interval = kIndexGroup;
  rocksdb::Options options;
  options.env = &env;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.create_if_missing = true;
  options.compression = rocksdb::kNoCompression;
  options.use_direct_reads = true;
  options.use_direct_io_for_flush_and_compaction = true;
  options.write_buffer_size = buffer_bytes(rows);
  options.max_write_buffer_number = kBuffers;
  options.allow_concurrent_memtable_write = false;
  options.memtable_whole_key_filtering = true;
  options.memtable_prefix_bloom_size_ratio = kBufferFilter;
  // Only rows that were written are asked for: what is nowhere else is in the oldest run.
  options.optimize_filters_for_hits = true;
  set_merging(rows, options);
  options.max_open_files = -1;
  options.info_log_level = rocksdb::ERROR_LEVEL;
  options.keep_log_file_num = 1;
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  return options;
}

tl::unexpected<Error> refusal(const std::string& folder, const rocksdb::Status& status) {
  const std::string where = "the tables' folder " + folder;
  const std::string why = " (" + status.ToString() + ")";
  if (status.IsNoSpace()) {
    return fail(Code::kUnavailable, where + " has no room on its disk" + why +
                                        "; free some, or set run.dir to a larger disk");
  }
  if (status.IsCorruption()) return fail(Code::kCorrupt, where + " is damaged" + why);
  return fail(Code::kUnavailable, where + " cannot be used" + why);
}

tl::unexpected<Error> refusal(const std::string& folder, const std::error_code& error) {
  return fail(Code::kUnavailable,
              "the tables' folder " + folder + " cannot be used (" + error.message() + ")");
}

/// Empties `folder`, then puts the files of `from` into it: sorted tables never change and are
/// linked where that is possible; the rest is copied.
Status prepare_folder(const std::string& folder, const std::string& from) {
  std::error_code error;
  fs::remove_all(folder, error);
  if (error) return refusal(folder, error);
  fs::create_directories(folder, error);
  if (error) return refusal(folder, error);
  if (from.empty()) return {};
  for (fs::directory_iterator file(from, error), end; !error && file != end;
       file.increment(error)) {
    const fs::path to = fs::path(folder) / file->path().filename();
    if (file->path().extension() == ".sst") {
      std::error_code refused;
      fs::create_hard_link(file->path(), to, refused);
      if (!refused) continue;
    }
    fs::copy_file(file->path(), to, error);
    if (error) break;
  }
  return error ? Status(refusal(folder, error)) : Status();
}

}  // namespace

struct RocksRows::Open {
  std::shared_ptr<DirectFiles> files;
  std::unique_ptr<rocksdb::Env> env;
  int readers = 1;
  std::unique_ptr<rocksdb::DB> database;
};

RocksRows::RocksRows(std::string folder, const Options& options)
    : folder_(std::move(folder)), options_(options) {}

RocksRows::~RocksRows() = default;

std::uint64_t RocksRows::memory_bytes(const Options& options) {
  const std::uint64_t blocks = options.most_rows * options.row_bytes / kBlock + 1;
  const double buffers =
      kBuffers * (1 + kBufferFilter) * static_cast<double>(buffer_bytes(options));
  const double newer = kNewer / 100.0;
  const double filters = newer * static_cast<double>(options.most_rows) * kFilterBits / 8;
  const double indices = (1 + newer) * static_cast<double>(blocks) * kIndexEntry;
  return kCache + merging_bytes(options) + static_cast<std::uint64_t>(buffers + filters + indices);
}

Result<std::unique_ptr<RocksRows>> RocksRows::create(const std::string& folder,
                                                     const Options& options,
                                                     const std::string& from) {
  if (auto status = prepare_folder(folder, from); !status) return pass(status);
  auto rows = std::unique_ptr<RocksRows>(new RocksRows(folder, options));
  auto open = std::make_unique<Open>();
  open->files = std::make_shared<DirectFiles>();
  open->env = rocksdb::NewCompositeEnv(open->files);
  open->readers = open->files->reads_together() ? kReaders : kLoneReaders;
  // Merging takes what the trainer leaves.
  open->env->LowerThreadPoolCPUPriority(rocksdb::Env::LOW);
  rocksdb::DB* database = nullptr;
  const rocksdb::Status status =
      rocksdb::DB::Open(rocks_options(options, *open->env), folder, &database);
  if (!status.ok()) return refusal(folder, status);
  open->database.reset(database);
  rows->open_ = std::move(open);
  return rows;
}

Status RocksRows::read(std::span<const std::uint64_t> numbers, const Take& take) const {
  const auto readers = static_cast<std::size_t>(open_->readers);
  const std::size_t tasks = (numbers.size() + kReadAtOnce - 1) / kReadAtOnce;
  const std::size_t threads = std::min(readers, tasks);
  std::vector<Status> results(threads);
  for_each_in_parallel(threads, static_cast<int>(threads), [&](std::size_t thread) {
    const std::size_t end = numbers.size() * (thread + 1) / threads;
    for (std::size_t first = numbers.size() * thread / threads; first < end && results[thread];
         first += kReadAtOnce) {
      const std::size_t count = std::min(kReadAtOnce, end - first);
      results[thread] = read_some(numbers.subspan(first, count), first, take);
    }
  });
  for (Status& result : results) {
    if (!result) return std::move(result);
  }
  return {};
}

Status RocksRows::read_some(std::span<const std::uint64_t> numbers, std::size_t first,
                            const Take& take) const {
  rocksdb::SetPerfLevel(rocksdb::kDisable);
  std::array<std::array<char, 8>, kReadAtOnce> names;
  std::array<rocksdb::Slice, kReadAtOnce> keys;
  std::array<rocksdb::PinnableSlice, kReadAtOnce> values;
  std::array<rocksdb::Status, kReadAtOnce> found;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    names[i] = key_of(numbers[i]);
    keys[i] = {names[i].data(), names[i].size()};
  }
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  rocksdb::DB& database = *open_->database;
  database.MultiGet(options, database.DefaultColumnFamily(), numbers.size(), keys.data(),
                    values.data(), found.data(), /*sorted_input=*/true);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (found[i].IsNotFound() || (found[i].ok() && values[i].size() != options_.row_bytes)) {
      return fail(Code::kCorrupt,
                  "the tables' folder " + folder_ + " has lost row " + std::to_string(numbers[i]));
    }
    if (!found[i].ok()) return refusal(folder_, found[i]);
    take(first + i, std::as_bytes(std::span(values[i].data(), values[i].size())));
  }
  return {};
}

Status RocksRows::write(std::span<const std::uint64_t> numbers, std::span<const std::byte> rows) {
  FOREBAY_CHECK(rows.size() == numbers.size() * options_.row_bytes);
  rocksdb::WriteOptions options;
  options.disableWAL = true;
  constexpr std::size_t kAtOnce = 1024;
  const auto* row = reinterpret_cast<const char*>(rows.data());
  for (std::size_t first = 0; first < numbers.size(); first += kAtOnce) {
    rocksdb::WriteBatch batch(kAtOnce * (options_.row_bytes + 16));
    for (std::size_t i = first; i < std::min(first + kAtOnce, numbers.size()); ++i) {
      const auto name = key_of(numbers[i]);
      const rocksdb::Status put =
          batch.Put(rocksdb::Slice(name.data(), name.size()),
                    rocksdb::Slice(row + i * options_.row_bytes, options_.row_bytes));
      if (!put.ok()) return refusal(folder_, put);
    }
    const rocksdb::Status written = open_->database->Write(options, &batch);
    if (!written.ok()) return refusal(folder_, written);
  }
  return {};
}

Status RocksRows::link(const std::string& folder) {
  rocksdb::Checkpoint* made = nullptr;
  rocksdb::Status status = rocksdb::Checkpoint::Create(open_->database.get(), &made);
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  std::error_code error;
  fs::remove_all(folder, error);
  if (status.ok()) status = checkpoint->CreateCheckpoint(folder);
  return status.ok() ? Status() : Status(refusal(folder, status));
}

Status RocksRows::scan(const std::string& folder, std::size_t row_bytes, const Visit& visit) {
  rocksdb::Options options;
  options.info_log = std::make_shared<NoLog>();
  options.use_direct_reads = true;
  rocksdb::DB* opened = nullptr;
  const rocksdb::Status status = rocksdb::DB::OpenForReadOnly(options, folder, &opened);
  const std::unique_ptr<rocksdb::DB> database(opened);
  if (!status.ok()) return refusal(folder, status);
  rocksdb::ReadOptions reading;
  reading.fill_cache = false;
  reading.readahead_size = kReadAhead;
  const std::unique_ptr<rocksdb::Iterator> row(database->NewIterator(reading));
  for (row->SeekToFirst(); row->Valid(); row->Next()) {
    if (row->key().size() != sizeof(std::uint64_t) || row->value().size() != row_bytes) {
      return fail(Code::kCorrupt, "the tables' folder " + folder + " has rows of another size");
    }
    const auto bytes = std::as_bytes(std::span(row->value().data(), row_bytes));
    if (auto visited = visit(number_of(row->key()), bytes); !visited) return visited;
  }
  return row->status().ok() ? Status() : Status(refusal(folder, row->status()));
}

std::uint64_t RocksRows::disk_bytes() const {
  std::uint64_t bytes = 0;
  open_->database->GetIntProperty("rocksdb.total-sst-files-size", &bytes);
  return bytes;
}

}  // namespace forebay
