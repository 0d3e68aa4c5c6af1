// User functions for udf_test.cpp: correct ones, and one for each kind of failure.

#include <stdexcept>
#include <string>
#include <vector>

#include <forebay/udf.h>

FOREBAY_UDF(scale) {
  const float factor = std::stof(std::string(call.params()));
  for (std::size_t column = 0; column < call.num_dense(); ++column) {
    for (float& value : call.dense(column)) {
      if (!forebay::udf::Call::is_missing(value)) value *= factor;
    }
  }
}

/// Each list twice over.
FOREBAY_UDF(repeat) {
  const std::size_t column = call.sparse_number("c");
  std::vector<std::vector<std::int64_t>> lists(call.rows());
  for (std::size_t row = 0; row < call.rows(); ++row) {
    for (int times = 0; times < 2; ++times) {
      for (const std::int64_t id : call.ids(column, row)) lists[row].push_back(id);
    }
  }
  call.set_lists(column, lists);
}

/// The number of ids of `c` into the new dense column `count`, the first id into `first`.
FOREBAY_UDF(describe) {
  const std::size_t column = call.sparse_number("c");
  std::vector<std::vector<std::int64_t>> first(call.rows());
  for (std::size_t row = 0; row < call.rows(); ++row) {
    const auto ids = call.ids(column, row);
    call.dense("count")[row] = static_cast<float>(ids.size());
    if (!ids.empty()) first[row].push_back(ids.front());
  }
  call.set_lists(call.sparse_number("first"), first);
}

FOREBAY_UDF(throws_at_13) {
  for (float& value : call.dense(0)) {
    if (value == 13.0F) throw std::runtime_error("13 brings bad luck");
    value = 13.0F;  // values changed before the failure must not reach the output
  }
}

FOREBAY_UDF(too_few_values) { call.set_dense(0, std::vector<float>(call.rows() / 2)); }

FOREBAY_UDF(needs_two_rows) {
  if (call.rows() > 1) throw 5;
}

/// Leaves the list of every row unwritten that starts with 7.
FOREBAY_UDF(forgets_7) {
  std::size_t total = 0;
  for (std::size_t row = 0; row < call.rows(); ++row) total += call.ids(0, row).size();
  const forebay_udf_lists out = call.replace(0, total);
  std::int32_t end = 0;
  for (std::size_t row = 0; row < call.rows(); ++row) {
    for (const std::int64_t id : call.ids(0, row)) out.values[end++] = id;
    if (call.ids(0, row).empty() || call.ids(0, row)[0] != 7) out.offsets[row + 1] = end;
  }
}

/// Asks for columns that do not exist, by `params`: "ids 2 0" calls ids(2, 0).
FOREBAY_UDF(asks_for) {
  const std::string params(call.params());
  const std::size_t space = params.find(' ');
  const std::string what = params.substr(0, space);
  std::size_t used = 0;
  const auto first = static_cast<std::size_t>(std::stoull(params.substr(space + 1), &used));
  if (what == "ids") {
    const auto row = static_cast<std::size_t>(std::stoull(params.substr(space + 1 + used)));
    static_cast<void>(call.ids(first, row));
  } else if (what == "dense") {
    static_cast<void>(call.dense(first));
  } else if (what == "dense_name") {
    static_cast<void>(call.dense_name(first));
  } else if (what == "sparse_name") {
    static_cast<void>(call.sparse_name(first));
  } else {
    static_cast<void>(call.replace(first, 0));
  }
}

FOREBAY_UDF_DECLARE(plain_c)
int plain_c(forebay_udf_call* call) {
  for (size_t row = 0; row < call->rows; ++row) call->dense[0].values[row] += 1;
  return 0;
}

FOREBAY_UDF_DECLARE(names_its_row)
int names_its_row(forebay_udf_call* call) {
  call->error_row = 1;
  std::snprintf(call->error, call->error_size, "no good");
  return 1;
}

FOREBAY_UDF_DECLARE(throws_through_c)
int throws_through_c(forebay_udf_call*) { throw std::runtime_error("not caught within"); }

extern "C" {
FOREBAY_UDF_EXPORT extern const std::uint32_t of_tomorrow_forebay_udf_version;
const std::uint32_t of_tomorrow_forebay_udf_version = FOREBAY_UDF_VERSION + 1;
FOREBAY_UDF_EXPORT int of_tomorrow(forebay_udf_call*) { return 0; }
FOREBAY_UDF_EXPORT int undeclared(forebay_udf_call*) { return 0; }
}
