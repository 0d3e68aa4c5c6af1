#include "actors/transform/op_table.h"

namespace forebay {
namespace {

std::vector<OpEntry> all_ops() {
  std::vector<OpEntry> all;
  for (const auto& ops : {dense_ops(), any_ops(), one_hot_ops(), id_ops(), list_ops(),
                          similarity_ops(), row_ops(), udf_ops()}) {
    all.insert(all.end(), ops.begin(), ops.end());
  }
  return all;
}

}  // namespace

const std::vector<OpEntry>& op_table() {
  static const std::vector<OpEntry> table = all_ops();
  return table;
}

const std::vector<OpDescription>& describe_ops() {
  static const std::vector<OpDescription> lines = [] {
    std::vector<OpDescription> all;
    for (const OpEntry& entry : op_table()) all.push_back(entry.description);
    return all;
  }();
  return lines;
}

}  // namespace forebay
