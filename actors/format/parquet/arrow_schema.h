#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace forebay::parquet {

/// Returns the lists of a fixed size that a file's "ARROW:schema" describes: the size by the name
/// of the list (dotted within structs). Parquet itself stores them like any other list.
///
/// `encoded` is the metadata's value: base64 of an Arrow IPC message, whose flatbuffer is read as
/// far as needed (arrow/format/Schema.fbs, Message.fbs). It is untrusted and only says more about
/// columns that the Parquet schema describes in full: one that is damaged describes no list.
std::map<std::string, std::uint32_t> fixed_lists_of(std::string_view encoded);

}  // namespace forebay::parquet
