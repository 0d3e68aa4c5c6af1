#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "actors/pipeline_spec.h"
#include "core/base/result.h"

namespace forebay {

/// The name of the list of operators, `[[transform]]`.
inline constexpr std::string_view kTransformList = "transform";

/// A value of the job file and where it was written.
struct JobValue {
  ParamValue value;
  std::string where;  ///< `job.toml, line 3` or `--set order.seed=x`.
};

/// The values of a job file as written, flat: every value by its dotted name, the transforms in
/// order.
///
/// Does not know which keys exist. A later `set` overrides an earlier value.
struct JobDocument {
  using Values = std::map<std::string, JobValue>;

  struct Transform {
    std::string where;
    Values values;  ///< By the name inside the table: `op`, `columns`, `max_value`.
  };

  Values values;                              ///< `order.batch_size` → 8192.
  std::map<std::string, std::string> tables;  ///< Each table that was opened, and where.
  std::vector<Transform> transforms;
};

/// Reads TOML. kInvalid names file, line and what is wrong: bad syntax, a kind of value that no key
/// takes (a date, a list of lists). `name` names the file in messages.
Result<JobDocument> parse_toml(std::string_view text, std::string_view name);

/// The two sides of `KEY=VALUE`, without blanks around them: users paste `pipeline.cpus = 1`.
struct Assignment {
  std::string_view key;  ///< Empty if the text has no `=`, or nothing before it.
  std::string_view value;
};
Assignment split_assignment(std::string_view text);

/// Applies one `a.b=c` of the command line; the value is read as TOML, else as a bare string.
/// `transform.0.max_value=5` reaches into the first transform, and `transform=[{op="log1p"}]`
/// replaces them all. kInvalid: there is no `=`, no key or no such transform.
Status apply_set(JobDocument& document, std::string_view assignment);

}  // namespace forebay
