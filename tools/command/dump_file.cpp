#include "tools/command/dump_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <vector>

#include "core/base/check.h"
#include "core/base/descriptor.h"
#include "core/base/file_lock.h"
#include "core/base/open_files.h"
#include "core/base/text/printable.h"

namespace forebay {
namespace {

/// Appends a number as std::to_chars writes it in this format.
template <class Number, class... Format>
void append_number(std::string& text, Number number, Format... format) {
  std::array<char, 32> digits;
  char* const end = digits.data() + digits.size();
  text.append(digits.data(), std::to_chars(digits.data(), end, number, format...).ptr);
}

void append_float(std::string& text, float value) {
  const double shown = std::isnan(value) ? std::abs(value) : value;  // without the sign of a NaN
  append_number(text, shown, std::chars_format::general, 9);
}

void append_double(std::string& text, double value) {
  const double shown = std::isnan(value) ? std::abs(value) : value;
  append_number(text, shown, std::chars_format::general, 17);
}

/// Returns where each feature's ids begin.
std::vector<const std::int64_t*> first_ids(const Batch& batch) {
  std::vector<const std::int64_t*> first;
  const std::int64_t* at = batch.ids;
  for (std::size_t feature = 0; feature < batch.sparse_features; ++feature) {
    first.push_back(at);
    for (std::size_t row = 0; row < batch.rows; ++row)
      at += batch.lengths[feature * batch.rows + row];
  }
  return first;
}

void append_list(std::string& text, const std::int64_t* ids, std::int32_t length) {
  for (std::int32_t i = 0; i < length; ++i) {
    if (i > 0) text += ',';
    append_number(text, ids[i]);
  }
}

/// Opens the file and empties it, once no other run can write it. Pipes and devices are not locked.
Result<Descriptor> open_empty(const std::string& path) {
  const auto refuse = [&](const std::string& why) {
    return fail(Code::kInvalid, "--dump " + path + ": " + why);
  };
  if (path == "-") return refuse("give /dev/stdout, or ./- for a file of that name");
  Descriptor file(open_file(path, O_WRONLY | O_CREAT, 0666));
  struct stat about = {};
  if (!file || ::fstat(file.number(), &about) != 0) return refuse(system_words(errno));
  if (!S_ISREG(about.st_mode)) return file;
  if (!try_lock(file)) return refuse("another run writes it; wait for it, or give another file");
  if (::ftruncate(file.number(), 0) != 0) return refuse(system_words(errno));
  return file;
}

}  // namespace

Result<DumpFile> DumpFile::create(const std::string& path, const Schema& schema) {
  auto opened = open_empty(path);
  if (!opened) return pass(opened);
  std::FILE* file = ::fdopen(opened->number(), "w");
  FOREBAY_CHECK(file != nullptr);
  opened->release();
  DumpFile dump(path, file);
  dump.text_ = "batch\tlabel";
  for (const std::string& name : schema.dense) dump.text_ += '\t' + printable_field(name);
  for (const SparseFeature& feature : schema.sparse) {
    dump.text_ += '\t' + printable_field(feature.name);
  }
  if (schema.weight) dump.text_ += "\tweight";
  for (const ExtraColumn& extra : schema.extra) {
    dump.text_ += '\t' + printable_field(extra.name);
    dump.extras_.push_back(extra.kind);
  }
  dump.text_ += '\n';
  return dump;
}

Status DumpFile::write(const Batch& batch) {
  auto ids = first_ids(batch);
  for (std::size_t row = 0; row < batch.rows; ++row) {
    append_number(text_, batch.number);
    text_ += '\t';
    append_float(text_, batch.labels[row]);
    for (std::size_t column = 0; column < batch.dense_features; ++column) {
      text_ += '\t';
      append_float(text_, batch.dense[row * batch.dense_features + column]);
    }
    for (std::size_t feature = 0; feature < batch.sparse_features; ++feature) {
      const std::int32_t length = batch.lengths[feature * batch.rows + row];
      text_ += '\t';
      append_list(text_, ids[feature], length);
      ids[feature] += length;
    }
    append_rest(batch, row);
    text_ += '\n';
    if (text_.size() > (1 << 20)) {
      if (auto status = flush(); !status) return status;
    }
  }
  return flush();
}

void DumpFile::append_rest(const Batch& batch, std::size_t row) {
  if (batch.weights != nullptr) {
    text_ += '\t';
    append_float(text_, batch.weights[row]);
  }
  for (std::size_t column = 0; column < batch.extra_columns; ++column) {
    const std::int64_t value = batch.extras[column * batch.rows + row];
    text_ += '\t';
    if (extras_[column] == ExtraColumn::Kind::kInt64) {
      append_number(text_, value);
    } else {
      append_double(text_, std::bit_cast<double>(value));
    }
  }
}

Status DumpFile::flush() {
  const std::size_t written = std::fwrite(text_.data(), 1, text_.size(), file_.get());
  if (written != text_.size()) return tl::unexpected<Error>(problem());
  text_.clear();
  return {};
}

Status DumpFile::finish() {
  if (auto status = flush(); !status) return status;
  if (std::fflush(file_.get()) != 0) return tl::unexpected<Error>(problem());
  return {};
}

Error DumpFile::problem() const {
  return {Code::kUnavailable, "--dump " + path_ + ": " + std::strerror(errno)};
}

}  // namespace forebay
