#include "engine/job/known_keys.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>

#include "core/base/seconds.h"
#include "engine/job/quantity.h"

namespace forebay {
namespace {

using enum ValueKind;

constexpr double kAnyCount = 9223372036854775807.0;
constexpr double kMostBatch = 16777216;  // 2²⁴ rows.
constexpr double kMostCpus = 4096;
constexpr double kMostActors = 1024;
constexpr double kDay = 86400;

constexpr KeyRule kKeys[] = {
    {"dataset.format", kChoice, 0, 0, "criteo_tsv csv"},
    {"dataset.paths", kTexts},
    {"dataset.bad_rows", kCount, 0, kAnyCount},
    {"dataset.max_row_bytes", kSize, 64, 0x1p30},
    {"dataset.csv.delimiter", kLetter, 1},
    {"dataset.csv.header", kFlag},
    {"dataset.csv.list_delimiter", kLetter, 0},
    {"columns.label", kText},
    {"columns.dense", kTexts},
    {"columns.sparse", kTexts},
    {"order.seed", kCount, 0, kAnyCount},
    {"order.shuffle", kShuffle},
    {"order.mode", kChoice, 0, 0, "exact arrival"},
    {"order.epochs", kCount, 1, 1e9},
    {"order.batch_size", kCount, 1, kMostBatch},
    {"order.drop_last", kFlag},
    {"pipeline.cpus", kCount, 1, kMostCpus},
    {"pipeline.memory", kSize, 0x1p20, 0x1p60},
    {"pipeline.prefetch", kSize, 1, 0x1p60},
    {"pipeline.max_actors", kCount, 1, kMostActors},
    {"pipeline.allocation.load", kCount, 1, kMostActors},
    {"pipeline.allocation.decode", kCount, 1, kMostActors},
    {"pipeline.allocation.shuffle", kCount, 1, kMostActors},
    {"pipeline.allocation.transform", kCount, 1, kMostActors},
    {"tuner.mode", kChoice, 0, 0, "off advise on"},
    {"tuner.policy", kText},
    {"tuner.reward", kChoice, 0, 0, "usable paper"},
    {"tuner.period", kDuration, 0.1, kDay},
    {"trainer.model", kChoice, 0, 0, "dlrm dcn_v2 wide_deep deepfm emulated none"},
    {"trainer.step", kDuration, 0, 3600},
    {"trainer.device", kText},
    {"trainer.threads", kCount, 1, kMostCpus},
    {"trainer.deterministic", kFlag},
    {"trainer.seed", kCount, 0, kAnyCount},
    {"trainer.optimizer", kChoice, 0, 0, "sgd adagrad adam"},
    {"trainer.learning_rate", kNumber, 1e-9, 1e3},
    {"trainer.warmup_steps", kCount, 0, 0x1p40},
    {"trainer.decay_start", kCount, 0, 0x1p40},
    {"trainer.decay_steps", kCount, 0, 0x1p40},
    {"trainer.clip_norm", kNumber, 0, 1e9},
    {"trainer.embedding_dim", kCount, 1, 4096},
    {"trainer.bottom_mlp", kCounts, 1, 16384},
    {"trainer.top_mlp", kCounts, 1, 16384},
    {"trainer.cross_layers", kCount, 1, 64},
    {"trainer.cross_rank", kCount, 1, 16384},
    {"trainer.max_table_rows", kCount, 1, 0x1p31},
    {"trainer.table_optimizer", kChoice, 0, 0, "sgd adagrad rowwise_adagrad"},
    {"trainer.pooling", kChoice, 0, 0, "sum mean"},
    {"trainer.tables.storage", kChoice, 0, 0, "memory hashed tiered"},
    {"trainer.tables.memory", kSize, 1 << 20, 0x1p50},
    {"trainer.tables.admit_after", kCount, 1, 255},
    {"trainer.tables.evict_after", kCount, 0, 0x1p40},
    {"trainer.tables.device_memory", kSize, 1 << 20, 0x1p50},
    {"trainer.tables.placement", kChoice, 0, 0, "auto table row replicated"},
    {"trainer.evaluate", kTexts},
    {"trainer.evaluate_share", kNumber, 0, 0.99},
    {"trainer.evaluate_every", kCount, 0, 1e15},
    {"trainer.evaluate_auc", kChoice, 0, 0, "auto exact streaming"},
    {"trainer.early_stopping", kCount, 0, 1e9},
    {"trainer.early_stopping_metric", kChoice, 0, 0, "log_loss auc"},
    {"trainer.tensorboard", kText},
    {"trainer.csv", kText},
    {"trainer.log_every", kCount, 1, 1e15},
    {"trainer.checkpoint", kText},
    {"trainer.checkpoint_every", kDuration, 0, 365 * kDay},
    {"trainer.checkpoint_steps", kCount, 0, 0x1p40},
    {"trainer.keep", kCount, 1, 1e6},
    {"trainer.rank_timeout", kDuration, 1, kDay},
    {"cluster.listen", kText},
    {"cluster.head", kText},
    {"cluster.min_workers", kCount, 0, 1e6},
    {"cluster.max_workers", kCount, 0, 1e6},
    {"cluster.local", kFlag},
    {"cluster.keys", kText},
    {"cluster.lease", kDuration, 0.2, 3600},
    {"cluster.heartbeat", kDuration, 0.02, 60},
    {"cluster.rejoin", kDuration, 0.5, kDay},
    {"cluster.placement", kChoice, 0, 0, "spread pack near"},
    {"cluster.compress", kChoice, 0, 0, "auto none lz4 zstd"},
    {"cluster.metrics", kText},
    {"cluster.scale", kText},
    {"run.dir", kText},
    {"run.spill", kSize, 0, 0x1p60},
    {"run.grace", kDuration, 0.1, kDay},
    {"run.stall_after", kDuration, 0.1, kDay},
    {"run.stall_fail", kDuration, 0.1, 30 * kDay},
};

constexpr std::string_view kTables[] = {"dataset",
                                        "dataset.csv",
                                        "columns",
                                        "order",
                                        "transform",
                                        "pipeline",
                                        "pipeline.allocation",
                                        "tuner",
                                        "trainer",
                                        "trainer.tables",
                                        "cluster",
                                        "run"};

std::string show_number(double number) {
  char text[40];
  const bool whole = std::nearbyint(number) == number && std::abs(number) < 1e15;
  std::snprintf(text, sizeof text, whole ? "%.0f" : "%g", number);
  return text;
}

bool within(double number, const KeyRule& rule) {
  return number >= rule.low && number <= rule.high;
}

bool is_choice(std::string_view choices, std::string_view text) {
  while (!choices.empty()) {
    const std::size_t space = std::min(choices.find(' '), choices.size());
    if (choices.substr(0, space) == text) return true;
    choices.remove_prefix(std::min(space + 1, choices.size()));
  }
  return false;
}

bool is_empty_list(const ParamValue& value) {
  const auto* texts = std::get_if<std::vector<std::string>>(&value);
  return texts != nullptr && texts->empty();
}

bool is_letter(const KeyRule& rule, const std::string* text) {
  if (text == nullptr) return false;
  if (text->empty()) return rule.low == 0;
  const char c = text->front();
  return text->size() == 1 && static_cast<unsigned char>(c) < 128 && c != '"' && c != '\n' &&
         c != '\r' && c != '\0';
}

bool is_quantity(const KeyRule& rule, const ParamValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  if (rule.kind == kSize) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
      return within(static_cast<double>(*number), rule);
    }
    const auto size = text != nullptr ? parse_size(*text) : std::nullopt;
    return size && within(static_cast<double>(*size), rule);
  }
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    return within(static_cast<double>(*number), rule);
  }
  if (const auto* number = std::get_if<double>(&value)) return within(*number, rule);
  const auto time = text != nullptr ? parse_duration(*text) : std::nullopt;
  return time && within(in_seconds(*time), rule);
}

std::string show_seconds(double seconds) {
  return format_duration(std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9)));
}

}  // namespace

std::span<const KeyRule> known_keys() { return kKeys; }

const KeyRule* find_key(std::string_view name) {
  const auto* found = std::find_if(std::begin(kKeys), std::end(kKeys),
                                   [&](const KeyRule& rule) { return rule.name == name; });
  return found == std::end(kKeys) ? nullptr : found;
}

std::vector<std::string_view> known_names() {
  std::vector<std::string_view> names(std::begin(kTables), std::end(kTables));
  for (const KeyRule& rule : kKeys) names.push_back(rule.name);
  return names;
}

std::string describe_wanted(const KeyRule& rule) {
  const std::string range = " from " + show_number(rule.low) + " to " + show_number(rule.high);
  const bool open = rule.high >= kAnyCount;
  switch (rule.kind) {
    case kText:
      return "a string";
    case kTexts:
      return "a list of strings";
    case kLetter:
      return rule.low == 0 ? "one ASCII character, or \"\"" : "one ASCII character";
    case kFlag:
      return "true or false";
    case kCount:
      return "a whole number" + (open ? " of at least " + show_number(rule.low) : range);
    case kCounts:
      return "a list of whole numbers" + range;
    case kNumber:
      return "a number" + range;
    case kSize:
      return "a size such as 512MiB, from " + format_size(static_cast<std::uint64_t>(rule.low)) +
             " to " + format_size(static_cast<std::uint64_t>(rule.high));
    case kDuration:
      return "a time such as 250ms or 5s, from " + show_seconds(rule.low) + " to " +
             show_seconds(rule.high);
    case kChoice: {
      std::string words(rule.choices);
      for (std::size_t at = 0; (at = words.find(' ', at)) != std::string::npos; at += 3) {
        words.replace(at, 1, " | ");
      }
      return words;
    }
    case kShuffle:
      return "true, false or \"file\"";
  }
  return "";
}

bool accepts(const KeyRule& rule, const ParamValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  const auto* whole = std::get_if<std::int64_t>(&value);
  const auto* number = std::get_if<double>(&value);
  switch (rule.kind) {
    case kText:
      return text != nullptr;
    case kTexts:
      return text != nullptr || std::get_if<std::vector<std::string>>(&value) != nullptr;
    case kLetter:
      return is_letter(rule, text);
    case kFlag:
      return std::get_if<bool>(&value) != nullptr;
    case kCount:
      return whole != nullptr && within(static_cast<double>(*whole), rule);
    case kCounts: {
      const auto* list = std::get_if<std::vector<std::int64_t>>(&value);
      return is_empty_list(value) ||
             (list != nullptr && std::all_of(list->begin(), list->end(), [&](std::int64_t item) {
                return within(static_cast<double>(item), rule);
              }));
    }
    case kNumber:
      return (whole != nullptr && within(static_cast<double>(*whole), rule)) ||
             (number != nullptr && within(*number, rule));
    case kSize:
    case kDuration:
      return is_quantity(rule, value);
    case kChoice:
      return text != nullptr && is_choice(rule.choices, *text);
    case kShuffle:
      return std::get_if<bool>(&value) != nullptr || (text != nullptr && *text == "file");
  }
  return false;
}

std::string show_value(const ParamValue& value) {
  std::string text;
  if (const auto* flag = std::get_if<bool>(&value)) text = *flag ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&value)) text = std::to_string(*whole);
  if (const auto* number = std::get_if<double>(&value)) text = show_number(*number);
  if (const auto* words = std::get_if<std::string>(&value)) text = '"' + *words + '"';
  if (text.empty()) text = "a list";
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 32; }, '?');
  constexpr std::size_t kMostShown = 60;
  return text.size() <= kMostShown ? text : text.substr(0, kMostShown) + "…";
}

}  // namespace forebay
