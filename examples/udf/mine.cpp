// Three user functions for op = "udf"; README.md shows the job that uses them.

#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <forebay/udf.h>

// Writes the first dense column divided by the second into the additional column "ratio". If either
// value is missing or the second is 0, the ratio stays missing.
FOREBAY_UDF(ratio) {
  using forebay::udf::Call;
  const auto above = call.dense(0);
  const auto below = call.dense(1);
  const auto ratio = call.dense("ratio");
  for (std::size_t row = 0; row < call.rows(); ++row) {
    if (Call::is_missing(above[row]) || Call::is_missing(below[row]) || below[row] == 0) continue;
    ratio[row] = above[row] / below[row];
  }
}

// Keeps the ids below the number in `params`, in every sparse column.
FOREBAY_UDF(keep_below) {
  const std::string_view params = call.params();
  std::int64_t limit = 0;
  const char* const end = params.data() + params.size();
  const auto read = std::from_chars(params.data(), end, limit);
  if (read.ec != std::errc() || read.ptr != end) {
    throw std::invalid_argument("params is \"" + std::string(params) +
                                "\", but must be a whole number, such as \"1000000\"");
  }
  for (std::size_t column = 0; column < call.num_sparse(); ++column) {
    std::vector<std::vector<std::int64_t>> lists(call.rows());
    for (std::size_t row = 0; row < call.rows(); ++row) {
      for (const std::int64_t id : call.ids(column, row)) {
        if (id < limit) lists[row].push_back(id);
      }
    }
    call.set_lists(column, lists);
  }
}

// Ends the job at the first negative value: checks the data without changing it.
FOREBAY_UDF(no_negatives) {
  for (std::size_t column = 0; column < call.num_dense(); ++column) {
    for (const float value : call.dense(column)) {
      if (value < 0) throw std::range_error(std::string(call.dense_name(column)) + " is negative");
    }
  }
}
