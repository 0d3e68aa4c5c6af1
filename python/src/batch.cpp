#include "python/src/batch.h"

#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <span>

#include <nanobind/stl/string.h>

#include "python/src/text.h"

namespace forebay::python {
namespace {

namespace nb = nanobind;

/// Releases the batch, unless the process is a child that fork() made: a thread that the child
/// lacks may have held a lock of the loader when it was made. The child keeps the memory then.
class Release {
 public:
  Release() : process_(::getpid()) {}
  void operator()(const LoaderBatch* batch) const {
    if (::getpid() != process_) return;
    const std::unique_ptr<const LoaderBatch> released(batch);
  }

 private:
  ::pid_t process_;
};

template <class T>
Array view(const std::shared_ptr<const LoaderBatch>& owner, std::span<const T> values,
           Element element, Array::Dimensions shape) {
  return {owner, values.data(), element, std::move(shape)};
}

std::int64_t count(std::size_t number) { return static_cast<std::int64_t>(number); }

nb::object weights_of(const PythonBatch& batch) {
  auto weights = batch.weights();
  return weights.empty() ? nb::none() : nb::cast(std::move(weights.front()));
}

nb::dict extras_of(const PythonBatch& batch) {
  nb::dict extras;
  const auto& columns = batch.columns().schema().extra;
  for (std::size_t at = 0; at < columns.size(); ++at) {
    extras[to_str(columns[at].name)] = nb::cast(batch.extra(at));
  }
  return extras;
}

/// Raises TypeError for anything but a str.
std::string column_name(const nb::handle& named) {
  if (nb::isinstance<nb::str>(named)) return to_bytes(named);
  PyErr_Format(PyExc_TypeError, "a batch has its columns by name: give a str, not %.100s",
               Py_TYPE(named.ptr())->tp_name);
  throw nb::python_error();
}

nb::object column_of(const PythonBatch& batch, const nb::object& named) {
  const std::string name = column_name(named);
  if (const std::size_t* column = batch.columns().sparse(name)) {
    auto [values, lengths] = batch.sparse_column(*column);
    return nb::make_tuple(std::move(values), std::move(lengths));
  }
  if (const std::size_t* column = batch.columns().dense(name)) {
    return nb::cast(batch.dense_column(*column));
  }
  const nb::str message = to_str(name + ": the batch has no such dense or sparse column");
  PyErr_SetObject(PyExc_KeyError, message.ptr());
  throw nb::python_error();
}

/// A column's different values and the inverse index, which is None where rows do not share them.
nb::object unique_of(const PythonBatch& batch, const nb::object& named) {
  const std::string name = column_name(named);
  const std::size_t* sparse = batch.columns().sparse(name);
  const std::size_t* dense = sparse == nullptr ? batch.columns().dense(name) : nullptr;
  auto unique = sparse != nullptr  ? batch.unique_sparse(*sparse)
                : dense != nullptr ? batch.unique_dense(*dense)
                                   : std::nullopt;
  nb::list parts;
  if (unique) {
    for (Array& values : unique->values) parts.append(nb::cast(std::move(values)));
    parts.append(nb::cast(std::move(unique->inverse)));
  } else {
    const nb::object plain = column_of(batch, named);
    if (sparse != nullptr) {
      parts.extend(plain);
    } else {
      parts.append(plain);
    }
    parts.append(nb::none());
  }
  return nb::tuple(parts);
}

nb::list sparse_names(const PythonBatch& batch) { return to_strs(batch.columns().schema().sparse); }

nb::object tensors(const char* function, const nb::handle& self, const nb::object& argument) {
  return nb::module_::import_("forebay._tensors").attr(function)(self, argument);
}

}  // namespace

Columns::Columns(LoaderSchema schema) : schema_(std::move(schema)) {
  for (std::size_t at = 0; at < schema_.sparse.size(); ++at) sparse_[schema_.sparse[at]] = at;
  for (std::size_t at = 0; at < schema_.dense.size(); ++at) dense_[schema_.dense[at]] = at;
}

const std::size_t* Columns::find(const Places& places, const std::string& name) {
  const auto found = places.find(name);
  return found == places.end() ? nullptr : &found->second;
}

PythonBatch::PythonBatch(LoaderBatch batch, std::shared_ptr<const Columns> columns)
    : held_(std::make_unique<const LoaderBatch>(std::move(batch)).release(), Release()),
      columns_(std::move(columns)) {}

Array PythonBatch::labels() const {
  return view(held_, batch().labels(), Element::kFloat32, {count(rows())});
}

Array PythonBatch::dense() const {
  return view(held_, batch().dense(), Element::kFloat32,
              {count(rows()), count(columns_->schema().dense.size())});
}

Array PythonBatch::values() const {
  return view(held_, batch().values(), Element::kInt64, {count(batch().values().size())});
}

Array PythonBatch::lengths() const {
  return view(held_, batch().lengths(), Element::kInt32,
              {count(columns_->schema().sparse.size()), count(rows())});
}

Array PythonBatch::memory() const {
  return view(held_, batch().memory(), Element::kByte, {count(batch().memory().size())});
}

std::vector<Array> PythonBatch::weights() const {
  if (!columns_->schema().weight) return {};
  return {view(held_, batch().weights(), Element::kFloat32, {count(rows())})};
}

Array PythonBatch::extra(std::size_t column) const {
  const Array::Dimensions shape = {count(rows())};
  if (columns_->schema().extra[column].is_float) {
    return view(held_, batch().extra_floats(column), Element::kFloat64, shape);
  }
  return view(held_, batch().extra(column), Element::kInt64, shape);
}

Array PythonBatch::dense_column(std::size_t column) const {
  const std::int64_t columns = count(columns_->schema().dense.size());
  return {held_, batch().dense().data() + column, Element::kFloat32, {count(rows())}, {columns}};
}

std::pair<Array, Array> PythonBatch::sparse_column(std::size_t column) const {
  const auto& first = first_ids();
  const std::size_t ids = first[column + 1] - first[column];
  return {view(held_, batch().values().subspan(first[column], ids), Element::kInt64, {count(ids)}),
          view(held_, batch().lengths().subspan(column * rows(), rows()), Element::kInt32,
               {count(rows())})};
}

namespace {

/// An array that owns its values.
template <class T>
Array owned(std::vector<T> values, Element element) {
  const auto held = std::make_shared<const std::vector<T>>(std::move(values));
  return {held, held->data(), element, {count(held->size())}};
}

bool has(std::span<const std::size_t> columns, std::size_t column) {
  return std::ranges::find(columns, column) != columns.end();
}

}  // namespace

Array PythonBatch::inverse(std::size_t group) const {
  return {held_, batch().repeats(group).inverse.data(), Element::kInt32, {count(rows())}};
}

std::optional<PythonBatch::Unique> PythonBatch::unique_sparse(std::size_t column) const {
  for (std::size_t group = 0; group < batch().groups(); ++group) {
    if (!has(batch().repeats(group).sparse, column)) continue;
    auto lists = batch().unique_sparse(group, column);
    return Unique{{owned(std::move(lists.values), Element::kInt64),
                   owned(std::move(lists.lengths), Element::kInt32)},
                  inverse(group)};
  }
  return std::nullopt;
}

std::optional<PythonBatch::Unique> PythonBatch::unique_dense(std::size_t column) const {
  for (std::size_t group = 0; group < batch().groups(); ++group) {
    if (!has(batch().repeats(group).dense, column)) continue;
    return Unique{{owned(batch().unique_dense(group, column), Element::kFloat32)}, inverse(group)};
  }
  return std::nullopt;
}

const std::vector<std::size_t>& PythonBatch::first_ids() const {
  if (!first_ids_.empty()) return first_ids_;
  first_ids_ = {0};
  const auto lengths = batch().lengths();
  for (std::size_t at = 0; at < columns_->schema().sparse.size(); ++at) {
    const auto own = lengths.subspan(at * rows(), rows());
    first_ids_.push_back(std::accumulate(own.begin(), own.end(), first_ids_.back()));
  }
  return first_ids_;
}

void bind_batch(nb::module_& module) {
  nb::class_<PythonBatch>(module, "Batch",
                          "Consecutive rows of the order. Its arrays are read-only views of the "
                          "batch's own memory, which counts against pipeline.memory until the "
                          "last of them is gone.")
      .def_prop_ro("index", &PythonBatch::index, "The batch's number, from 0 over all epochs.")
      .def_prop_ro("rows", &PythonBatch::rows)
      .def("__len__", &PythonBatch::rows)
      .def_prop_ro("labels", &PythonBatch::labels, "float32 [rows]: 0 or 1.")
      .def_prop_ro("dense", &PythonBatch::dense, "float32 [rows, dense columns].")
      .def_prop_ro("values", &PythonBatch::values,
                   "int64 [ids]: the ids, column after column, within a column row after row.")
      .def_prop_ro("lengths", &PythonBatch::lengths,
                   "int32 [sparse columns, rows]: the number of ids in each row.")
      .def_prop_ro("weights", &weights_of,
                   "float32 [rows]: a factor for each row's loss; None without columns.weight.")
      .def_prop_ro("extra", &extras_of,
                   "The columns of columns.extra by name, int64 or float64 [rows].")
      .def_prop_ro("_memory", &PythonBatch::memory)
      .def_prop_ro("_sparse_names", &sparse_names)
      .def("__getitem__", &column_of, nb::arg("name").none(),
           "A sparse column's (values, lengths), or a dense column.")
      .def("unique", &unique_of, nb::arg("name").none(),
           "The different values of a column of columns.dedup and which of them each row has: "
           "(values, lengths, inverse) of a sparse column, (values, inverse) of a dense one, with "
           "inverse an int32 [rows]. Of another column its values, with None for inverse.")
      .def(
          "torch",
          [](nb::handle self, const nb::object& device) {
            return tensors("to_torch", self, device);
          },
          nb::arg("device").none() = nb::none(),
          "The batch as a dict of torch tensors: views of its memory, or, on a GPU, of one copy "
          "from page-locked memory.")
      .def(
          "kjt", [](nb::handle self) { return tensors("to_kjt", self, nb::none()); },
          "The sparse columns as a TorchRec KeyedJaggedTensor.")
      .def("__repr__", [](const PythonBatch& batch) {
        return "<forebay.Batch " + std::to_string(batch.index()) + ": " +
               std::to_string(batch.rows()) + " rows>";
      });
}

}  // namespace forebay::python
