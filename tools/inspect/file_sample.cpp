#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <utility>

#include "actors/input/file_system.h"
#include "actors/input/store/stores.h"
#include "actors/source/stored/byte_stream.h"
#include "tools/inspect/inspect.h"

namespace forebay {
namespace {

constexpr std::size_t kPadding = 64;

}  // namespace

std::uint64_t FileSample::scaled(std::uint64_t count) const {
  if (whole || consumed == 0) return count;
  const double factor = static_cast<double>(stored_bytes) / static_cast<double>(consumed);
  return static_cast<std::uint64_t>(static_cast<double>(count) * std::max(factor, 1.0));
}

FileSystems file_systems_to_inspect() {
  constexpr std::chrono::seconds kPatience(10);
  StoreClientOptions options;
  options.storage.give_up_after = kPatience;
  return all_file_systems(std::move(options));
}

Result<FileSample> read_sample(const std::string& path) {
  const FileSystems systems = file_systems_to_inspect();
  auto opened = systems.of(path)->open(path);
  if (!opened) return pass(opened);
  const InputFile& file = **opened;
  std::array<char, 8> head{};
  auto got = file.read_at(0, head);
  if (!got) return pass(got);
  auto codec = detect_codec(path, std::span(head).first(*got));
  if (!codec) return pass(codec);
  auto stream = open_stream(file, *codec, {}, nullptr);
  if (!stream) return pass(stream);
  FileSample sample{.path = path, .codec = *codec, .stored_bytes = file.size()};
  sample.bytes.resize(FileSample::kBytes + kPadding);
  // Reads one byte more than the sample, to find out whether the file ends there.
  auto read = (*stream)->next(std::span(sample.bytes).first(FileSample::kBytes + 1));
  if (!read) return pass(read);
  sample.whole = *read <= FileSample::kBytes;
  sample.size = std::min(*read, FileSample::kBytes);
  std::fill(sample.bytes.begin() + static_cast<std::ptrdiff_t>(sample.size), sample.bytes.end(),
            '\0');
  // For a plain file, consumed() also counts the byte after the sample.
  sample.consumed = *codec == Codec::kPlain ? sample.size : (*stream)->consumed();
  return sample;
}

}  // namespace forebay
