#include "trainer/torch/kernels/repeated_bags.h"

#include <algorithm>

namespace forebay {

void sum_by_list(const BatchRepeats& repeats, std::span<const float> gradients,
                 std::vector<double>& exact, std::span<float> sums) {
  if (repeats.unique == 0) return;
  const std::size_t width = sums.size() / repeats.unique;
  const std::size_t rows = gradients.size() / width;
  exact.assign(sums.size(), 0);
  const float* gradient = gradients.data();
  for (const std::uint32_t number : std::span(repeats.numbers, rows)) {
    double* sum = exact.data() + number * width;
    for (std::size_t i = 0; i < width; ++i) sum[i] += static_cast<double>(gradient[i]);
    gradient += width;
  }
  std::ranges::transform(exact, sums.begin(), [](double sum) { return static_cast<float>(sum); });
}

std::size_t RepeatedBags::begin(const Batch& batch, const BatchRows& rows) {
  rows_ = &rows;
  bags_.resize(tables_.features());
  tasks_.clear();
  for (std::size_t feature = 0; feature < bags_.size(); ++feature) {
    bags_[feature].repeats = rows.repeats_of(batch, feature);
    if (has(feature)) prepare(batch, feature);
  }
  return tasks_.size();
}

void RepeatedBags::prepare(const Batch& batch, std::size_t feature) {
  Bags& bags = bags_[feature];
  const std::int32_t* lengths = batch.lengths + feature * batch.rows;
  bags.lengths.clear();
  bags.first_ids.clear();
  std::size_t id = rows_->first_id[feature];
  for (std::size_t i = 0; i < bags.repeats->unique; ++i) {
    if (i % kTask == 0) {
      tasks_.push_back({feature, bags.first_ids.size()});
      bags.first_ids.push_back(id);
    }
    bags.lengths.push_back(lengths[bags.repeats->first_rows[i]]);
    id += static_cast<std::size_t>(bags.lengths.back());
  }
  bags.vectors.resize(bags.repeats->unique * tables_.width(feature));
}

void RepeatedBags::pool(std::size_t task) {
  const auto [feature, number] = tasks_[task];
  Bags& bags = bags_[feature];
  const std::size_t width = tables_.width(feature);
  const std::size_t first = number * kTask;
  const std::size_t count = std::min(kTask, bags.lengths.size() - first);
  tables_.pool(feature, *rows_, bags.first_ids[number],
               std::span(bags.lengths).subspan(first, count), bags.vectors.data() + first * width,
               width);
}

void RepeatedBags::copy(std::size_t feature, std::size_t first, std::size_t count, float* out,
                        std::size_t stride) const {
  const Bags& bags = bags_[feature];
  const std::size_t width = tables_.width(feature);
  for (std::size_t row = first; row < first + count; ++row, out += stride) {
    std::copy_n(bags.vectors.data() + bags.repeats->numbers[row] * width, width, out);
  }
}

void RepeatedBags::add_up(std::size_t feature, std::size_t rows, const float* gradients,
                          EmbeddingTables& tables) {
  Bags& bags = bags_[feature];
  const std::size_t width = tables_.width(feature);
  sum_by_list(*bags.repeats, {gradients, rows * width}, bags.sums, bags.vectors);
  const EmbeddingTables::GradientRun run{bags.repeats->unique, bags.vectors.data()};
  tables.add_up(feature, bags.lengths, *rows_, {&run, 1});
}

}  // namespace forebay
