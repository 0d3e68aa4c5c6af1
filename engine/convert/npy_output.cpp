#include <array>
#include <string_view>
#include <utility>

#include "core/base/whole_file.h"
#include "engine/convert/output_kind.h"

namespace forebay {
namespace {

class NpyRowEncoder final : public RowEncoder {
 public:
  explicit NpyRowEncoder(const Schema& schema) : schema_(schema) {}

  Result<EncodedRows> encode(std::shared_ptr<const Batch> batch, EncodedRows used) override {
    auto matrices = npy::encode(*batch, schema_, std::move(used.matrices));
    if (!matrices) return pass(matrices);
    EncodedRows rows;
    rows.rows = batch->rows;
    rows.matrices = std::move(*matrices);
    rows.batch = std::move(batch);
    return rows;
  }

 private:
  const Schema& schema_;
};

/// One matrix of a trio.
class Matrix {
 public:
  Matrix(std::string type, std::size_t columns) : type_(std::move(type)), columns_(columns) {}

  Status write(const std::string& path, std::string_view bytes) {
    if (!file_) {
      auto file = FileAside::create(path);
      if (!file) return pass(file);
      file_ = std::make_unique<FileAside>(std::move(*file));
      if (auto begun = add(npy::header(type_, 0, columns_)); !begun) return begun;
    }
    return add(bytes);
  }

  /// The number of rows is known only now, so the header is written once more.
  Status finish(std::uint64_t rows, FileCommits& commits) {
    if (auto done = file_->rewrite(0, npy::header(type_, rows, columns_)); !done) return done;
    return commits.add(std::move(file_));
  }

  std::uint64_t bytes() const { return bytes_; }

 private:
  Status add(std::string_view bytes) {
    bytes_ += bytes.size();
    return file_->write(bytes);
  }

  const std::string type_;
  const std::size_t columns_;
  std::unique_ptr<FileAside> file_;
  std::uint64_t bytes_ = 0;
};

class NpyWriter final : public RowWriter {
 public:
  NpyWriter(const Schema& schema, std::vector<std::string> paths, FileCommits& commits)
      : paths_(std::move(paths)),
        commits_(commits),
        matrices_{Matrix("<f4", schema.dense.size()), Matrix("<i4", schema.sparse.size()),
                  Matrix("<i4", 1)} {}

  Status add(EncodedRows& rows) override {
    rows_ += rows.rows;
    auto written =
        write({npy::dense_bytes(*rows.batch), rows.matrices.sparse, rows.matrices.labels});
    rows.batch.reset();
    return written;
  }

  Status finish() override {
    if (auto begun = write({}); !begun) return begun;
    for (Matrix& matrix : matrices_) {
      if (auto done = matrix.finish(rows_, commits_); !done) return done;
      sizes_.push_back(matrix.bytes());
    }
    return {};
  }

 private:
  Status write(const std::array<std::string_view, 3>& bytes) {
    for (std::size_t i = 0; i < matrices_.size(); ++i) {
      if (auto written = matrices_[i].write(paths_[i], bytes[i]); !written) return written;
    }
    return {};
  }

  const std::vector<std::string> paths_;
  FileCommits& commits_;
  std::array<Matrix, 3> matrices_;
  std::uint64_t rows_ = 0;
};

class NpyOutput final : public OutputKind {
 public:
  explicit NpyOutput(const Schema& schema) : schema_(schema) {}

  std::vector<std::string> paths(const std::string& stem, std::uint64_t) const override {
    return {stem + "_dense.npy", stem + "_sparse.npy", stem + "_labels.npy"};
  }

  std::unique_ptr<RowEncoder> encoder() const override {
    return std::make_unique<NpyRowEncoder>(schema_);
  }

  std::unique_ptr<RowWriter> writer(std::vector<std::string> paths,
                                    FileCommits& commits) const override {
    return std::make_unique<NpyWriter>(schema_, std::move(paths), commits);
  }

  std::uint64_t encoder_bytes(std::uint64_t batch) const override { return 2 * batch; }
  std::uint64_t writer_bytes() const override { return 0; }

 private:
  const Schema schema_;
};

}  // namespace

std::unique_ptr<OutputKind> npy_output(const Schema& schema) {
  return std::make_unique<NpyOutput>(schema);
}

}  // namespace forebay
