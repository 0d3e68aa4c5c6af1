#pragma once

#include <string_view>

#include "engine/report/json_object.h"

namespace forebay {

/// Opens those of stdin, stdout and stderr that the caller has closed on /dev/null. Otherwise the
/// first files of a run would get their numbers, and printed text would go into these files. Call
/// it before any other file is opened.
void open_closed_streams();

/// Flushes stdout. Returns false if printed text was lost because of a full disk, but not if the
/// reader closed the pipe, as `head` does.
bool flush_stdout();

/// Writes `forebay: LINE` to stderr as one line; unprintable characters in it are escaped
/// (core/base/text/printable.h). Any thread.
void print_message(std::string_view line);

/// Writes `line` to stdout, escaped in the same way.
void print_line(std::string_view line);

/// Prints `object` as a line of stdout and flushes it: the last action of a command under --json.
void print_json(const JsonObject& object);

/// Whether print_json() was called.
bool has_printed_json();

}  // namespace forebay
