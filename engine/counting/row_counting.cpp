#include "engine/counting/row_counting.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "actors/stage/stage_worker.h"
#include "core/base/text/counted.h"
#include "core/base/thread/parallel.h"
#include "core/data/buffer_pool.h"
#include "engine/job/quantity.h"

namespace forebay {
namespace {

/// Each thread gets about so many runs of neighbouring blocks, one after another.
constexpr std::size_t kRunsPerThread = 8;

Digest key_of(const RowCounting& job) {
  const std::string text = job.dataset.fingerprint().hex() + '\n' +
                           (job.files.bad_rows > 0 ? "damaged rows\n" : "\n") + job.identity;
  return Digest::of(text.data(), text.size());
}

/// The columns that can make a row damaged in a format whose values have types.
ColumnSpec deciding_columns(const ColumnSpec& all) {
  ColumnSpec some;
  some.label = all.label;
  some.label_threshold = all.label_threshold;
  some.weight = all.weight;
  some.without_features = true;
  return some;
}

/// One count of the rows of one dataset.
class Count {
 public:
  explicit Count(const RowCounting& job)
      : job_(job), names_(names_of(job.dataset)), left_(job.dataset.num_blocks()) {
    first_blocks_.resize(job.dataset.files().size() + 1);
    for (std::size_t i = 0; i < job.dataset.num_blocks(); ++i) {
      first_blocks_[job.dataset.block(i).file + 1] = i + 1;
    }
    for (std::size_t i = 1; i < first_blocks_.size(); ++i) {
      first_blocks_[i] = std::max(first_blocks_[i], first_blocks_[i - 1]);
    }
  }

  Result<RowCounts> run() {
    const bool reads = job_.dataset.format().text() != nullptr || job_.files.bad_rows > 0;
    auto done = reads ? read_rows() : go_through(job_.dataset, [this](const BlockRef& block) {
      return count_unread(block);
    });
    if (!done) return pass(done);
    std::vector<std::uint32_t> counts(left_.begin(), left_.end());
    return RowCounts(job_.dataset, std::move(counts));
  }

 private:
  using Visit = std::function<Status(const BlockRef&)>;

  static std::vector<std::string> names_of(const Dataset& dataset) {
    std::vector<std::string> names;
    for (const DatasetFile& file : dataset.files()) names.push_back(file.name);
    return names;
  }

  /// Reads `from`, which has the rows of the job's dataset but perhaps fewer columns.
  Status read_rows() {
    if (job_.dataset.format().text() != nullptr) return read_rows_of(job_.dataset);
    DatasetOptions options = job_.options;
    options.run_dir += "/counting";  // Its index has other columns than the job's.
    options.index_from = {};
    auto reduced = open_dataset(job_.files, deciding_columns(job_.columns), options);
    if (!reduced) return pass(reduced);
    return read_rows_of(**reduced);
  }

  Status read_rows_of(const Dataset& from) {
    if (job_.options.announce) {
      job_.options.announce("counting the rows that remain, once: reads " +
                            format_size(from.bytes()) + " of " +
                            format_counted(from.files().size(), "file"));
    }
    return go_through(from, nullptr);
  }

  /// Goes through the blocks of `from`: reads and counts them, or calls `visit` with each.
  Status go_through(const Dataset& from, const Visit& visit) {
    const auto threads = static_cast<std::size_t>(std::max(job_.options.threads, 1));
    const std::size_t blocks = from.num_blocks();
    const std::size_t runs = std::min(blocks, threads * kRunsPerThread);
    std::vector<Status> ends(runs);
    for_each_in_parallel(runs, static_cast<int>(threads), [&](std::size_t run) {
      SplitReader reader(from, pool_);
      const std::size_t end = blocks * (run + 1) / runs;
      for (std::size_t i = blocks * run / runs; i < end && ends[run] && !failed_; ++i) {
        if (job_.options.stopped && job_.options.stopped()) {
          ends[run] = fail(Code::kUnavailable, "stopped");
        } else {
          ends[run] = visit ? visit(from.block(i)) : count_read(from, reader, from.block(i));
        }
      }
      if (!ends[run]) failed_ = true;
    });
    const auto failure = std::ranges::find_if(ends, [](const Status& end) { return !end; });
    return failure == ends.end() ? Status{} : *failure;
  }

  Status count_read(const Dataset& from, SplitReader& reader, const BlockRef& block) {
    auto raw = reader.read({block});
    if (!raw) return pass(raw);
    Decoded decoded =
        from.format().decode(*raw, {.filter = job_.filter, .keep_origins = true}, pool_);
    if (decoded.damaged) return tl::unexpected<Error>(damaged_block(from, *decoded.damaged));
    if (decoded.miscounted) {
      return tl::unexpected<Error>(miscounted_split(from, *decoded.miscounted));
    }
    return add(decoded.columns);
  }

  /// No row is damaged: the numbers of a unit's rows say which remain.
  Status count_unread(const BlockRef& block) {
    const Buffer memory = pool_.take(block.rows * sizeof(RowOrigin));
    ColumnSet columns;
    columns.origins = memory.as<RowOrigin>();
    for (std::uint64_t row = block.offset; row < block.offset + block.rows; ++row) {
      if (!job_.filter.keeps(block.file, row)) continue;
      columns.origins[columns.rows++] = RowOrigin::of(block.file, row);
    }
    return add(columns);
  }

  /// Adds the rows that sampling keeps to the blocks of the job's dataset that they are in.
  Status add(ColumnSet& columns) {
    if (auto sampled = job_.plan.sample(columns, {pool_, job_.seed, names_}); !sampled) {
      return sampled;
    }
    for (std::size_t row = 0; row < columns.rows;) {
      const RowOrigin first = columns.origins[row];
      const std::size_t block = block_of(first.file(), first.offset());
      const std::uint64_t end = end_of(block);
      const std::size_t before = row;
      while (row < columns.rows && columns.origins[row].offset() < end) ++row;
      left_[block] += static_cast<std::uint32_t>(row - before);
    }
    return {};
  }

  std::size_t block_of(std::uint32_t file, std::uint64_t offset) const {
    std::size_t begin = first_blocks_[file];
    std::size_t end = first_blocks_[file + 1];
    while (end - begin > 1) {
      const std::size_t middle = begin + (end - begin) / 2;
      (job_.dataset.block(middle).offset <= offset ? begin : end) = middle;
    }
    return begin;
  }

  /// The first row behind a block, or byte of text.
  std::uint64_t end_of(std::size_t number) const {
    const BlockRef block = job_.dataset.block(number);
    return block.offset + (job_.dataset.format().text() != nullptr ? block.bytes : block.rows);
  }

  const RowCounting& job_;
  const std::vector<std::string> names_;
  MemoryBudget memory_{~std::size_t{0} / 2};
  BufferPool pool_{memory_};
  std::vector<std::size_t> first_blocks_;         // of each file, and the end of the last
  std::vector<std::atomic<std::uint32_t>> left_;  // of each block
  std::atomic<bool> failed_{false};
};

std::optional<RowCounts> load_from(const std::string& folder, const std::string& name,
                                   const Digest& key, const Dataset& dataset) {
  if (folder.empty()) return std::nullopt;
  auto counts = RowCounts::load(folder + name, key, dataset);
  if (!counts) return std::nullopt;  // damaged or missing: counted anew
  return std::move(*counts);
}

}  // namespace

Result<RowCounts> count_rows(const RowCounting& job) {
  const bool none_is_left_out =
      job.files.bad_rows == 0 && job.filter.keeps_all() && !job.plan.samples();
  if (none_is_left_out) return RowCounts(job.dataset);
  const Digest key = key_of(job);
  const std::string name = "/counts-" + key.hex();
  const std::string own = job.options.run_dir + "/index";
  for (const std::string& folder : {own, job.options.index_from}) {
    if (auto counts = load_from(folder, name, key, job.dataset)) return std::move(*counts);
  }
  auto counts = Count(job).run();
  if (!counts) return pass(counts);
  std::error_code ignored;
  std::filesystem::create_directories(own, ignored);
  // Without the file the rows are counted again by the next run.
  if (auto saved = counts->save(own + name, key); !saved && job.options.announce) {
    job.options.announce(saved.error().message);
  }
  return counts;
}

}  // namespace forebay
