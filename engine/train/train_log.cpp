#include "engine/train/train_log.h"

#include <algorithm>
#include <cstdio>

#include "core/base/clock.h"
#include "engine/job/quantity.h"

namespace forebay {
namespace {

double seconds_since_1970() {
  return in_seconds(std::chrono::system_clock::now().time_since_epoch());
}

LogLine line_at(const Position& position) {
  return {.step = position.batches, .epoch = position.epoch, .rows = position.rows};
}

}  // namespace

Result<TrainLog> TrainLog::open(const JobSpec& job, const Position& begin, const std::string& kept,
                                bool evaluated) {
  TrainLog log;
  log.restore(kept);
  log.every_ = std::max<std::uint64_t>(job.trainer.log_every, 1);
  if (!job.trainer.csv.empty()) {
    auto csv = begin.batches == 0 ? CsvFile::begin(job.trainer.csv)
                                  : CsvFile::resume(job.trainer.csv, begin.batches, evaluated);
    if (!csv) return pass(csv);
    log.csv_.emplace(std::move(*csv));
  }
  if (!job.trainer.tensorboard.empty()) {
    auto events = EventFile::create(job.trainer.tensorboard, begin.batches, seconds_since_1970);
    if (!events) return pass(events);
    log.events_.emplace(std::move(*events));
  }
  return log;
}

std::string TrainLog::kept() const {
  if (!events_ && !csv_) return {};
  return printed("%llu %.17g\n", static_cast<unsigned long long>(steps_), loss_sum_);
}

void TrainLog::restore(const std::string& kept) {
  unsigned long long steps = 0;
  double sum = 0;
  if (std::sscanf(kept.c_str(), "%llu %lg", &steps, &sum) != 2) return;
  steps_ = steps;
  loss_sum_ = sum;
}

void TrainLog::step(const TrainProgress& progress, std::optional<double> learning_rate,
                    std::chrono::nanoseconds paused) {
  if (!events_ && !csv_) return;
  loss_sum_ += progress.loss;
  ++steps_;
  if (progress.position.batches % every_ != 0) return;
  LogLine line = line_at(progress.position);
  line.loss = loss_sum_ / static_cast<double>(steps_);
  line.learning_rate = learning_rate;
  const auto trained = (progress.elapsed - elapsed_) - (paused - paused_);
  const double seconds = in_seconds(trained);
  if (seconds > 0) {
    const double waited = in_seconds(progress.waited - waited_);
    line.rows_per_second = static_cast<double>(progress.rows - rows_) / seconds;
    line.starved_ratio = std::clamp(waited / seconds, 0.0, 1.0);
  }
  write(line);
  loss_sum_ = 0;
  steps_ = 0;
  rows_ = progress.rows;
  elapsed_ = progress.elapsed;
  waited_ = progress.waited;
  paused_ = paused;
}

void TrainLog::evaluated(const Position& position, const Quality& quality) {
  LogLine line = line_at(position);
  line.auc = quality.auc;
  line.log_loss = quality.log_loss;
  line.normalized_entropy = quality.normalized_entropy;
  line.calibration = quality.calibration;
  write(line);
}

void TrainLog::write(const LogLine& line) {
  const auto end = [this](auto& file, const Status& status) {
    if (status) return;
    note_ = "figures are not logged there any more: " + status.error().message;
    file.reset();
  };
  if (events_) end(events_, events_->write(line));
  if (csv_) end(csv_, csv_->write(line));
}

}  // namespace forebay
