#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>

#include "actors/output/footer_writer.h"
#include "actors/output/group_encoder.h"
#include "core/base/whole_file.h"
#include "engine/convert/output_kind.h"

namespace forebay {
namespace {

/// Row groups of a file at most: about 4 million rows, and a footer of some megabytes.
constexpr std::uint64_t kFileGroups = 512;
/// Memory of a chunk's metadata until the footer is written.
constexpr std::uint64_t kChunkBytes = 512;

class ParquetRowEncoder final : public RowEncoder {
 public:
  explicit ParquetRowEncoder(std::vector<parquet::OutputColumn> columns)
      : encoder_(std::move(columns)) {}

  Result<EncodedRows> encode(std::shared_ptr<const Batch> batch, EncodedRows used) override {
    auto group = encoder_.encode(*batch, std::move(used.group.bytes));
    if (!group) return pass(group);
    EncodedRows rows;
    rows.rows = batch->rows;
    rows.group = std::move(*group);
    return rows;
  }

 private:
  parquet::GroupEncoder encoder_;
};

class ParquetWriter final : public RowWriter {
 public:
  ParquetWriter(const std::vector<parquet::OutputColumn>& columns, std::vector<std::string> paths,
                FileCommits& commits)
      : columns_(columns), paths_(std::move(paths)), commits_(commits) {}

  Status add(EncodedRows& rows) override {
    if (groups_ == kFileGroups) {
      if (auto ended = end_file(); !ended) return ended;
    }
    if (auto begun = begin_file(); !begun) return begun;
    const std::uint64_t offset = size_;
    if (auto written = write(rows.group.bytes); !written) return written;
    std::string used = std::move(rows.group.bytes);
    footer_->add(std::move(rows.group), offset);
    rows.group.bytes = std::move(used);
    ++groups_;
    return {};
  }

  // Damaged rows may leave a file without rows, so that fewer files are needed than were named.
  Status finish() override {
    if (next_ == 0) {
      if (auto begun = begin_file(); !begun) return begun;
    }
    return file_ ? end_file() : Status{};
  }

 private:
  Status begin_file() {
    if (file_) return {};
    auto file = FileAside::create(paths_[next_++]);
    if (!file) return pass(file);
    file_ = std::make_unique<FileAside>(std::move(*file));
    footer_.emplace(columns_);
    size_ = 0;
    groups_ = 0;
    return write(parquet::kMagic);
  }

  Status write(std::string_view bytes) {
    size_ += bytes.size();
    return file_->write(bytes);
  }

  Status end_file() {
    if (auto written = write(footer_->finish(size_)); !written) return written;
    sizes_.push_back(size_);
    return commits_.add(std::move(file_));
  }

  const std::vector<parquet::OutputColumn>& columns_;
  const std::vector<std::string> paths_;
  FileCommits& commits_;
  std::size_t next_ = 0;             // of paths_
  std::unique_ptr<FileAside> file_;  // this and below: of the file being written
  std::optional<parquet::FooterWriter> footer_;
  std::uint64_t size_ = 0;
  std::uint64_t groups_ = 0;
};

class ParquetOutput final : public OutputKind {
 public:
  explicit ParquetOutput(std::vector<parquet::OutputColumn> columns)
      : columns_(std::move(columns)) {}

  std::vector<std::string> paths(const std::string& stem, std::uint64_t rows) const override {
    constexpr std::uint64_t kFileRows = kFileGroups * kGroupRows;
    if (rows <= kFileRows) return {stem + ".parquet"};
    std::vector<std::string> paths;
    for (std::uint64_t part = 0; part * kFileRows < rows; ++part) {
      char number[24];
      std::snprintf(number, sizeof number, "-%05llu", static_cast<unsigned long long>(part));
      paths.push_back(stem + number + ".parquet");
    }
    return paths;
  }

  std::unique_ptr<RowEncoder> encoder() const override {
    return std::make_unique<ParquetRowEncoder>(columns_);
  }

  std::unique_ptr<RowWriter> writer(std::vector<std::string> paths,
                                    FileCommits& commits) const override {
    return std::make_unique<ParquetWriter>(columns_, std::move(paths), commits);
  }

  std::uint64_t encoder_bytes(std::uint64_t batch) const override {
    return parquet::GroupEncoder::peak_bytes(batch);
  }

  std::uint64_t writer_bytes() const override {
    return kFileGroups * columns_.size() * kChunkBytes;
  }

 private:
  const std::vector<parquet::OutputColumn> columns_;
};

}  // namespace

std::unique_ptr<OutputKind> parquet_output(std::vector<parquet::OutputColumn> columns) {
  return std::make_unique<ParquetOutput>(std::move(columns));
}

}  // namespace forebay
