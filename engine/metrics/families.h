#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "actors/pipeline.h"
#include "engine/metrics/metrics_server.h"
#include "scheduler/cluster_status.h"

namespace forebay {

/// Collects metric families in order.
class Families {
 public:
  void counter(const char* name, const char* help, double value) {
    one(name, help, MetricFamily::Kind::kCounter, value);
  }
  void gauge(const char* name, const char* help, double value) {
    one(name, help, MetricFamily::Kind::kGauge, value);
  }

  /// Adds one sample for each item of `list`, with the label `label` set to `name_of(item)`.
  template <class List, class NameOf, class ValueOf>
  void each(MetricFamily family, const char* label, const List& list, NameOf name_of,
            ValueOf value_of) {
    family.samples.reserve(list.size());
    for (const auto& item : list) {
      family.samples.push_back({{{label, name_of(item)}}, value_of(item)});
    }
    list_.push_back(std::move(family));
  }

  void add(MetricFamily family) { list_.push_back(std::move(family)); }
  std::vector<MetricFamily> take() { return std::move(list_); }

 private:
  void one(const char* name, const char* help, MetricFamily::Kind kind, double value) {
    list_.push_back({name, help, kind, {{{}, value}}});
  }

  std::vector<MetricFamily> list_;
};

/// Converts values to base units and doubles, as metrics need them.
inline double number(std::uint64_t count) { return static_cast<double>(count); }

// Metrics common to several kinds of processes. Equal meanings have equal names.

/// Adds the program's version and its command.
void add_build(const std::string& command, Families& to);
void add_memory(std::uint64_t bytes, Families& to);
void add_memory_limit(std::uint64_t bytes, Families& to);
void add_stages(const std::vector<StageStats>& stages, Families& to);
void add_cluster(const scheduler::ClusterStatus& cluster, Families& to);

}  // namespace forebay
