/// Forebay's loader: the batches of a job, in the job's fixed order, made by pools of actors in
/// this process and, if the job has a cluster, on worker nodes.
///
///   auto loader = forebay::Loader::open("job.toml", {.set = {"order.seed=7"}});
///   if (!loader) return fail(loader.error().message);
///   while (true) {
///     auto batch = loader->next();
///     if (!batch) return fail(batch.error().message);
///     if (!*batch) break;  // The job has ended.
///     train((*batch)->labels(), (*batch)->dense(), (*batch)->values(), (*batch)->lengths());
///     save(loader->state());  // A later loader continues from here.
///   }
///
/// Link Forebay::loader (`find_package(Forebay)`). It needs no libtorch. Several loaders may run in
/// a process, each with a `run.dir` of its own. A loader installs no signal handler, ends no
/// process and writes to no stream. `pipeline.memory` bounds what this loader accounts for
/// (buffers, batches that are ready or held), not the process, and is a quarter of the available
/// memory by default; `pipeline.cpus` is the affinity of this loader's threads alone.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace forebay {

struct Batch;

/// Why a call failed.
struct LoaderError {
  enum class Code : std::uint8_t {
    kConfig,   ///< The job, a key, a state or a call is wrong; the call started nothing.
    kData,     ///< A file is damaged, has changed, or cannot be read.
    kStalled,  ///< No progress for `run.stall_fail`.
    /// The system refused threads, memory or a port, or another process runs the job.
    kUnavailable,
  };

  Code code = Code::kConfig;
  std::string message;  ///< One or two lines: what is wrong, where, what to do.
  std::string key;      ///< The job file's key that the error is about; "": no key.
};

/// A value or an error. Use the value only if the result is true, `error()` only if it is false.
template <class T>
class [[nodiscard]] LoaderResult {
 public:
  LoaderResult(T value) : held_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  LoaderResult(LoaderError error)
      : held_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  explicit operator bool() const { return held_.index() == 0; }
  T& operator*() { return *std::get_if<0>(&held_); }
  const T& operator*() const { return *std::get_if<0>(&held_); }
  T* operator->() { return std::get_if<0>(&held_); }
  const T* operator->() const { return std::get_if<0>(&held_); }
  const LoaderError& error() const { return *std::get_if<1>(&held_); }

 private:
  std::variant<T, LoaderError> held_;
};

/// Success or an error.
using LoaderStatus = LoaderResult<std::monostate>;

/// The names of a batch's columns, in order.
struct LoaderSchema {
  /// A column of `columns.extra`.
  struct Extra {
    std::string name;
    bool is_float = false;  ///< float64, not int64.
  };

  std::vector<std::string> dense;
  std::vector<std::string> sparse;
  bool weight = false;  ///< Whether rows have a weight (`columns.weight`).
  std::vector<Extra> extra;
};

/// Consecutive rows of the order, as tensors. A handle: copies share the memory, which lives as
/// long as one of them does and counts against `pipeline.memory` until then. Nothing is copied. Any
/// thread may read.
class LoaderBatch {
 public:
  explicit LoaderBatch(std::shared_ptr<const Batch> batch) : batch_(std::move(batch)) {}

  /// Counts from 0 over all epochs of the job.
  std::uint64_t index() const;
  std::size_t rows() const;
  /// [rows]: 0 or 1.
  std::span<const float> labels() const;
  /// [rows, dense columns], row after row.
  std::span<const float> dense() const;
  /// [sparse columns, rows]: number of ids in each row, column after column.
  std::span<const std::int32_t> lengths() const;
  /// All of the batch's memory: what the other functions return lies in it.
  std::span<const std::byte> memory() const;
  /// The ids, column after column, and within a column row after row: the layout of a
  /// KeyedJaggedTensor.
  std::span<const std::int64_t> values() const;

  /// One sparse column's part of lengths() and values(). Sums the lengths of all columns before it.
  struct Column {
    std::span<const std::int32_t> lengths;
    std::span<const std::int64_t> values;
  };
  Column sparse(std::size_t column) const;

  /// The columns of one group of `columns.dedup`, in which rows of this batch may share their
  /// values: work on them need be done once for each different row, and spread by `inverse`.
  struct Repeats {
    std::span<const std::size_t> dense;         ///< The group's dense columns.
    std::span<const std::size_t> sparse;        ///< Its sparse columns.
    std::span<const std::uint32_t> inverse;     ///< [rows]: each row's place in `first_rows`.
    std::span<const std::uint32_t> first_rows;  ///< [different rows]: the first row of each.
  };
  /// The number of groups that reach the batch: none whose columns were all replaced.
  std::size_t groups() const;
  Repeats repeats(std::size_t group) const;
  /// The different lists of a sparse column of the group, in the order of `first_rows`: a copy.
  struct UniqueLists {
    std::vector<std::int32_t> lengths;
    std::vector<std::int64_t> values;
  };
  UniqueLists unique_sparse(std::size_t group, std::size_t column) const;
  /// The different values of a dense column of the group: a copy.
  std::vector<float> unique_dense(std::size_t group, std::size_t column) const;

  /// [rows]: a factor for each row's loss, finite and at least 0; empty without weights.
  std::span<const float> weights() const;
  /// [rows]: the values of an int64 column of LoaderSchema::extra; 0 where the field is missing.
  std::span<const std::int64_t> extra(std::size_t column) const;
  /// [rows]: the same for a float64 column; NaN where the field is missing.
  std::span<const double> extra_floats(std::size_t column) const;

 private:
  std::shared_ptr<const Batch> batch_;
};

/// Statistics of a loader at one moment.
struct LoaderStats {
  struct Stage {
    std::string name;          ///< `load`, `decode`, `shuffle`, `transform`, `batch`.
    std::uint64_t actors = 0;  ///< Number of actors now.
    std::uint64_t splits = 0;  ///< Splits made so far.
    double busy_seconds = 0;   ///< Sum over all actors.
  };

  std::uint64_t rows = 0;  ///< Returned by this loader, like batches.
  std::uint64_t batches = 0;
  double seconds = 0;              ///< Since the first call of next().
  double starved_ratio = 0;        ///< Share of `seconds` in which next() waited.
  std::uint64_t memory_bytes = 0;  ///< Accounted for now.
  std::uint64_t memory_limit = 0;
  std::uint64_t requests = 0;    ///< Reads of files and stores by this process since open().
  std::uint64_t bytes_read = 0;  ///< Their bytes.
  std::uint64_t decisions = 0;   ///< Decisions of the tuner.
  std::vector<Stage> stages;

  double rows_per_second() const { return seconds > 0 ? static_cast<double>(rows) / seconds : 0; }
};

/// The batches of an epoch.
struct LoaderEpoch {
  std::uint64_t batches = 0;
  /// False: an upper bound, since damaged rows or rows held out or sampled away may be left out,
  /// and no epoch has been read to its end yet. Of several ranks it is always exact.
  bool exact = false;
};

/// A loader's position: what it has returned so far.
struct LoaderPosition {
  std::uint64_t epochs = 0;  ///< Completed since the start of the job, like all fields here.
  std::uint64_t batches = 0;
  std::uint64_t rows = 0;
  std::uint64_t bad_rows = 0;  ///< Damaged rows that were left out.
  /// Digest of all batches returned; equal for equal batches in the same order. Of a rank, or after
  /// the state of one: of the batches that this loader has returned.
  std::string order_digest;
  /// Whether the position is that of a rank: then the digest and the damaged rows are this
  /// loader's.
  bool of_ranks = false;
};

/// Reads a job's batches.
///
/// next(), wait(), begin_epoch(), resume() and the destructor belong to one thread at a time; all
/// other functions may be called on any. Owns threads from the first next() on. No function throws.
class Loader {
 public:
  /// A key's value, with TOML's types.
  using Value = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>,
                             std::vector<double>, std::vector<std::string>,
                             std::vector<std::vector<std::string>>>;
  using Table = std::map<std::string, Value>;

  /// A job without a file: keys by their dotted names (`order.batch_size`), and the tables of
  /// `[[transform]]` in order. Paths are relative to `folder`.
  struct Job {
    Table values;
    std::vector<Table> transforms = {};
    std::string folder = ".";
  };

  struct Options {
    std::vector<std::string> set = {};  ///< `KEY=VALUE`, as the command line's `--set`.
    /// Operators behind the job's own, as tables of `[[transform]]`. For the job of a file.
    std::vector<Table> transforms = {};
    std::string resume = {};  ///< A state() to continue from; "": start at the beginning.
    /// Ends the stream after so many batches of this loader.
    std::uint64_t max_batches = ~std::uint64_t{0};
    /// next() also returns nullopt at the end of each epoch, and the call after that begins the
    /// next epoch. The stream has no end; `order.epochs` does not count.
    bool by_epoch = false;
    /// One of several ranks of a training, each with a loader of its own, on any machine: its
    /// batches are rows [rank · n / ranks, (rank + 1) · n / ranks) of the job's batches, which have
    /// n = `order.batch_size` rows, and it reads about as large a part of the data. Needs
    /// `order.mode = "exact"`. Rows that may be damaged, held out or sampled away are counted by
    /// open(), once.
    std::uint32_t rank = 0;
    std::uint32_t ranks = 1;
    /// If another run uses `run.dir`, the loader uses a free folder in it, and that run's index.
    bool share_run_dir = false;
    /// A request ends open() with an error, and later the stream, as stop() does.
    std::stop_token stop = {};
    /// Receives lines for the user: stalls, indexing, the tuner's notes. Called on the loader's
    /// threads.
    std::function<void(const std::string&)> on_message = {};
  };

  /// Opens the job of a file: indexes files that have no index, and checks everything that can be
  /// checked before the first batch.
  static LoaderResult<Loader> open(const std::string& path, Options options);
  static LoaderResult<Loader> open(const std::string& path) { return open(path, Options{}); }
  /// Does the same for a job without a file.
  static LoaderResult<Loader> open(const Job& job, Options options);

  Loader(Loader&& other) noexcept;
  Loader& operator=(Loader&& other) noexcept;
  /// Ends the loader's threads and waits for them. Batches that the caller holds stay valid.
  ~Loader();

  const LoaderSchema& schema() const;

  /// Waits for the next batch and returns it; nullopt after the job's last batch, after
  /// `max_batches` and after stop(). An error is final, and later calls return it again, with one
  /// exception: when batches that the program holds fill `pipeline.memory` (kConfig), the call can
  /// be repeated once some are released.
  LoaderResult<std::optional<LoaderBatch>> next();
  /// Waits until next() need not wait, at most for `patience`; returns whether it need not. For
  /// programs that have to look up now and then. Starts the run, as next() does.
  bool wait(std::chrono::nanoseconds patience);
  /// With Options::by_epoch: begins a pass. If the last batch of an epoch was returned, but not its
  /// end, the end is left out.
  void begin_epoch();

  /// Continues from a state(), as Options::resume does. kConfig after the first next(), and if the
  /// state is another job's; the position stays then.
  LoaderStatus resume(const std::string& state);

  /// Returns how many batches an epoch has.
  LoaderEpoch epoch() const;

  LoaderPosition position() const;
  /// Returns the position as a text below 1 KB. Pass it as Options::resume to a loader of the same
  /// job: on any machine, with any pipeline, in this version or a later one. `forebay ingest
  /// --resume` accepts it, too.
  std::string state() const;

  LoaderStats stats() const;

  /// Changes a running loader as `forebay set` does: `pipeline.cpus`, `pipeline.memory`,
  /// `tuner.mode`. Returns a description of the change. kConfig before the first next().
  LoaderResult<std::string> set(const std::string& key, const std::string& value);

  /// Ends the stream: a waiting next() and all later calls return nullopt.
  void stop();

 private:
  class Running;
  explicit Loader(std::unique_ptr<Running> running);

  std::unique_ptr<Running> running_;
};

}  // namespace forebay
