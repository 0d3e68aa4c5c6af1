#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace forebay {

/// `[dataset]` of the job file: what to read.
struct DatasetSpec {
  std::string format = "criteo_tsv";  ///< criteo_tsv | csv
  std::vector<std::string> paths{};   ///< Files and globs, absolute or relative to the job file.
  std::uint64_t bad_rows = 0;         ///< Number of damaged rows tolerated.
  std::uint64_t max_row_bytes = 1 << 20;  ///< Indexing fails on a longer row.
  struct Csv {
    char delimiter = ',';
    bool header = true;
    std::string list_delimiter{};  ///< One character between the ids of a sparse field; "": one id.
  } csv{};
};

/// `[columns]` of the job file: the columns that the model sees, by name; globs are allowed.
struct ColumnSpec {
  std::string label{};
  std::vector<std::string> dense{};
  std::vector<std::string> sparse{};
};

/// One value of an operator's parameter, as parsed from TOML.
using ParamValue = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>,
                                std::vector<double>, std::vector<std::string>>;

/// One `[[transform]]` of the job file: the operator, the columns (globs), its parameters, its
/// stage.
struct TransformSpec {
  std::string op;
  std::vector<std::string> columns;
  std::map<std::string, ParamValue> params;  ///< Every key but the others here.
  std::string stage = {};  ///< The stage that runs it; "": that of the operator before it.
};

}  // namespace forebay
