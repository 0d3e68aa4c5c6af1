// The module forebay._core: the public loader (include/forebay/loader.h) for Python.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <forebay/loader.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/src/array.h"
#include "python/src/batch.h"
#include "python/src/errors.h"
#include "python/src/reader.h"
#include "python/src/text.h"

namespace forebay::python {
namespace {

namespace nb = nanobind;

template <class T>
std::vector<T> list_of(const nb::handle& values) {
  return nb::cast<std::vector<T>>(values);
}

/// The items of a list must have one type, but whole numbers may stand among others.
Loader::Value list_value(const nb::handle& list) {
  bool has_text = false;
  bool has_float = false;
  bool has_list = false;
  for (const nb::handle item : list) {
    has_list = has_list || nb::isinstance<nb::list>(item) || nb::isinstance<nb::tuple>(item);
    has_text = has_text || nb::isinstance<nb::str>(item);
    has_float = has_float || nb::isinstance<nb::float_>(item);
  }
  if (has_list) {
    std::vector<std::vector<std::string>> lists;
    for (const nb::handle item : list) lists.push_back(to_bytes_list(item));
    return lists;
  }
  if (has_text) return to_bytes_list(list);
  if (has_float) return list_of<double>(list);
  return list_of<std::int64_t>(list);
}

Loader::Value value_of(const nb::handle& value) {
  if (nb::isinstance<nb::bool_>(value)) return nb::cast<bool>(value);
  if (nb::isinstance<nb::int_>(value)) return nb::cast<std::int64_t>(value);
  if (nb::isinstance<nb::float_>(value)) return nb::cast<double>(value);
  if (nb::isinstance<nb::str>(value)) return to_bytes(value);
  return list_value(value);
}

Loader::Table table_of(const nb::dict& values) {
  Loader::Table table;
  for (const auto [key, value] : values) {
    auto name = nb::cast<std::string>(key);
    try {
      table.emplace(name, value_of(value));
    } catch (const std::exception&) {
      raise(LoaderError{
          LoaderError::Code::kConfig,
          name + ": a value is a bool, int, float, str, a list of one of them, or a list "
                 "of lists of str",
          name});
    }
  }
  return table;
}

std::vector<Loader::Table> tables_of(const nb::list& transforms) {
  std::vector<Loader::Table> tables;
  for (const nb::handle transform : transforms) {
    tables.push_back(table_of(nb::cast<nb::dict>(transform)));
  }
  return tables;
}

Reader::Open from_values(const nb::dict& values, const nb::list& transforms,
                         const nb::str& folder) {
  Loader::Job job{
      .values = table_of(values), .transforms = tables_of(transforms), .folder = to_bytes(folder)};
  return [job = std::move(job)](Loader::Options options) {
    return Loader::open(job, std::move(options));
  };
}

Reader::Open from_file(const nb::str& named, const nb::list& transforms) {
  return [path = to_bytes(named), tables = tables_of(transforms)](Loader::Options options) {
    options.transforms = tables;
    return Loader::open(path, std::move(options));
  };
}

nb::tuple schema_of(const Reader& reader) {
  nb::list extra;
  for (const auto& column : reader.schema().extra) extra.append(to_str(column.name));
  return nb::make_tuple(to_strs(reader.schema().dense), to_strs(reader.schema().sparse), extra,
                        reader.schema().weight);
}

nb::dict stats_of(const Reader& reader) {
  const LoaderStats stats = reader.stats();
  const LoaderPosition position = reader.position();
  nb::list stages;
  for (const LoaderStats::Stage& stage : stats.stages) {
    nb::dict shown;
    shown["name"] = stage.name;
    shown["actors"] = stage.actors;
    shown["splits"] = stage.splits;
    shown["busy_seconds"] = stage.busy_seconds;
    stages.append(shown);
  }
  nb::dict all;
  all["rows"] = stats.rows;
  all["batches"] = stats.batches;
  all["epochs"] = position.epochs;
  all["bad_rows"] = position.bad_rows;
  all["seconds"] = stats.seconds;
  all["rows_per_second"] = stats.rows_per_second();
  all["starved_ratio"] = stats.starved_ratio;
  if (position.of_ranks) {
    all["order_digest"] = nb::none();
    all["rank_digest"] = position.order_digest;
  } else {
    all["order_digest"] = position.order_digest;
  }
  all["memory"] = stats.memory_bytes;
  all["memory_limit"] = stats.memory_limit;
  all["requests"] = stats.requests;
  all["bytes_read"] = stats.bytes_read;
  all["decisions"] = stats.decisions;
  all["stages"] = stages;
  return all;
}

}  // namespace

void bind_reader(nb::module_& module) {
  nb::class_<Reader>(module, "Reader")
      .def(
          "__init__",
          [](Reader* self, const nb::str& path, const nb::list& transforms, const nb::list& set,
             std::string resume, std::uint32_t rank, std::uint32_t ranks) {
            new (self) Reader(from_file(path, transforms),
                              {to_bytes_list(set), std::move(resume), rank, ranks});
          },
          nb::arg("path"), nb::arg("transforms"), nb::arg("set"), nb::arg("resume"),
          nb::arg("rank") = 0, nb::arg("ranks") = 1)
      .def(
          "__init__",
          [](Reader* self, const nb::dict& values, const nb::list& transforms,
             const nb::str& folder, const nb::list& set, std::string resume, std::uint32_t rank,
             std::uint32_t ranks) {
            new (self) Reader(from_values(values, transforms, folder),
                              {to_bytes_list(set), std::move(resume), rank, ranks});
          },
          nb::arg("values"), nb::arg("transforms"), nb::arg("folder"), nb::arg("set"),
          nb::arg("resume"), nb::arg("rank") = 0, nb::arg("ranks") = 1)
      .def("next", &Reader::next)
      .def("begin_epoch", &Reader::begin_epoch)
      .def("resume", &Reader::resume, nb::arg("state"))
      .def("set", &Reader::set, nb::arg("key"), nb::arg("value"))
      .def("close", &Reader::close)
      .def("state", &Reader::state)
      .def("stats", &stats_of)
      .def("epoch",
           [](const Reader& reader) {
             const LoaderEpoch epoch = reader.epoch();
             return nb::make_tuple(epoch.batches, epoch.exact);
           })
      .def_prop_ro("schema", &schema_of)
      .def_prop_ro("has_begun", &Reader::has_begun)
      .def_prop_ro("is_closed", &Reader::is_closed);
}

}  // namespace forebay::python

NB_MODULE(_core, module) {
  // A program that exits while it holds batches has done nothing wrong.
  nanobind::set_leak_warnings(false);
  forebay::python::bind_array(module);
  forebay::python::bind_batch(module);
  forebay::python::bind_reader(module);
}
