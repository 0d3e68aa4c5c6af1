#include "python/src/text.h"

namespace forebay::python {
namespace {

namespace nb = nanobind;

constexpr const char* kBytesAsSurrogates = "surrogateescape";

}  // namespace

nb::str to_str(std::string_view text) {
  PyObject* const made =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), kBytesAsSurrogates);
  if (made == nullptr) throw nb::python_error();
  return nb::steal<nb::str>(made);
}

nb::list to_strs(const std::vector<std::string>& texts) {
  nb::list list;
  for (const std::string& text : texts) list.append(to_str(text));
  return list;
}

std::string to_bytes(nb::handle text) {
  PyObject* const made = PyUnicode_AsEncodedString(text.ptr(), "utf-8", kBytesAsSurrogates);
  if (made == nullptr) throw nb::python_error();
  const nb::bytes bytes = nb::steal<nb::bytes>(made);
  return {bytes.c_str(), bytes.size()};
}

std::vector<std::string> to_bytes_list(nb::handle texts) {
  std::vector<std::string> list;
  for (const nb::handle text : texts) list.push_back(to_bytes(text));
  return list;
}

}  // namespace forebay::python
