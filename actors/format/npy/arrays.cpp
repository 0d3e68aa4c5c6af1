#include "actors/format/npy/arrays.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <utility>

#include "actors/format/npy/zip_directory.h"

namespace forebay::npy {
namespace {

using namespace std::literals;

constexpr std::string_view kSuffix = ".npy";
constexpr std::size_t kMostArrays = 4096;  // so that their headers take at most 16 MiB

Result<std::vector<Array>> read_npy(const InputFile& file) {
  std::string start(std::min<std::uint64_t>(file.size(), kMostHeader), '\0');
  if (auto status = file.read(0, start); !status) return pass(status);
  auto header = parse_array_header(start, file.size());
  if (!header) return fail(header.error().code, file.path() + ": " + header.error().message);
  return std::vector{Array{.key = {}, .header = *header, .values = header->data_start}};
}

// The start of an entry, from its local header on.
struct Start {
  StoredEntry entry;
  std::uint64_t end = 0;  // the most that the entry may reach to
  std::vector<char> bytes;
};

tl::unexpected<Error> refuse(const InputFile& file, const std::string& name, const Error& error) {
  return fail(error.code, file.path() + ": array \"" + name + "\": " + error.message);
}

Result<Array> array_of(const InputFile& file, const Start& start) {
  const std::string& name = start.entry.name;
  const std::uint64_t skipped = local_header_bytes(start.bytes);
  const std::uint64_t room = start.end - start.entry.local_header;
  if (skipped == 0 || skipped > room || start.entry.bytes > room - skipped) {
    return refuse(file, name, {Code::kCorrupt, "its local header in the zip archive is damaged"});
  }
  std::span<const char> bytes(start.bytes);
  bytes = bytes.subspan(std::min<std::uint64_t>(skipped, bytes.size()));
  bytes = bytes.first(
      std::min({start.entry.bytes, std::uint64_t{bytes.size()}, std::uint64_t{kMostHeader}}));
  auto header = parse_array_header(bytes, start.entry.bytes);
  if (!header) return refuse(file, name, header.error());
  return Array{.key = name.substr(0, name.size() - kSuffix.size()),
               .header = *header,
               .values = start.entry.local_header + skipped + header->data_start};
}

// Reads the starts of all entries at once, since each read may be a request to a store.
Result<std::vector<Start>> read_starts(const InputFile& file, std::vector<StoredEntry> entries) {
  std::vector<std::uint64_t> borders = {file.size()};
  for (const StoredEntry& entry : entries) borders.push_back(entry.local_header);
  std::ranges::sort(borders);
  std::vector<Start> starts;
  std::vector<ReadRange> ranges;
  starts.reserve(entries.size());
  for (StoredEntry& entry : entries) {
    Start& start = starts.emplace_back();
    start.end = *std::ranges::upper_bound(borders, entry.local_header);
    const std::uint64_t room = start.end - entry.local_header;
    start.bytes.resize(std::min<std::uint64_t>(room, kLocalHeader + kMostHeader));
    ranges.push_back({entry.local_header, start.bytes});
    start.entry = std::move(entry);
  }
  if (auto status = file.begin_read(std::move(ranges))->wait(); !status) return pass(status);
  return starts;
}

Result<std::vector<Array>> read_npz(const InputFile& file) {
  auto entries = read_zip_directory(file);
  if (!entries) return pass(entries);
  if (entries->size() > kMostArrays) {
    return fail(Code::kInvalid, file.path() + " holds " + std::to_string(entries->size()) +
                                    " arrays; at most " + std::to_string(kMostArrays) +
                                    " are read");
  }
  auto starts = read_starts(file, std::move(*entries));
  if (!starts) return pass(starts);
  std::vector<Array> arrays;
  std::set<std::string> keys;
  for (const Start& start : *starts) {
    if (!start.entry.name.ends_with(kSuffix)) {
      return fail(Code::kInvalid, file.path() + " holds \"" + start.entry.name +
                                      "\", which is no array; write it with np.savez");
    }
    auto array = array_of(file, start);
    if (!array) return pass(array);
    if (!keys.insert(array->key).second) {
      return fail(Code::kCorrupt, file.path() + " holds two arrays \"" + array->key + "\"");
    }
    arrays.push_back(std::move(*array));
  }
  return arrays;
}

}  // namespace

bool is_zip(std::string_view start) {
  return start.starts_with("PK\3\4"sv) || start.starts_with("PK\5\6"sv);
}

bool is_npy(std::string_view start) { return start.starts_with("\x93NUMPY"sv); }

Result<std::vector<Array>> read_arrays(const InputFile& file) {
  std::array<char, 6> start{};
  auto got = file.read_at(0, start);
  if (!got) return pass(got);
  if (is_zip({start.data(), *got})) return read_npz(file);
  return read_npy(file);
}

}  // namespace forebay::npy
