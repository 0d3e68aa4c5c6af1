/* User functions for Forebay: the operator `udf` of a job file calls one for each split.
 *
 *   [[transform]]
 *   op = "udf"
 *   library = "libmine.so"
 *   function = "scale"
 *   columns = ["I1", "C*"]
 *   params = "factor=2"
 *
 * In C++, `FOREBAY_UDF(scale) { … }` defines a function with the argument `call`, a
 * forebay::udf::Call&; it may throw. In C, write `FOREBAY_UDF_DECLARE(scale)` and then
 * `int scale(forebay_udf_call* call) { …; return 0; }`.
 *
 * A function must be pure: its result for a row depends only on that row and `params`. Several
 * threads call it at the same time, with any number of rows. After a failure it is called again
 * with one row at a time, to find the row for the error message. A failure ends the job.
 *
 * A function must return or throw. Memory that it keeps between calls must not grow with them.
 * The program `forebay` detects violations: exit, quick_exit, _Exit, std::terminate, abort and
 * crashes (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, a stack overflow, too) end it with an
 * error that names operator, function and library, and with status 1 or the signal's, never 0. If
 * the process exceeds pipeline.memory, the run fails within a second and names the function whose
 * calls coincide with most of the growth. Not detected: a raw system call that ends the process,
 * signal handlers that a library installs itself, writes to memory that the function does not own.
 * In your own program or in Python, where Forebay is a library, none of this is detected: Forebay
 * installs no handlers there, and a function that exits ends the whole process.
 *
 * The version increases when this header changes incompatibly; fields are added at the end only.
 */
#ifndef FOREBAY_UDF_H
#define FOREBAY_UDF_H

#include <stddef.h>
#include <stdint.h>

#define FOREBAY_UDF_VERSION 1

#ifdef __cplusplus
extern "C" {
#endif

/* A dense column: `rows` values, to be changed in place. An empty field is a NaN with the bits
 * FOREBAY_UDF_MISSING; values still missing after the last operator become 0. */
#define FOREBAY_UDF_MISSING UINT32_C(0x7fc0dead)
typedef struct forebay_udf_dense {
  const char* name;
  float* values;
} forebay_udf_dense;

/* A sparse column: the ids of row i are values[offsets[i]] … values[offsets[i + 1] - 1]. */
typedef struct forebay_udf_sparse {
  const char* name;
  const int64_t* values;
  const int32_t* offsets; /* rows + 1 */
} forebay_udf_sparse;

/* Memory for new lists, which the function fills: offsets[0] = 0, ascending, offsets[rows] =
 * num_ids. */
typedef struct forebay_udf_lists {
  int64_t* values;  /* num_ids; NULL if refused: return non-zero then */
  int32_t* offsets; /* rows + 1 */
} forebay_udf_lists;

/* One call: the columns of `columns`, dense and sparse each in that order, then those of
 * `new_dense` (all missing) and `new_sparse` (all empty). The caller owns all memory. */
typedef struct forebay_udf_call {
  uint32_t version; /* FOREBAY_UDF_VERSION of the caller */
  size_t rows;
  const char* params;
  size_t num_dense;
  const forebay_udf_dense* dense;
  size_t num_sparse;
  const forebay_udf_sparse* sparse;
  /* Replaces the lists of sparse column `column` by num_ids ids. `max_ids` of the job bounds the
   * average number of additional ids a row. */
  forebay_udf_lists (*replace)(struct forebay_udf_call* call, size_t column, size_t num_ids);
  void* host;        /* owned by the caller */
  int64_t error_row; /* the row that failed, if the function knows it; -1 before the call */
  char* error;       /* error message, zero-terminated; read if the function returns non-zero */
  size_t error_size;
} forebay_udf_call;

typedef int (*forebay_udf_function)(forebay_udf_call* call); /* 0: success */

#ifdef __cplusplus
}
#endif

#if defined(__GNUC__)
#define FOREBAY_UDF_EXPORT __attribute__((visibility("default")))
#define FOREBAY_UDF_COLD __attribute__((noinline, cold))
#else
#define FOREBAY_UDF_EXPORT
#define FOREBAY_UDF_COLD
#endif

#ifndef __cplusplus

/* Declares a C function as a UDF of this header's version. */
#define FOREBAY_UDF_DECLARE(function)                                                     \
  FOREBAY_UDF_EXPORT extern const uint32_t function##_forebay_udf_version;                \
  FOREBAY_UDF_EXPORT const uint32_t function##_forebay_udf_version = FOREBAY_UDF_VERSION; \
  FOREBAY_UDF_EXPORT int function(forebay_udf_call* call);

#else

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::udf {

/* The argument of a C++ function. Columns are numbered from 0, dense and sparse separately. A
 * column, row or name that does not exist throws std::out_of_range, a wrong number of values or
 * lists std::length_error; this fails the job with the function's name. In C nothing is checked. */
class Call {
 public:
  explicit Call(forebay_udf_call& raw) : raw_(raw) {}

  std::size_t rows() const { return raw_.rows; }
  std::string_view params() const { return raw_.params; }

  std::size_t num_dense() const { return raw_.num_dense; }
  std::string_view dense_name(std::size_t column) const {
    if (column >= raw_.num_dense) absent("dense column", column, raw_.num_dense);
    return raw_.dense[column].name;
  }
  std::span<float> dense(std::size_t column) {
    if (column >= raw_.num_dense) absent("dense column", column, raw_.num_dense);
    return {raw_.dense[column].values, raw_.rows};
  }
  std::span<float> dense(std::string_view name) {
    for (std::size_t i = 0; i < raw_.num_dense; ++i) {
      if (dense_name(i) == name) return dense(i);
    }
    throw std::out_of_range("there is no dense column " + std::string(name));
  }
  static bool is_missing(float value) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return bits == FOREBAY_UDF_MISSING;
  }

  std::size_t num_sparse() const { return raw_.num_sparse; }
  std::string_view sparse_name(std::size_t column) const {
    if (column >= raw_.num_sparse) absent("sparse column", column, raw_.num_sparse);
    return raw_.sparse[column].name;
  }
  std::size_t sparse_number(std::string_view name) const {
    for (std::size_t i = 0; i < raw_.num_sparse; ++i) {
      if (sparse_name(i) == name) return i;
    }
    throw std::out_of_range("there is no sparse column " + std::string(name));
  }
  /* Returns the ids of one row. */
  std::span<const std::int64_t> ids(std::size_t column, std::size_t row) const {
    if (column >= raw_.num_sparse) absent("sparse column", column, raw_.num_sparse);
    if (row >= raw_.rows) absent("row", row, raw_.rows);
    const forebay_udf_sparse& sparse = raw_.sparse[column];
    return {sparse.values + sparse.offsets[row], sparse.values + sparse.offsets[row + 1]};
  }

  /* Sets the values of a dense column; one for each row. */
  void set_dense(std::size_t column, std::span<const float> values) {
    check(values.size() == raw_.rows,
          std::to_string(values.size()) + " values for " + std::to_string(raw_.rows) + " rows");
    std::copy(values.begin(), values.end(), dense(column).begin());
  }
  /* Sets the lists of a sparse column; one for each row. */
  void set_lists(std::size_t column, const std::vector<std::vector<std::int64_t>>& lists) {
    check(lists.size() == raw_.rows,
          std::to_string(lists.size()) + " lists for " + std::to_string(raw_.rows) + " rows");
    std::size_t total = 0;
    for (const auto& list : lists) total += list.size();
    const forebay_udf_lists out = replace(column, total);
    std::int32_t end = 0;
    for (std::size_t row = 0; row < lists.size(); ++row) {
      std::copy(lists[row].begin(), lists[row].end(), out.values + end);
      end += static_cast<std::int32_t>(lists[row].size());
      out.offsets[row + 1] = end;
    }
  }
  /* Returns memory for new lists of a sparse column, without a copy; sets offsets[0]. */
  forebay_udf_lists replace(std::size_t column, std::size_t num_ids) {
    const forebay_udf_lists out = raw_.replace(&raw_, column, num_ids);
    check(out.values != nullptr, raw_.error);
    out.offsets[0] = 0;
    return out;
  }

 private:
  /* A separate function, so that its callers stay small. */
  [[noreturn]] FOREBAY_UDF_COLD static void absent(const char* what, std::size_t number,
                                                   std::size_t count) {
    throw std::out_of_range("there is no " + std::string(what) + " " + std::to_string(number) +
                            ": the call has " + std::to_string(count) + ", counted from 0");
  }
  static void check(bool holds, const std::string& otherwise) {
    if (!holds) throw std::length_error(otherwise);
  }

  forebay_udf_call& raw_;
};

/* Runs a C++ function for a C call; an exception becomes the call's error. */
template <class Function>
int guarded(forebay_udf_call* raw, Function function) {
  const char* what = "it threw something that is no std::exception";
  try {
    Call call(*raw);
    function(call);
    return 0;
  } catch (const std::exception& thrown) {
    std::snprintf(raw->error, raw->error_size, "%s", thrown.what());
  } catch (...) {
    std::snprintf(raw->error, raw->error_size, "%s", what);
  }
  return 1;
}

}  // namespace forebay::udf

/* Defines a UDF: FOREBAY_UDF(name) { … call.rows() … } */
#define FOREBAY_UDF(function)                                                       \
  static void function##_forebay_udf_body(forebay::udf::Call& call);                \
  extern "C" FOREBAY_UDF_EXPORT const std::uint32_t function##_forebay_udf_version; \
  const std::uint32_t function##_forebay_udf_version = FOREBAY_UDF_VERSION;         \
  extern "C" FOREBAY_UDF_EXPORT int function(forebay_udf_call* raw) {               \
    return forebay::udf::guarded(raw, function##_forebay_udf_body);                 \
  }                                                                                 \
  static void function##_forebay_udf_body([[maybe_unused]] forebay::udf::Call& call)

/* Declares a function with the C signature that is written in C++; its caller catches exceptions.
 */
#define FOREBAY_UDF_DECLARE(function)                                               \
  extern "C" FOREBAY_UDF_EXPORT const std::uint32_t function##_forebay_udf_version; \
  const std::uint32_t function##_forebay_udf_version = FOREBAY_UDF_VERSION;         \
  extern "C" FOREBAY_UDF_EXPORT int function(forebay_udf_call* call);

#endif
#endif
