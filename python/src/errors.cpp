#include "python/src/errors.h"

#include <nanobind/nanobind.h>

#include "python/src/text.h"

namespace forebay::python {
namespace {

namespace nb = nanobind;

const char* class_for(LoaderError::Code code) {
  switch (code) {
    case LoaderError::Code::kConfig:
      return "ConfigError";
    case LoaderError::Code::kData:
      return "DataError";
    case LoaderError::Code::kStalled:
      return "StallError";
    case LoaderError::Code::kUnavailable:
      return "Error";
  }
  return "Error";
}

}  // namespace

void raise(const LoaderError& error) {
  const nb::object type = nb::module_::import_("forebay._errors").attr(class_for(error.code));
  const nb::object made = type(to_str(error.message), to_str(error.key));
  PyErr_SetObject(type.ptr(), made.ptr());
  throw nb::python_error();
}

}  // namespace forebay::python
