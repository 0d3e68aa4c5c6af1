#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <forebay/udf.h>

#include "core/base/result.h"
#include "core/base/thread/user_code.h"

namespace forebay {

/// Reads the bytes from `offset` on into all of `to`; returns false if the file has fewer bytes.
using ReadAt = std::function<bool(std::uint64_t offset, std::span<std::byte> to)>;

/// Checks that a shared library's file of `size` bytes contains all that its headers describe. The
/// dynamic loader maps the described segments without this check, and the process is killed
/// (SIGBUS) if the file ends before them. Does a bounded number of reads, of at most about 300 KiB
/// in all. kInvalid names the missing part; other faults are left to the loader. Source of the
/// layout: the ELF-64 object file format, System V ABI.
Status check_shared_object(std::uint64_t size, const ReadAt& read);

/// Checks the file at `path`. Also returns kInvalid if it is not a regular file or cannot be read.
Status check_shared_object(const std::string& path);

/// A function of a user's shared library. The library stays loaded as long as a copy of this object
/// lives.
///
/// A thread that loads, calls or unloads the library publishes that (core/base/thread/user_code.h),
/// so that the surrounding program can name operator and library if the process ends there.
class UserFunction {
 public:
  /// `op` names the operator, as "transform 1 (udf)". kInvalid names the library if it is truncated
  /// or cannot be opened, the function that it lacks, or the version of forebay/udf.h that does not
  /// fit.
  static Result<UserFunction> open(const std::string& op, const std::string& library,
                                   const std::string& function);

  /// Calls the function; an exception that it throws becomes the call's error. Returns false on
  /// failure.
  bool operator()(forebay_udf_call& call) const;

 private:
  class Library;

  UserFunction(std::shared_ptr<const Library> library, forebay_udf_function function,
               const UserCode& code)
      : library_(std::move(library)), function_(function), code_(&code) {}

  std::shared_ptr<const Library> library_;
  forebay_udf_function function_;
  const UserCode* code_;
};

}  // namespace forebay
