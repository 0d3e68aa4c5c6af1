#pragma once

#include <forebay/loader.h>

#include "core/base/result.h"

namespace forebay {

/// Converts the error of a job that could not be opened or started.
LoaderError opening_error(const Error& error);

/// Converts the error that ended the stream of batches.
LoaderError stream_error(const Error& error);

/// Returns the job-file key that `message` is about: the unknown one, or the first that it names;
/// "" if it names none.
std::string job_key_in(std::string_view message);

}  // namespace forebay
