#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace forebay {

/// What a run did in one stretch of time, by default a second. A value.
struct HistorySample {
  struct Stage {
    std::uint32_t actors = 0;
    float busy = 0;  ///< Share of its actors' time in which they worked.
  };

  double time = 0;     ///< Its end, in seconds since 1970.
  double seconds = 0;  ///< Its length.
  double rows_per_second = 0;
  double starved_ratio = 0;
  double cpus_busy = 0;
  std::uint64_t memory_bytes = 0;
  std::optional<double> loss = {};  ///< Absent if nothing learns.
  std::optional<double> auc = {};   ///< Of the last evaluation; absent before the first.
  std::vector<Stage> stages = {};
};

/// Returns one sample for both, of neighbouring stretches with the same stages: means weighted by
/// time, the larger memory, and the later loss, AUC and actors. Pure.
HistorySample merged(const HistorySample& earlier, const HistorySample& later);

/// The samples of a run: the last hour as they came, and the whole run in at most kMostWhole of
/// them. A value that its owner guards.
class RunHistory {
 public:
  static constexpr std::size_t kMostLast = 3600;
  static constexpr std::size_t kMostWhole = 1800;

  void add(HistorySample sample);

  /// The last samples, oldest first.
  const std::deque<HistorySample>& last() const { return last_; }
  /// The whole run, oldest first: once there are kMostWhole samples, neighbours are merged, and the
  /// following ones cover twice the time.
  std::vector<HistorySample> whole() const;

 private:
  std::deque<HistorySample> last_;
  std::vector<HistorySample> whole_;
  std::size_t stride_ = 1;                ///< Samples that one of `whole_` covers.
  std::optional<HistorySample> pending_;  ///< The next one of `whole_`, of `merged_` samples.
  std::size_t merged_ = 0;
};

/// Appends a sample as `forebay`'s `/api/history` lists it; `names` are those of its stages.
void append_json(const HistorySample& sample, const std::vector<std::string>& names,
                 std::string& text);

/// Returns the samples that end after `since` as a list in JSON.
template <class Samples>
std::string history_json(const Samples& samples, const std::vector<std::string>& names,
                         double since) {
  std::string text = "[";
  for (const HistorySample& sample : samples) {
    if (sample.time <= since) continue;
    if (text.size() > 1) text += ',';
    append_json(sample, names, text);
  }
  return text + "]";
}

}  // namespace forebay
