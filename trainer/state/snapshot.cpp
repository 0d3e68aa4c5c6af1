#include "trainer/state/snapshot.h"

#include <algorithm>

namespace forebay {
namespace {

struct Element {
  std::string_view name;
  std::size_t size;
};

constexpr std::array<Element, 7> kElements = {
    {{"F32", 4}, {"F64", 8}, {"I32", 4}, {"I64", 8}, {"U8", 1}, {"U32", 4}, {"U64", 8}}};

const Element& element(ElementType type) { return kElements[static_cast<std::size_t>(type)]; }

std::string describe(const StateTensor& tensor) {
  std::string text = tensor.shape.empty() ? "one" : "";
  for (const std::int64_t extent : tensor.shape) {
    if (!text.empty()) text += " x ";
    text += std::to_string(extent);
  }
  return text.append(" ").append(name_of(tensor.type));
}

std::string title_of(const StateTensor& tensor) {
  constexpr std::array<std::string_view, 3> kOf = {"", " of the optimizer", " of the tables"};
  return tensor.name + std::string(kOf[static_cast<std::size_t>(tensor.part)]);
}

const StateTensor* find(const std::vector<StateTensor>& tensors, const StateTensor& like) {
  const auto same = std::ranges::find_if(tensors, [&](const StateTensor& tensor) {
    return tensor.part == like.part && tensor.name == like.name;
  });
  return same == tensors.end() ? nullptr : &*same;
}

}  // namespace

std::size_t size_of(ElementType type) { return element(type).size; }

std::string_view name_of(ElementType type) { return element(type).name; }

std::uint64_t StateTensor::bytes() const {
  std::uint64_t bytes = size_of(type);
  for (const std::int64_t extent : shape) bytes *= static_cast<std::uint64_t>(extent);
  return bytes;
}

bool StateTensor::is_sound() const {
  std::uint64_t bytes = size_of(type);
  for (const std::int64_t extent : shape) {
    if (extent < 0) return false;
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes)) return false;
  }
  return true;
}

Status StateSource::link_files(const std::string&) { return {}; }

Result<std::string> StateSource::files_folder() { return std::string(); }

Status read_rows(StateSource& state, std::size_t index, const TakeRows& take) {
  const auto rows = static_cast<std::size_t>(state.tensors()[index].shape[0]);
  const auto width = static_cast<std::size_t>(state.tensors()[index].shape[1]);
  std::vector<float> values(std::min(rows, kRowsAtOnce) * width);
  for (std::size_t first = 0; first < rows; first += kRowsAtOnce) {
    const auto some = std::span(values).first(std::min(kRowsAtOnce, rows - first) * width);
    auto done = state.read(index, first * width * sizeof(float), std::as_writable_bytes(some));
    if (done) done = take(first, some);
    if (!done) return done;
  }
  return {};
}

Status check_tensors(const std::vector<StateTensor>& wanted,
                     const std::vector<StateTensor>& offered) {
  for (const StateTensor& tensor : wanted) {
    const StateTensor* other = find(offered, tensor);
    if (other == nullptr) return fail(Code::kInvalid, title_of(tensor) + " is not in it");
    if (tensor.type != other->type || tensor.shape != other->shape) {
      return fail(Code::kInvalid, title_of(tensor) + " is " + describe(*other) + " in it and " +
                                      describe(tensor) + " in this model");
    }
  }
  for (const StateTensor& tensor : offered) {
    if (find(wanted, tensor) == nullptr) {
      return fail(Code::kInvalid, "it has " + title_of(tensor) + ", which this model has not");
    }
  }
  return {};
}

}  // namespace forebay
