#include "trainer/tensor_file.h"

#include <array>
#include <bit>
#include <cstdint>
#include <fstream>

#include <nlohmann/json.hpp>

namespace forebay {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little);

std::string header_of(const std::vector<StateTensor>& tensors) {
  json header = json::object();
  std::uint64_t offset = 0;
  for (const StateTensor& tensor : tensors) {
    const std::uint64_t end = offset + tensor.values.size_bytes();
    header[tensor.name] = {
        {"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');  // So that the values are aligned.
  return text;
}

std::array<char, 8> length_of(const std::string& header) {
  return std::bit_cast<std::array<char, 8>>(std::uint64_t{header.size()});
}

}  // namespace

Result<DurableFile::Written> write_tensors(const std::string& path,
                                           const std::vector<StateTensor>& tensors) {
  auto file = DurableFile::create(path);
  if (!file) return pass(file);
  const std::string header = header_of(tensors);
  const auto length = length_of(header);
  auto written = file->write(length.data(), length.size());
  if (written) written = file->write(header.data(), header.size());
  for (const StateTensor& tensor : tensors) {
    if (written) written = file->write(tensor.values.data(), tensor.values.size_bytes());
  }
  if (!written) return pass(written);
  return file->finish();
}

Status read_tensors(const std::string& path, const std::vector<StateTensor>& tensors) {
  std::ifstream file(path, std::ios::binary);
  const std::string expected = header_of(tensors);
  std::array<char, 8> length{};
  file.read(length.data(), length.size());
  std::string header(expected.size(), '\0');
  if (length == length_of(expected))
    file.read(header.data(), static_cast<std::streamsize>(header.size()));
  if (!file || header != expected) {
    return fail(Code::kInvalid,
                path +
                    ": holds another model than the job file asks for; give it back its columns "
                    "and [trainer] sizes, or start anew with --restart");
  }
  for (const StateTensor& tensor : tensors) {
    file.read(reinterpret_cast<char*>(tensor.values.data()),
              static_cast<std::streamsize>(tensor.values.size_bytes()));
  }
  if (!file) return fail(Code::kCorrupt, path + ": ends before its values do");
  return {};
}

}  // namespace forebay
