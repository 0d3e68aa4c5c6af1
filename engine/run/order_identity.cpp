#include "engine/run/order_identity.h"

#include <bit>
#include <cstdint>

#include "actors/source/index/block_builder.h"
#include "core/data/digest.h"

namespace forebay {
namespace {

/// Number of the rule by which rows come to batches. States of its first version lack the key.
constexpr const char* kOrderVersion = "2";
constexpr const char* kOrderVersionKey = "order.version";

/// Whether the second version of the rule has another order for `dataset` than the first: it deals
/// rows of grains in chunks (design/grains.md), and blocks of wide rows are larger
/// (design/order.md).
bool is_of_second_order(const Dataset& dataset) {
  if (dataset.in_grains()) return true;
  return slot_rule::slot_for(dataset.bytes(), dataset.rows()) > slot_rule::kBySize;
}

std::string short_hash(const std::string& text) {
  return Digest::of(text.data(), text.size()).hex().substr(0, 16);
}

std::string names_of(const Schema& schema) {
  std::string names;
  for (const std::string& name : schema.dense) names += name + '\n';
  names += '\n';
  for (const SparseFeature& feature : schema.sparse) names += feature.name + '\n';
  return names;
}

/// The columns that decide what a batch holds. Keys that a job leaves out add nothing, so states of
/// jobs without them stay as they are.
std::string identity_of(const ColumnSpec& columns, const Schema& schema) {
  std::string text = columns.label + '\n' + names_of(schema);
  if (columns.label_threshold) {
    text += "\nlabel_threshold " +
            std::to_string(std::bit_cast<std::uint64_t>(*columns.label_threshold));
  }
  if (schema.weight) text += "\nweight " + columns.weight;
  for (const ExtraColumn& extra : schema.extra) {
    text += (extra.kind == ExtraColumn::Kind::kInt64 ? "\nint64 " : "\nfloat64 ") + extra.name;
  }
  return text;
}

std::string csv_of(const DatasetSpec& dataset) {
  return std::string(1, dataset.csv.delimiter) + (dataset.csv.header ? "h" : "-") +
         dataset.csv.list_delimiter;
}

}  // namespace

std::map<std::string, std::string> order_identity(const OrderFacts& facts) {
  const JobSpec& job = facts.job;
  const OrderSpec& order = facts.order;
  std::map<std::string, std::string> identity = {
      {"order.seed", std::to_string(order.seed)},
      {"order.batch_size", std::to_string(order.batch_size)},
      {"order.shuffle", std::string(name_in(kShuffleNames, order.shuffle))},
      {"order.mode", order.mode == OrderSpec::Mode::kExact ? "exact" : "arrival"},
      {"order.drop_last", order.drop_last ? "true" : "false"},
      {"transform", short_hash(std::to_string(facts.plan.fingerprint()))},
      {"columns", short_hash(identity_of(job.columns, facts.dataset.format().schema()))},
      {"dataset.format", job.dataset.format + short_hash(csv_of(job.dataset)).substr(0, 4)},
      {"trainer.evaluate_share", std::to_string(job.trainer.evaluate_share)},
  };
  if (facts.dataset.in_grains()) {
    identity["order.shuffle_memory"] = std::to_string(order.shuffle_memory);
  }
  if (is_of_second_order(facts.dataset)) identity[kOrderVersionKey] = kOrderVersion;
  return identity;
}

std::string rows_identity(const OrderFacts& facts, const RowFilter& filter) {
  std::string decides = identity_of(facts.job.columns, facts.dataset.format().schema()) + '\n' +
                        facts.job.dataset.format + csv_of(facts.job.dataset) + '\n';
  if (!filter.keeps_all() || facts.plan.samples())
    decides += std::to_string(facts.order.seed) + '\n';
  if (!filter.keeps_all()) decides += std::to_string(facts.job.trainer.evaluate_share) + '\n';
  if (facts.plan.samples()) decides += std::to_string(facts.plan.fingerprint()) + '\n';
  return decides;
}

Status check_order_version(const LoaderState& saved, const LoaderState& now) {
  if (now.identity.contains(kOrderVersionKey) && !saved.identity.contains(kOrderVersionKey)) {
    return fail(Code::kInvalid,
                "resume refused: the state is of a version of this program that had another order "
                "for this dataset; go on with that version, or start anew");
  }
  return {};
}

}  // namespace forebay
