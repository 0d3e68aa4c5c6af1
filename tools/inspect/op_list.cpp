#include "tools/inspect/op_list.h"

#include "actors/transform/transform.h"
#include "tools/inspect/text_table.h"

namespace forebay {

std::vector<std::string> op_lines() {
  std::vector<std::vector<std::string>> rows = {
      {"op", "takes", "gives", "parameters", "does", "missing values"}};
  for (const OpDescription& op : describe_ops()) {
    rows.push_back(
        {op.name, op.takes, op.gives, op.params.empty() ? "-" : op.params, op.summary, op.missing});
  }
  return align_columns(rows);
}

std::vector<JsonObject> op_objects() {
  std::vector<JsonObject> ops;
  for (const OpDescription& op : describe_ops()) {
    ops.push_back(JsonObject()
                      .add("name", op.name)
                      .add("takes", op.takes)
                      .add("gives", op.gives)
                      .add("parameters", op.params)
                      .add("summary", op.summary)
                      .add("missing", op.missing));
  }
  return ops;
}

}  // namespace forebay
