#include "trainer/saving/tensor_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <span>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/base/all_bytes.h"
#include "core/base/open_files.h"
#include "core/base/text/json_text.h"

namespace forebay {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little);

constexpr std::uint64_t kLength = sizeof(std::uint64_t);
constexpr std::uint64_t kMostHeader = std::uint64_t{64} << 20;

std::string header_of(const std::vector<StateTensor>& tensors) {
  json header = json::object();
  std::uint64_t offset = 0;
  for (const StateTensor& tensor : tensors) {
    const std::uint64_t end = offset + tensor.bytes();
    header[tensor.name] = {
        {"dtype", name_of(tensor.type)}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = json_text(header);
  text.append((8 - text.size() % 8) % 8, ' ');  // Aligns the values.
  return text;
}

std::optional<ElementType> type_named(const json& name) {
  for (int type = 0; type <= static_cast<int>(ElementType::kU64); ++type) {
    if (name == name_of(static_cast<ElementType>(type))) return static_cast<ElementType>(type);
  }
  return std::nullopt;
}

struct Entry {
  StateTensor tensor;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

std::optional<Entry> parse_entry(const std::string& name, const json& announced,
                                 StateTensor::Part part) {
  const auto is_size = [](const json& number) { return number.is_number_unsigned(); };
  if (!announced.is_object() || !announced.contains("dtype")) return std::nullopt;
  const json shape = announced.value("shape", json());
  const json offsets = announced.value("data_offsets", json());
  const auto type = type_named(announced["dtype"]);
  if (!type || !shape.is_array() || !std::ranges::all_of(shape, is_size)) return std::nullopt;
  if (!offsets.is_array() || offsets.size() != 2) return std::nullopt;
  if (!std::ranges::all_of(offsets, is_size)) return std::nullopt;
  Entry entry{.tensor = {.name = name, .part = part, .type = *type}};
  for (const json& extent : shape) entry.tensor.shape.push_back(extent.get<std::int64_t>());
  entry.begin = offsets[0].get<std::uint64_t>();
  entry.end = offsets[1].get<std::uint64_t>();
  const bool fits = entry.tensor.is_sound() && entry.begin <= entry.end &&
                    entry.end - entry.begin == entry.tensor.bytes();
  return fits ? std::optional(std::move(entry)) : std::nullopt;
}

}  // namespace

Result<std::unique_ptr<BlockFileWriter>> create_tensor_file(
    const std::string& path, const std::vector<StateTensor>& tensors) {
  auto file = BlockFileWriter::create(path);
  if (!file) return pass(file);
  const std::string header = header_of(tensors);
  const auto length = std::bit_cast<std::array<std::byte, kLength>>(std::uint64_t{header.size()});
  auto written = (*file)->write(length);
  if (written) written = (*file)->write(std::as_bytes(std::span(header)));
  if (!written) return pass(written);
  return file;
}

Result<TensorFile> TensorFile::open(const std::string& path, StateTensor::Part part) {
  TensorFile file(path);
  if (auto read = file.read_header(part); !read) return pass(read);
  return file;
}

Status TensorFile::read_header(StateTensor::Part part) {
  const Descriptor file(open_file(path_, O_RDONLY));
  struct stat about = {};
  if (!file || ::fstat(file.number(), &about) != 0) return reading_error(path_, "be opened");
  const auto file_bytes = static_cast<std::uint64_t>(about.st_size);
  std::uint64_t length = 0;
  const ssize_t got = read_all_at(file.number(), std::as_writable_bytes(std::span(&length, 1)), 0);
  if (got < 0) return reading_error(path_, "be read");
  if (got != sizeof length || length > kMostHeader || length > file_bytes - kLength) {
    return damaged();
  }
  std::string text(length, '\0');
  const ssize_t more = read_all_at(file.number(), std::as_writable_bytes(std::span(text)), kLength);
  if (more < 0) return reading_error(path_, "be read");
  if (static_cast<std::uint64_t>(more) != length) return damaged();
  const json header = parse_json(text);
  if (header.is_discarded() || !header.is_object()) return damaged();
  std::vector<Entry> entries;
  for (const auto& [name, announced] : header.items()) {
    if (name == "__metadata__") continue;
    auto entry = parse_entry(name, announced, part);
    if (!entry) return damaged();
    entries.push_back(std::move(*entry));
  }
  std::ranges::sort(entries, {},
                    [](const Entry& entry) { return std::pair(entry.begin, entry.end); });
  std::uint64_t end = 0;
  for (Entry& entry : entries) {
    if (entry.begin != end) return damaged();
    end = entry.end;
    begins_.push_back(kLength + length + entry.begin);
    tensors_.push_back(std::move(entry.tensor));
  }
  return end == file_bytes - kLength - length ? Status() : damaged();
}

Status TensorFile::start() {
  if (file_) return {};
  auto file = BlockFileReader::open(path_);
  if (!file) return pass(file);
  file_ = std::move(*file);
  return {};
}

Status TensorFile::read(std::size_t index, std::uint64_t offset, std::span<std::byte> to) {
  if (auto started = start(); !started) return started;
  const std::uint64_t begin = begins_[index] + offset;
  if (begin < file_->position()) {
    return fail(Code::kCorrupt, path_ + ": its tensors are not in the order of what wrote them");
  }
  if (auto there = file_->skip_to(begin); !there) return there;
  return file_->read(to);
}

Result<FileDigest> TensorFile::finish() {
  if (auto started = start(); !started) return pass(started);
  auto written = file_->finish();
  file_.reset();
  return written;
}

}  // namespace forebay
