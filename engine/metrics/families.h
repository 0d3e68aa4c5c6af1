#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "actors/pipeline.h"
#include "core/base/clock.h"
#include "engine/metrics/metrics_server.h"
#include "scheduler/cluster_status.h"

namespace forebay {

/// Collects metric families in order.
class Families {
 public:
  void add(MetricFamily family) { list_.push_back(std::move(family)); }

  /// Adds a family of one value, a number or a time.
  void add(const char* name, const char* help, auto value) {
    add({name, help, {{{}, number(value)}}});
  }

  /// Adds one sample for each item of `list`: the value that `value_of` has of it, with the item's
  /// name as the label `label`.
  template <class List, class ValueOf>
  void each(const char* name, const char* help, const char* label, const List& list,
            ValueOf value_of) {
    MetricFamily family{name, help, {}};
    for (const auto& item : list) {
      const double value = number(std::invoke(value_of, item));
      family.samples.push_back({{{label, std::string(item.name)}}, value});
    }
    add(std::move(family));
  }

  std::vector<MetricFamily> take() { return std::move(list_); }

 private:
  /// Converts to base units and doubles, as metrics need them.
  static double number(auto value) {
    if constexpr (std::is_arithmetic_v<decltype(value)>) {
      return static_cast<double>(value);
    } else {
      return in_seconds(value);
    }
  }

  std::vector<MetricFamily> list_;
};

// Metrics common to several kinds of processes. Equal meanings have equal names.

/// Adds the program's version and its command.
void add_build(const std::string& command, Families& to);
void add_memory(std::uint64_t bytes, Families& to);
void add_memory_limit(std::uint64_t bytes, Families& to);
void add_stages(const std::vector<StageStats>& stages, Families& to);
void add_cluster(const scheduler::ClusterStatus& cluster, Families& to);

}  // namespace forebay
