/// Forebay's loader: the batches of a job, in the job's fixed order, made by pools of actors in
/// this process and, where the job says so, on worker nodes.
///
///   auto loader = forebay::Loader::open("job.toml", {.set = {"order.seed=7"}});
///   if (!loader) return fail(loader.error().message);
///   while (true) {
///     auto batch = loader->next();
///     if (!batch) return fail(batch.error().message);
///     if (!*batch) break;  // The job's last batch was given out.
///     train((*batch)->labels(), (*batch)->dense(), (*batch)->values(), (*batch)->lengths());
///     save(loader->state());  // Where a later loader goes on.
///   }
///
/// Link Forebay::loader (`find_package(Forebay)`). It needs no libtorch. Several loaders may run in
/// a process, each with a `run.dir` of its own. A loader installs no signal handler, ends no
/// process and writes to no stream. `pipeline.memory` bounds what this loader accounts for
/// (buffers, batches that are ready or held), not the process, and is a quarter of the available
/// memory by default; `pipeline.cpus` is the affinity of this loader's threads alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace forebay {

struct Batch;

/// Why a call failed.
struct LoaderError {
  enum class Code : std::uint8_t {
    kConfig,       ///< The job, a key, a state or a call is wrong; nothing was started by it.
    kData,         ///< A file is damaged, has changed, or cannot be read.
    kStalled,      ///< No progress for `run.stall_fail`.
    kUnavailable,  ///< The system refused threads, memory, a port; or another process has the job.
  };

  Code code = Code::kConfig;
  std::string message;  ///< One or two lines: what is wrong, where, what to do.
  std::string key;      ///< The job file's key that it is about; "" where it is about none.
};

/// A value, or why there is none. `error()` only where it is false, the value only where it is
/// true.
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

/// Success, or why not.
using LoaderStatus = LoaderResult<std::monostate>;

/// The columns of a batch, in their order.
struct LoaderSchema {
  std::vector<std::string> dense;
  std::vector<std::string> sparse;
};

/// Consecutive rows of the order, as tensors. A handle: copies share the memory, which lives as
/// long as one of them, and counts against `pipeline.memory` until then. Nothing is copied. Any
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
  /// [sparse columns, rows]: how many ids each row has, column after column.
  std::span<const std::int32_t> lengths() const;
  /// The ids, column after column and in it row after row: the layout of a KeyedJaggedTensor.
  std::span<const std::int64_t> values() const;

  /// One sparse column's own part of lengths() and values(). Adds up the lengths of those before
  /// it.
  struct Column {
    std::span<const std::int32_t> lengths;
    std::span<const std::int64_t> values;
  };
  Column sparse(std::size_t column) const;

 private:
  std::shared_ptr<const Batch> batch_;
};

/// A loader at one moment.
struct LoaderStats {
  struct Stage {
    std::string name;          ///< `load`, `decode`, `shuffle`, `transform`, `batch`.
    std::uint64_t actors = 0;  ///< At work now.
    std::uint64_t splits = 0;  ///< Made so far.
    double busy_seconds = 0;   ///< Of all actors together.
  };

  std::uint64_t rows = 0;  ///< Given out by this loader, as are batches.
  std::uint64_t batches = 0;
  double seconds = 0;              ///< Since the first batch was asked for.
  double starved_ratio = 0;        ///< Share of them in which next() waited.
  std::uint64_t memory_bytes = 0;  ///< Accounted for now.
  std::uint64_t memory_limit = 0;
  std::uint64_t decisions = 0;  ///< Of the tuner.
  std::vector<Stage> stages;

  double rows_per_second() const { return seconds > 0 ? static_cast<double>(rows) / seconds : 0; }
};

/// Where a loader has got to: what it handed out so far.
struct LoaderPosition {
  std::uint64_t epochs = 0;  ///< Completed since the start of the job, as all of these.
  std::uint64_t batches = 0;
  std::uint64_t rows = 0;
  std::uint64_t bad_rows = 0;  ///< Damaged ones that were left out.
  std::string order_digest;    ///< Over every batch handed out; equal for equal batches in order.
};

/// Reads a job's batches.
///
/// next(), state(), position() and the destructor belong to one thread at a time; stop(), set() and
/// stats() may be called from any. Owns threads from the first next() on. Nothing throws.
class Loader {
 public:
  /// A value of a key, as TOML has them.
  using Value = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>,
                             std::vector<double>, std::vector<std::string>>;
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
    std::string resume = {};            ///< A state() to go on from; "": from the beginning.
    /// Ends the stream after so many batches of this loader.
    std::uint64_t max_batches = ~std::uint64_t{0};
    /// Is told lines that a user should read: stalls, what is indexed, the tuner's notes. From the
    /// loader's threads.
    std::function<void(const std::string&)> on_message = {};
  };

  /// Opens the job of a file: indexes files that no index describes, and checks all that can be
  /// checked before the first batch.
  static LoaderResult<Loader> open(const std::string& path, Options options);
  static LoaderResult<Loader> open(const std::string& path) { return open(path, Options{}); }
  /// The same of a job without a file.
  static LoaderResult<Loader> open(const Job& job, Options options);

  Loader(Loader&& other) noexcept;
  Loader& operator=(Loader&& other) noexcept;
  /// Ends the loader's threads and waits for them. Batches that are held stay.
  ~Loader();

  const LoaderSchema& schema() const;

  /// The next batch; nothing after the job's last one, after `max_batches` and after stop(). Waits
  /// for it. An error is final, and the next call gives it again, but for one: batches that the
  /// program holds fill `pipeline.memory` (kConfig); once some are released, it goes on.
  LoaderResult<std::optional<LoaderBatch>> next();

  LoaderPosition position() const;
  /// The position as a text below 1 KB, for Options::resume of a loader of the same job, on any
  /// machine, with any pipeline, in this version or a later one. `forebay ingest --resume` takes
  /// it, too.
  std::string state() const;

  LoaderStats stats() const;

  /// Changes a running loader as `forebay set` does: `pipeline.cpus`, `pipeline.memory`,
  /// `tuner.mode`. Says what was done. kConfig before the first next().
  LoaderResult<std::string> set(const std::string& key, const std::string& value);

  /// Ends the stream: a next() that waits, and all later ones, give nothing.
  void stop();

 private:
  class Running;
  explicit Loader(std::unique_ptr<Running> running);

  std::unique_ptr<Running> running_;
};

}  // namespace forebay
