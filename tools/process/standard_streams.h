#pragma once

namespace forebay {

/// Opens those of stdin, stdout and stderr that the caller has closed on /dev/null. Otherwise the
/// first files of a run would get their numbers, and printed text would go into these files. Call
/// it before any other file is opened.
void open_closed_streams();

/// Flushes stdout. Returns false if printed text was lost because of a full disk, but not if the
/// reader closed the pipe, as `head` does.
bool flush_stdout();

}  // namespace forebay
