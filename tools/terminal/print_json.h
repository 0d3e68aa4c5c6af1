#pragma once

#include "engine/report/json_object.h"

namespace forebay {

/// Prints `object` as a line of stdout and flushes it: the last thing a command does under --json.
void print_json(const JsonObject& object);

}  // namespace forebay
