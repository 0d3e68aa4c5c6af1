#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/data/batch.h"
#include "core/data/schema.h"

namespace forebay {

/// `--dump FILE`: the batches as the trainer would see them, in order, as a readable TSV.
///
/// A header (`batch`, `label`, the dense names, the sparse names, `weight` if rows have one, the
/// extra names), then one line for each row; floats as `%.9g`, doubles as `%.17g`, a sparse field
/// as its ids joined by commas. Belongs to one thread.
class DumpFile {
 public:
  /// Empties the file, which no other dump can have until this one is destroyed. kInvalid: it
  /// cannot be opened, or another run writes it.
  static Result<DumpFile> create(const std::string& path, const Schema& schema);

  Status write(const Batch& batch);
  /// Flushes the buffer; the file is complete only after this call.
  Status finish();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  DumpFile(std::string path, std::FILE* file) : path_(std::move(path)), file_(file) {}
  void append_rest(const Batch& batch, std::size_t row);
  Status flush();
  Error problem() const;

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  std::string text_;
  std::vector<ExtraColumn::Kind> extras_;
};

}  // namespace forebay
