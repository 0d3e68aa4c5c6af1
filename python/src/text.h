#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nanobind/nanobind.h>

namespace forebay::python {

/// Text between C++, where names and messages may hold any bytes, and Python. As os.fsdecode() and
/// os.fsencode() do, a byte that is not UTF-8 becomes a lone surrogate, and such a one that byte.
/// Throws what Python raises.
nanobind::str to_str(std::string_view text);
nanobind::list to_strs(const std::vector<std::string>& texts);
std::string to_bytes(nanobind::handle text);
/// The same of a list or tuple.
std::vector<std::string> to_bytes_list(nanobind::handle texts);

}  // namespace forebay::python
