#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "actors/format/raw_split.h"
#include "actors/input/file_system.h"
#include "actors/pipeline_spec.h"
#include "core/base/random.h"
#include "core/base/result.h"
#include "core/data/column_set.h"
#include "core/data/digest.h"
#include "core/data/repeated_columns.h"
#include "core/data/row_dealer.h"
#include "core/data/schema.h"

namespace forebay {

/// Selects the rows held out for evaluation: a pure function of (seed, file number, byte offset),
/// so that training and evaluation agree on any machine and in any order.
class RowFilter {
 public:
  enum class Keep : std::uint8_t { kAll, kTraining, kHeldOut };

  RowFilter() = default;
  RowFilter(Keep keep, std::uint64_t seed, double share)
      : keep_(share > 0 ? keep : Keep::kAll), seed_(seed), threshold_(threshold_of(share)) {}

  bool keeps_all() const { return keep_ == Keep::kAll; }

  /// Whether the filter keeps the row that starts at `offset` of file number `file`.
  bool keeps(std::uint32_t file, std::uint64_t offset) const {
    if (keep_ == Keep::kAll) return true;
    const bool held_out = mix64(mix64(seed_, file), offset) < threshold_;
    return held_out == (keep_ == Keep::kHeldOut);
  }

 private:
  static std::uint64_t threshold_of(double share) {
    return share >= 1 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(share * 0x1.0p64);
  }

  Keep keep_ = Keep::kAll;
  std::uint64_t seed_ = 0;
  std::uint64_t threshold_ = 0;
};

struct DecodeOptions {
  RowFilter filter;
  bool keep_origins = false;  ///< Fill ColumnSet::origins (sampling and UDF errors need them).
  /// Hint: the caller will deal the rows so. A decoder may do it as it goes and say so, if it
  /// stores repeated columns once itself: rows repeat those that are their neighbours in the file.
  std::optional<RowDeal> deal = std::nullopt;
};

/// The result of decoding a split. Every row that the index counted is in exactly one of the first
/// three members.
struct Decoded {
  /// The rows that the filter keeps, in file order, in the format's schema. A decoder may store its
  /// repeated columns once.
  ColumnSet columns;
  bool is_dealt =
      false;  ///< Not in file order, but as deal_rows() with DecodeOptions::deal has them.
  std::vector<BadRow> bad;     ///< Damaged rows, in file order.
  std::uint64_t filtered = 0;  ///< Sound rows that the filter removed.
  /// For each group of Schema::repeated which rows of `columns` are stored (StoredRows): all others
  /// repeat the stored row before them, whatever the group's columns say of them. Empty where the
  /// decoder does not look for repeated rows.
  std::vector<std::vector<std::uint8_t>> stored = {};
  /// Where the decoder found more or fewer rows than the index counted; the split must not be used
  /// then.
  std::optional<BadRow> miscounted = std::nullopt;
  /// Units only: a place whose bytes are not what the format allows, such as a page with a wrong
  /// checksum; the split must not be used then. `reason` names the column.
  std::optional<BadRow> damaged = std::nullopt;
};

/// Stores the columns of Schema::repeated once (store_once()) unless the decoder has: by
/// `decoded.stored` or, where the decoder did not look for repeated rows, by their values. Returns
/// what repeats in each group.
std::vector<RepeatCount> store_repeated(Decoded& decoded, const Schema& schema, BufferPool& pool);

class TextFormat;
class UnitFormat;

/// The format of the rows of one dataset. Immutable; any thread may decode. Derived from TextFormat
/// or UnitFormat, which say how files are cut into blocks.
class Format {
 public:
  virtual ~Format() = default;
  virtual const Schema& schema() const = 0;
  /// Whether a row of this sparse column of schema() may have more than one id.
  virtual bool may_have_lists(std::size_t sparse) const {
    static_cast<void>(sparse);
    return true;
  }
  /// The most ids that the columns with lists have together in blocks of this extent, or a usual
  /// number where no metadata count them; 0: every row has at most one id in each column.
  virtual std::uint64_t list_ids(const Extent& extent) const {
    static_cast<void>(extent);
    return 0;
  }
  /// Parses a split. Never fails because of the content of rows: damaged rows are returned in the
  /// result, and so is a difference between the number of rows and the index's.
  virtual Decoded decode(const RawSplit& raw, const DecodeOptions& options,
                         BufferPool& pool) const = 0;
  /// The most bytes that blocks of this extent take once decoded.
  virtual std::size_t decoded_bytes(const Extent& extent) const = 0;
  /// Returns a text of all settings of the job that decide where blocks start and, in a format with
  /// units of its own, whether a file fits the dataset. A file whose index was made with another
  /// text is indexed anew.
  virtual std::string index_settings() const = 0;

  /// Exactly one of the two returns this object, the other returns nullptr.
  virtual const TextFormat* text() const { return nullptr; }
  virtual const UnitFormat* units() const { return nullptr; }
};

/// A block that is being fetched. Belongs to one thread at a time; the destructor gives it up.
class PendingBlock {
 public:
  virtual ~PendingBlock() = default;
  /// Waits for the block's bytes. Returns and fails like BlockSource::load().
  virtual Result<std::size_t> finish() = 0;
};

/// Loads the blocks of one file. Belongs to one load actor and has its own open file; not
/// thread-safe.
class BlockSource {
 public:
  virtual ~BlockSource() = default;
  /// Reads `block` into `out`, which holds its loaded_bytes(), and returns the number of bytes that
  /// the block takes there. Checks the block's content as far as the format can. Errors are
  /// kCorrupt or kUnavailable; they name the file and the rows or bytes. A file that is not as it
  /// was indexed is kCorrupt, and the message says so.
  virtual Result<std::size_t> load(const BlockRef& block, std::span<char> out) = 0;
  /// Begins to load `block` in the background, if its file is in a store: then `out` and this
  /// source outlive the result. Returns null where blocks are only loaded at once.
  virtual std::unique_ptr<PendingBlock> begin(const BlockRef& /*block*/, std::span<char> /*out*/) {
    return nullptr;
  }
  /// Hint: `blocks` of this file will be loaded next, so a slow store can start to read them.
  virtual void prepare(std::span<const BlockRef> blocks) { static_cast<void>(blocks); }
};

/// Cuts a byte stream into slots of a power-of-two size. For each slot in which a row starts it
/// keeps one block: the rows that start there. When there are too many blocks it becomes coarser
/// (slots double, blocks merge), so the result depends on the final slot size only. See
/// actors/source/index/block_builder.h.
class BlockBuilder;

/// Finds where rows start in a file's bytes, handed over piece by piece in order.
class RowScanner {
 public:
  virtual ~RowScanner() = default;
  /// Reports each row start in `piece` to `blocks`. kCorrupt names the byte offset and the line of
  /// a row longer than the format's `max_row_bytes`.
  virtual Status scan(std::span<const char> piece, BlockBuilder& blocks) = 0;
  /// Ends the file; a last row without a newline counts.
  virtual void finish(BlockBuilder& blocks) = 0;
};

/// A format of rows in a stream of bytes. Its files may be compressed; a scanner finds the rows in
/// the decompressed bytes, and the rows that start in one slot are a block.
class TextFormat : public Format {
 public:
  const TextFormat* text() const final { return this; }
  /// Returns a scanner for a file from its first byte (BOM and header included).
  virtual std::unique_ptr<RowScanner> scanner() const = 0;
  /// Returns an error for a file whose start does not fit the dataset's first file (another CSV
  /// header). `head` holds at least its first max_row_bytes bytes, or all of it.
  virtual Status accepts(std::span<const char> head) const = 0;
};

/// What a format with units of its own reads and decodes at once, such as a row group or a range of
/// its pages. A unit is one block of the order.
struct Unit {
  std::uint64_t bytes = 0;      ///< UnitRead::bytes().
  std::uint64_t decoded = 0;    ///< The most bytes that it takes as columns.
  std::uint64_t first_row = 0;  ///< Its number in the file; index_units() fills it in.
  std::uint32_t rows = 0;       ///< At least 1, damaged rows included.

  bool operator==(const Unit&) const = default;
};

/// A range of a file's bytes.
struct FileRange {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// What a loaded unit consists of: `head`, all that decode() has to know beside the file's bytes,
/// and then the bytes of `ranges`, back to back.
struct UnitRead {
  std::vector<char> head;
  std::vector<FileRange> ranges;  ///< They do not overlap and lie in the file; in any order.

  std::uint64_t bytes() const;
};

/// A file whose metadata have been read. Immutable; any thread may use it.
class UnitFile {
 public:
  virtual ~UnitFile() = default;
  /// Returns all units, in file order; each row of the file is in one of them.
  virtual std::vector<Unit> units() const = 0;
  /// Returns the digest of the metadata. Files of one size with one digest have equal rows, or
  /// decode() finds the difference as far as the format has checksums.
  virtual Digest content() const = 0;
  /// Returns what to read of the unit of this number in units().
  virtual UnitRead read_of(std::uint64_t unit) const = 0;
};

/// A format whose files say themselves where rows are, so that metadata alone give the blocks.
class UnitFormat : public Format {
 public:
  const UnitFormat* units() const final { return this; }
  /// Reads the metadata of `file` and bounds each number in them before it is used. Reads no rows.
  /// kInvalid for a file that lacks a column of the dataset or has it with another type, kCorrupt
  /// for damaged metadata; the message begins with the path.
  virtual Result<std::unique_ptr<UnitFile>> open(const InputFile& file) const = 0;
  std::size_t decoded_bytes(const Extent& extent) const final { return extent.decoded; }
};

}  // namespace forebay
