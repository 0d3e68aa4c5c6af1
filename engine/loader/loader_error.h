#pragma once

#include <forebay/loader.h>

#include "core/base/error.h"

namespace forebay {

/// Why a job could not be opened or begun.
LoaderError opening_error(const Error& error);

/// Why the stream of batches ended.
LoaderError stream_error(const Error& error);

/// The first key of the job file that `message` names; "": it names none.
std::string job_key_in(std::string_view message);

}  // namespace forebay
