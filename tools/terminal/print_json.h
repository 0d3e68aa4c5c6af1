#pragma once

#include "engine/report/json_object.h"

namespace forebay {

/// Prints `object` as a line of stdout and flushes it: the last action of a command under --json.
void print_json(const JsonObject& object);

}  // namespace forebay
