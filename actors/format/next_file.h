#pragma once

#include <functional>
#include <memory>

#include "actors/input/file_system.h"
#include "core/base/result.h"

namespace forebay {

/// Opens the files of a dataset behind its first, one with each call; null behind the last.
using NextFile = std::function<Result<std::unique_ptr<const InputFile>>()>;

}  // namespace forebay
