#include "python/src/array.h"

#include <cstring>
#include <functional>
#include <numeric>
#include <string>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include "python/src/dlpack.h"

namespace forebay::python {
namespace {

namespace nb = nanobind;

Array::Dimensions without_gaps(const Array::Dimensions& shape) {
  Array::Dimensions strides(shape.size());
  std::int64_t step = 1;
  for (std::size_t at = shape.size(); at-- > 0; step *= shape[at]) strides[at] = step;
  return strides;
}

/// Whether the elements follow one another in the order of the last dimension, or of the first. The
/// step of a dimension with one element does not count, and without elements none does.
bool follow_one_another(const Array& array, bool first_is_fastest) {
  const Array::Dimensions& shape = array.shape();
  std::int64_t step = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::size_t at = first_is_fastest ? i : shape.size() - 1 - i;
    if (shape[at] > 1 && array.strides()[at] != step) return array.size() == 0;
    step *= shape[at];
  }
  return true;
}

/// NumPy's name of a type, little-endian.
std::string type_name(Element element) {
  const char kind = element == Element::kFloat32 || element == Element::kFloat64 ? 'f'
                    : element == Element::kByte                                  ? 'u'
                                                                                 : 'i';
  return (element == Element::kByte ? "|" : "<") + std::string(1, kind) +
         std::to_string(size_of(element));
}

dlpack::DataType dlpack_type(Element element) {
  const bool is_float = element == Element::kFloat32 || element == Element::kFloat64;
  const std::uint8_t code = is_float ? 2 : element == Element::kByte ? 1 : 0;
  return {code, static_cast<std::uint8_t>(8 * size_of(element)), 1};
}

nb::tuple to_tuple(const Array::Dimensions& numbers, std::int64_t factor = 1) {
  nb::list list;
  for (const std::int64_t number : numbers) list.append(number * factor);
  return nb::tuple(list);
}

std::int64_t item_bytes(const Array& array) {
  return static_cast<std::int64_t>(size_of(array.element()));
}

/// What a consumer of DLPack owns: an array of its own, and the structure that refers to it.
template <class Structure>
struct Handed {
  explicit Handed(Array kept) : array(std::move(kept)) {}
  Array array;
  Array::Dimensions shape = array.shape();
  Array::Dimensions strides = array.strides();
  Structure structure;
};

/// Ends a capsule that nobody consumed: consumers rename it.
template <class Structure>
void end_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, Structure::kName) == 0) return;
  auto* unused = static_cast<Structure*>(PyCapsule_GetPointer(capsule, Structure::kName));
  unused->deleter(unused);
}

template <class Structure>
nb::object capsule_of(Array array, const std::function<void(Structure&)>& finish) {
  auto handed = std::make_unique<Handed<Structure>>(std::move(array));
  Structure& structure = handed->structure;
  structure.tensor.data = const_cast<void*>(handed->array.data());  // DLPack has no other type.
  structure.tensor.dimensions = static_cast<std::int32_t>(handed->shape.size());
  structure.tensor.type = dlpack_type(handed->array.element());
  structure.tensor.shape = handed->shape.data();
  structure.tensor.strides = handed->strides.data();
  structure.context = handed.get();
  // Holds no Python object, so that the consumer may call it on any thread.
  structure.deleter = [](Structure* own) {
    const std::unique_ptr<Handed<Structure>> ended(static_cast<Handed<Structure>*>(own->context));
  };
  finish(structure);
  PyObject* capsule = PyCapsule_New(&structure, Structure::kName, &end_capsule<Structure>);
  if (capsule == nullptr) throw nb::python_error();
  static_cast<void>(handed.release());  // The capsule, then its consumer, owns it.
  return nb::steal(capsule);
}

nb::dict array_interface(const Array& array) {
  nb::dict interface;
  interface["version"] = 3;
  interface["shape"] = to_tuple(array.shape());
  interface["typestr"] = type_name(array.element());
  interface["strides"] = to_tuple(array.strides(), item_bytes(array));
  interface["data"] =
      nb::make_tuple(reinterpret_cast<std::uintptr_t>(array.data()), /*read_only=*/true);
  return interface;
}

/// Whether a buffer with these flags may show the array; a consumer that asks for no strides takes
/// the elements to follow one another.
bool can_be_shown(const Array& array, int flags) {
  const auto asks = [flags](int kind) { return (flags & kind) == kind; };
  const bool by_rows = follow_one_another(array, false);
  if (asks(PyBUF_ANY_CONTIGUOUS)) return by_rows || follow_one_another(array, true);
  if (asks(PyBUF_F_CONTIGUOUS)) return follow_one_another(array, true);
  return by_rows || (asks(PyBUF_STRIDES) && !asks(PyBUF_C_CONTIGUOUS));
}

/// What a buffer's strides and format point into until it is released.
struct BufferParts {
  Array::Dimensions shape;
  Array::Dimensions strides;
  char format[2] = {};
};

extern "C" int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  const Array& array = *nb::inst_ptr<Array>(self);
  if ((flags & PyBUF_WRITABLE) == PyBUF_WRITABLE) {
    view->obj = nullptr;
    PyErr_SetString(PyExc_BufferError, "a batch's arrays are read-only");
    return -1;
  }
  if (!can_be_shown(array, flags)) {
    view->obj = nullptr;
    PyErr_SetString(PyExc_BufferError, "the array's elements do not follow one another");
    return -1;
  }
  auto parts = std::make_unique<BufferParts>(BufferParts{array.shape(), array.strides()});
  for (std::int64_t& stride : parts->strides) stride *= item_bytes(array);
  parts->format[0] = static_cast<char>(array.element());
  view->buf = const_cast<void*>(array.data());  // The buffer is marked as read-only.
  view->obj = self;
  Py_INCREF(self);
  view->len = array.size() * item_bytes(array);
  view->itemsize = item_bytes(array);
  view->readonly = 1;
  view->ndim = static_cast<int>(array.shape().size());
  view->format = (flags & PyBUF_FORMAT) == PyBUF_FORMAT ? parts->format : nullptr;
  view->shape = (flags & PyBUF_ND) == PyBUF_ND ? parts->shape.data() : nullptr;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? parts->strides.data() : nullptr;
  view->suboffsets = nullptr;
  view->internal = parts.release();
  return 0;
}

extern "C" void release_buffer(PyObject*, Py_buffer* view) {
  const std::unique_ptr<BufferParts> ended(static_cast<BufferParts*>(view->internal));
}

PyType_Slot array_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(&get_buffer)},
                             {Py_bf_releasebuffer, reinterpret_cast<void*>(&release_buffer)},
                             {0, nullptr}};

std::string shown(const Array& array) {
  std::string text = "<forebay.Array " + type_name(array.element()) + " [";
  for (std::size_t at = 0; at < array.shape().size(); ++at) {
    text += (at == 0 ? "" : ", ") + std::to_string(array.shape()[at]);
  }
  return text + "]>";
}

}  // namespace

std::size_t size_of(Element element) {
  switch (element) {
    case Element::kFloat64:
    case Element::kInt64:
      return 8;
    case Element::kFloat32:
    case Element::kInt32:
      return 4;
    case Element::kByte:
      return 1;
  }
  return 1;
}

Array::Array(std::shared_ptr<const void> owner, const void* data, Element element, Dimensions shape)
    : Array(std::move(owner), data, element, shape, without_gaps(shape)) {}

Array::Array(std::shared_ptr<const void> owner, const void* data, Element element, Dimensions shape,
             Dimensions strides)
    : owner_(std::move(owner)),
      data_(data),
      element_(element),
      shape_(std::move(shape)),
      strides_(std::move(strides)) {}

std::int64_t Array::size() const {
  return std::accumulate(shape_.begin(), shape_.end(), std::int64_t{1}, std::multiplies<>());
}

// Only a column of the dense values has gaps, and it has one dimension.
Array Array::copy() const {
  const auto bytes = static_cast<std::size_t>(size()) * size_of(element_);
  auto memory = std::make_shared<std::vector<std::byte>>(bytes);
  const auto* from = static_cast<const std::byte*>(data_);
  if (strides_ == without_gaps(shape_)) {
    std::memcpy(memory->data(), from, bytes);
  } else {
    const std::size_t item = size_of(element_);
    const std::size_t step = static_cast<std::size_t>(strides_.front()) * item;
    for (std::size_t at = 0; at < static_cast<std::size_t>(size()); ++at) {
      std::memcpy(memory->data() + at * item, from + at * step, item);
    }
  }
  const void* const start = memory->data();
  return {std::move(memory), start, element_, shape_};
}

nb::object to_dlpack(const Array& array, const DlpackRequest& request) {
  if (request.device && request.device->first != dlpack::kCpu) {
    throw nb::buffer_error("a batch's arrays are in the host's memory: ask for device (1, 0)");
  }
  const bool copied = request.copy.value_or(false);
  Array kept = copied ? array.copy() : array;
  if (!request.max_version || request.max_version->first < dlpack::kMajor) {
    return capsule_of<dlpack::Managed>(std::move(kept), [](dlpack::Managed&) {});
  }
  return capsule_of<dlpack::ManagedVersioned>(
      std::move(kept), [copied](dlpack::ManagedVersioned& structure) {
        structure.flags = copied ? dlpack::kIsCopied : dlpack::kReadOnly;
      });
}

void bind_array(nb::module_& module) {
  nb::class_<Array>(module, "Array", nb::type_slots(array_slots),
                    "A read-only view of a batch's memory, which lives as long as the view: "
                    "numpy.asarray(x), torch.from_dlpack(x) and memoryview(x) copy nothing.")
      .def_prop_ro(
          "shape", [](const Array& array) { return to_tuple(array.shape()); },
          "The number of elements in each dimension.")
      .def_prop_ro(
          "dtype", [](const Array& array) { return type_name(array.element()); },
          "NumPy's name of the elements' type, such as '<f4'.")
      .def_prop_ro("ndim", [](const Array& array) { return array.shape().size(); })
      .def_prop_ro("nbytes", [](const Array& array) { return array.size() * item_bytes(array); })
      .def_prop_ro("__array_interface__", &array_interface)
      .def("__len__", [](const Array& array) { return array.shape().front(); })
      .def("__repr__", &shown)
      .def(
          "tolist",
          [](nb::handle self) {
            return nb::steal(PyMemoryView_FromObject(self.ptr())).attr("tolist")();
          },
          "The elements as (lists of) Python's numbers.")
      .def("__dlpack_device__", [](const Array&) { return nb::make_tuple(dlpack::kCpu, 0); })
      .def(
          "__dlpack__",
          [](const Array& array, const nb::object& stream,
             std::optional<std::pair<std::int64_t, std::int64_t>> max_version,
             std::optional<std::pair<std::int64_t, std::int64_t>> dl_device,
             std::optional<bool> copy) {
            if (!stream.is_none()) throw nb::buffer_error("the host's memory has no streams");
            return to_dlpack(array, {max_version, dl_device, copy});
          },
          nb::kw_only(), nb::arg("stream").none() = nb::none(),
          nb::arg("max_version").none() = nb::none(), nb::arg("dl_device").none() = nb::none(),
          nb::arg("copy").none() = nb::none(),
          "A DLPack capsule: unversioned without `max_version`, else of version 1 and marked as "
          "read-only. The consumer keeps the memory.");
}

}  // namespace forebay::python
