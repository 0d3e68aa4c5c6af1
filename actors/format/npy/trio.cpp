#include "actors/format/npy/trio.h"

#include <algorithm>
#include <utility>

#include "actors/input/joined_file.h"
#include "core/base/text/number.h"

namespace forebay::npy {
namespace {

std::string rows_text(const Array& array, const std::string& path) {
  const std::string of = array.key.empty() ? "" : " in array \"" + array.key + "\"";
  return path + " has " + std::to_string(array.header.rows) + " rows" + of;
}

class TrioReader {
 public:
  explicit TrioReader(const JoinedFile& file) : file_(file) { trio_.path = file.path(); }

  Result<Trio> read() {
    for (const Part part : {kLabels, kDense, kSparse}) {
      if (auto status = add(part); !status) return pass(status);
    }
    trio_.rows = trio_.arrays.front().header.rows;
    for (std::size_t i = 1; i < trio_.arrays.size(); ++i) {
      if (trio_.arrays[i].header.rows == trio_.rows) continue;
      return fail(Code::kInvalid, rows_text(trio_.arrays[i], path(paths_[i])) + ", and " +
                                      rows_text(trio_.arrays[0], path(kLabels)) +
                                      "; they are not of one data set");
    }
    trio_.digest = digest();
    return std::move(trio_);
  }

 private:
  const std::string& path(Part part) const { return file_.part(part).path(); }

  Status add(Part part) {
    auto arrays = read_arrays(file_.part(part));
    if (!arrays) return pass(arrays);
    const bool is_npz = arrays->size() != 1 || !arrays->front().key.empty();
    if (is_npz != file_.part(part).path().ends_with(".npz")) {
      return fail(Code::kInvalid, path(part) + " holds " + (is_npz ? "a .npz" : "a .npy") +
                                      ", which is not what its name says");
    }
    if (is_npz) {
      if (auto status = sort_multi_hot(*arrays); !status) return status;
    }
    if (auto status = check(part, *arrays); !status) return status;
    for (Array& array : *arrays) {
      array.values += file_.start(part);
      trio_.arrays.push_back(std::move(array));
      paths_.push_back(part);
    }
    return {};
  }

  // The keys are "0", "1" and so on; they become C1, C2 and so on.
  Status sort_multi_hot(std::vector<Array>& arrays) {
    std::vector<Array> sorted(arrays.size());
    for (Array& array : arrays) {
      const std::string& key = array.key;
      const std::size_t number = parse_number<std::size_t>(key).value_or(arrays.size());
      const bool canonical = key == std::to_string(number);
      if (!canonical || number >= arrays.size()) {
        return fail(Code::kInvalid, path(kSparse) + " has an array \"" + key + "\"; its " +
                                        std::to_string(arrays.size()) +
                                        " arrays must be \"0\" to \"" +
                                        std::to_string(arrays.size() - 1) + "\"");
      }
      sorted[number] = std::move(array);
    }
    arrays = std::move(sorted);
    return {};
  }

  Status check(Part part, const std::vector<Array>& arrays) {
    if (part == kLabels && arrays.front().header.columns != 1) {
      return fail(Code::kInvalid, path(part) + " has " +
                                      std::to_string(arrays.front().header.columns) +
                                      " columns; labels are an array [n] or [n, 1]");
    }
    if (part == kDense) trio_.dense = arrays.front().header.columns;
    if (part != kSparse) return {};
    trio_.multi_hot = path(part).ends_with(".npz");
    trio_.sparse =
        trio_.multi_hot ? static_cast<std::uint32_t>(arrays.size()) : arrays.front().header.columns;
    for (const Array& array : arrays) {
      if (!array.header.type.is_float()) continue;
      const std::string of = array.key.empty() ? "" : ": array \"" + array.key + "\"";
      return fail(Code::kInvalid, path(part) + of + " holds " + array.header.type.name() +
                                      ", which are no ids; save integers, such as int32");
    }
    return {};
  }

  Digest digest() const {
    std::string text;
    for (std::size_t i = 0; i < file_.num_parts(); ++i) {
      text += std::to_string(file_.part(i).size()) + '\n';
    }
    for (const Array& array : trio_.arrays) {
      const ArrayHeader& header = array.header;
      text += array.key + '\t' + header.type.name() + '\t' + std::to_string(header.rows) + '\t' +
              std::to_string(header.columns) + (header.by_column ? "\tF\t" : "\tC\t") +
              std::to_string(array.values) + '\n';
    }
    return Digest::of(text.data(), text.size());
  }

  const JoinedFile& file_;
  Trio trio_;
  std::vector<Part> paths_;  // of trio_.arrays
};

}  // namespace

std::vector<std::string> Trio::names() const {
  std::vector<std::string> names = {"label"};
  for (std::uint32_t i = 1; i <= dense; ++i) names.push_back("I" + std::to_string(i));
  for (std::uint32_t i = 1; i <= sparse; ++i) names.push_back("C" + std::to_string(i));
  return names;
}

std::optional<TrioColumn> Trio::column(std::size_t number) const {
  if (number == 0) return TrioColumn{};
  if (--number < dense) return TrioColumn{.array = 1, .first = static_cast<std::uint32_t>(number)};
  number -= dense;
  if (number >= sparse) return std::nullopt;
  if (!multi_hot) return TrioColumn{.array = 2, .first = static_cast<std::uint32_t>(number)};
  return TrioColumn{.array = 2 + number, .items = arrays[2 + number].header.columns};
}

Result<Trio> read_trio(const InputFile& file) {
  const auto* joined = dynamic_cast<const JoinedFile*>(&file);
  if (joined == nullptr || joined->num_parts() != kParts) {
    return fail(Code::kInvalid, file.path() + " was opened without the other files of its trio");
  }
  return TrioReader(*joined).read();
}

}  // namespace forebay::npy
