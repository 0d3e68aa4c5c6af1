#include "actors/format/parquet/leaf.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace forebay::parquet {
namespace {

constexpr std::int32_t kOptional = 1;
constexpr std::int32_t kRepeated = 2;
constexpr unsigned kMostLevels = 100;

constexpr std::array<std::string_view, 8> kPhysicalNames = {
    "BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"};

/// The numbers of parquet.thrift's ConvertedType, which older writers use instead of LogicalType.
enum Converted : std::int32_t {
  kUtf8 = 0,
  kMap = 1,
  kMapKeyValue = 2,
  kList = 3,
  kEnum = 4,
  kConvertedDecimal = 5,
  kConvertedDate = 6,
  kTimeMillis = 7,
  kTimeMicros = 8,
  kTimestampMillis = 9,
  kTimestampMicros = 10,
  kUint8 = 11,
  kUint64 = 14,
  kInt8 = 15,
  kConvertedInt64 = 18,
  kJson = 19,
  kBson = 20,
  kInterval = 21,
};

/// A node above the leaf that is being read.
struct Node {
  std::string name;
  unsigned definition = 0;
  unsigned repetition = 0;
  bool is_list = false;  ///< It is marked as a list, so that the two levels below have no names.
  bool is_map = false;
  bool in_list = false;     ///< It, or a node above, is repeated or marked as a list.
  bool of_structs = false;  ///< A list's items have fields.
};

class Schema {
 public:
  explicit Schema(const std::vector<SchemaElement>& elements) : elements_(elements) {}

  Result<std::vector<Leaf>> leaves() {
    if (elements_.empty()) return fail(Code::kCorrupt, "the schema is empty");
    const std::int64_t children = elements_[0].children.value_or(0);
    next_ = 1;
    for (std::int64_t i = 0; i < children; ++i) {
      if (auto status = read({}, 0); !status) return pass(status);
    }
    if (next_ != elements_.size())
      return fail(Code::kCorrupt, "the schema has elements outside of its tree");
    return std::move(leaves_);
  }

 private:
  Status read(const Node& parent, unsigned depth);
  void add_leaf(const SchemaElement& element, const Node& node);

  const std::vector<SchemaElement>& elements_;
  std::size_t next_ = 0;
  std::vector<Leaf> leaves_;
};

bool is_map(const SchemaElement& element) {
  return element.converted_type == kMap || element.converted_type == kMapKeyValue ||
         (element.logical_type && element.logical_type->map);
}

bool is_list(const SchemaElement& element) {
  return element.converted_type == kList || (element.logical_type && element.logical_type->list);
}

std::uint64_t units_a_second(const TimeUnit& unit) {
  if (unit.millis) return 1'000;
  return unit.micros ? 1'000'000 : 1'000'000'000;
}

bool is_whole(const Leaf& leaf) {
  return leaf.physical == Physical::kInt32 || leaf.physical == Physical::kInt64;
}

bool is_bytes(const Leaf& leaf) {
  return leaf.physical == Physical::kByteArray || leaf.physical == Physical::kFixedBytes;
}

bool is_text(const LogicalType& type) {
  return type.string || type.enumeration || type.json || type.bson;
}

bool is_text(std::int32_t converted) {
  return converted == kUtf8 || converted == kEnum || converted == kJson || converted == kBson;
}

/// Gives `leaf` a meaning, or refuses it where the stored values cannot have that meaning: then the
/// schema contradicts itself, and the bytes must not be read as what it says.
void give(Leaf& leaf, Meaning meaning, bool fits, const char* name) {
  leaf.meaning = fits ? meaning : Meaning::kOther;
  if (!fits) leaf.type += std::string(" marked as ") + name;
}

/// Gives `leaf` the meaning that its LogicalType states; false if there is none.
bool logical_meaning(const SchemaElement& element, Leaf& leaf) {
  if (!element.logical_type) return false;
  const LogicalType& type = *element.logical_type;
  const bool whole = is_whole(leaf);
  if (is_text(type)) {
    give(leaf, Meaning::kText, is_bytes(leaf), "text");
  } else if (type.unknown) {
    leaf.meaning = Meaning::kNull;
    leaf.type = "null";
  } else if (type.uuid) {
    give(leaf, Meaning::kText, leaf.bytes == 16, "a UUID");
  } else if (type.float16) {
    give(leaf, Meaning::kFloat, leaf.bytes == 2, "a 16-bit float");
  } else if (type.decimal) {
    give(leaf, Meaning::kDecimal, whole || is_bytes(leaf), "a decimal");
    leaf.scale = type.decimal->scale;
  } else if (type.date && leaf.physical == Physical::kInt32) {
    leaf.meaning = Meaning::kDate;
  } else if (type.timestamp && leaf.physical == Physical::kInt64) {
    leaf.meaning = Meaning::kTimestamp;
    leaf.per_second = units_a_second(type.timestamp->unit);
  } else if (type.integer && whole) {
    leaf.meaning = type.integer->is_signed ? Meaning::kSigned : Meaning::kUnsigned;
  } else if (type.time) {
    leaf.meaning = Meaning::kOther;
    leaf.type += " (time of day)";
  } else {
    return false;
  }
  return true;
}

bool converted_meaning(const SchemaElement& element, Leaf& leaf) {
  if (!element.converted_type) return false;
  const std::int32_t type = *element.converted_type;
  const bool whole = is_whole(leaf);
  if (is_text(type)) {
    give(leaf, Meaning::kText, is_bytes(leaf), "text");
  } else if (type == kConvertedDecimal) {
    give(leaf, Meaning::kDecimal, whole || is_bytes(leaf), "a decimal");
    leaf.scale = element.scale.value_or(0);
  } else if (type == kConvertedDate && whole) {
    leaf.meaning = Meaning::kDate;
  } else if ((type == kTimestampMillis || type == kTimestampMicros) && whole) {
    leaf.meaning = Meaning::kTimestamp;
    leaf.per_second = type == kTimestampMillis ? 1'000 : 1'000'000;
  } else if (type == kTimeMillis || type == kTimeMicros || type == kInterval) {
    leaf.meaning = Meaning::kOther;
    leaf.type += type == kInterval ? " (interval)" : " (time of day)";
  } else if (type >= kUint8 && type <= kUint64 && whole) {
    leaf.meaning = Meaning::kUnsigned;
  } else {
    return false;
  }
  return true;
}

void physical_meaning(Leaf& leaf) {
  switch (leaf.physical) {
    case Physical::kBoolean:
      leaf.meaning = Meaning::kBoolean;
      return;
    case Physical::kInt32:
    case Physical::kInt64:
      leaf.meaning = Meaning::kSigned;
      return;
    case Physical::kInt96:
      leaf.meaning = Meaning::kTimestamp;
      return;
    case Physical::kFloat:
    case Physical::kDouble:
      leaf.meaning = Meaning::kFloat;
      return;
    case Physical::kByteArray:
    case Physical::kFixedBytes:
      leaf.meaning = Meaning::kText;
      return;
  }
}

void Schema::add_leaf(const SchemaElement& element, const Node& node) {
  Leaf leaf;
  leaf.name = node.name;
  leaf.most_definition = static_cast<std::uint8_t>(node.definition);
  leaf.most_repetition = static_cast<std::uint8_t>(node.repetition);
  const std::int32_t type = *element.type;
  const bool known = type >= 0 && type < static_cast<std::int32_t>(kPhysicalNames.size());
  leaf.type =
      known ? std::string(kPhysicalNames[static_cast<std::size_t>(type)]) : "an unknown type";
  if (known) {
    leaf.physical = static_cast<Physical>(type);
    if (leaf.physical == Physical::kFixedBytes)
      leaf.bytes = static_cast<std::uint32_t>(std::max(element.type_length.value_or(0), 0));
    if (!logical_meaning(element, leaf) && !converted_meaning(element, leaf))
      physical_meaning(leaf);
  }
  if (node.is_map) leaf.type = "a map";
  if (node.of_structs) leaf.type = "a list of structs";
  if (node.repetition > 1) leaf.type = "a list of lists";
  const bool has_fields = node.is_map || node.of_structs;
  if (has_fields || node.repetition > 1) leaf.meaning = Meaning::kOther;
  if (leaf.is_list() && leaf.meaning != Meaning::kOther) leaf.type = "a list of " + leaf.type;
  // A map and a list of structs are refused by their own name, which their first leaf has.
  const std::string before = leaves_.empty() ? "" : leaves_.back().name;
  if (has_fields && (before == leaf.name || before.starts_with(leaf.name + "."))) {
    leaf.name += "." + element.name;
  }
  leaves_.push_back(std::move(leaf));
}

Status Schema::read(const Node& parent, unsigned depth) {
  if (next_ == elements_.size())
    return fail(Code::kCorrupt, "the schema ends in the middle of its tree");
  const SchemaElement& element = elements_[next_++];
  if (depth > kMostLevels)
    return fail(Code::kCorrupt, "\"" + element.name + "\" lies too deep in the schema");
  const std::int32_t repetition = element.repetition.value_or(0);
  Node node = parent;
  node.definition += repetition == kOptional || repetition == kRepeated ? 1U : 0U;
  node.repetition += repetition == kRepeated ? 1U : 0U;
  node.is_list = is_list(element);
  node.is_map |= is_map(element);
  node.in_list |= node.is_list || node.is_map || repetition == kRepeated;
  // Below a list's own name are "list" and "element", or only one of them, whatever they are
  // called.
  if (!parent.in_list) node.name += (parent.name.empty() ? "" : ".") + element.name;
  const std::int32_t children = element.children.value_or(0);
  if (element.type) {
    if (children > 0)
      return fail(Code::kCorrupt, "\"" + element.name + "\" has a type and children");
    add_leaf(element, node);
    return {};
  }
  const bool is_item = parent.in_list && repetition != kRepeated && !node.is_list;
  node.of_structs |= node.in_list && !node.is_map && (children > 1 || is_item);
  for (std::int32_t i = 0; i < children; ++i) {
    if (auto status = read(node, depth + 1); !status) return status;
  }
  return {};
}

}  // namespace

Result<std::vector<Leaf>> leaves_of(const std::vector<SchemaElement>& schema) {
  return Schema(schema).leaves();
}

}  // namespace forebay::parquet
