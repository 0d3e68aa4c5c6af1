#pragma once

namespace forebay {

/// Opens what of stdin, stdout and stderr the caller has closed, on /dev/null: else the first files
/// of a run would have their numbers, and what is printed would go into them. Before any other
/// file is opened.
void open_closed_streams();

/// Writes out what stdout holds back. False where something that was printed is lost: a full disk,
/// not a reader that went away, as `head` does.
bool flush_stdout();

}  // namespace forebay
