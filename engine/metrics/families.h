#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "actors/pipeline.h"
#include "engine/metrics/metric_family.h"
#include "scheduler/cluster_status.h"

namespace forebay {

/// Families one after the other.
class Families {
 public:
  void counter(const char* name, const char* help, double value) {
    one(name, help, MetricFamily::Kind::kCounter, value);
  }
  void gauge(const char* name, const char* help, double value) {
    one(name, help, MetricFamily::Kind::kGauge, value);
  }

  /// A sample per item of `list`, `label`led by what `name_of` says.
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

/// As metrics hold them: base units, doubles.
inline double number(std::uint64_t count) { return static_cast<double>(count); }

// What processes of several kinds have, under the same names wherever it means the same.

/// The program and which of its commands this is.
void add_build(const std::string& command, Families& to);
void add_memory(std::uint64_t bytes, Families& to);
void add_memory_limit(std::uint64_t bytes, Families& to);
void add_stages(const std::vector<StageStats>& stages, Families& to);
void add_cluster(const scheduler::ClusterStatus& cluster, Families& to);

}  // namespace forebay
