#include "engine/train/train_log.h"

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>

#include "core/base/clock.h"
#include "core/runtime/actor.h"
#include "core/runtime/ask.h"
#include "core/runtime/own_threads.h"
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

class TrainLog::Writer {
 public:
  struct Files {
    std::optional<EventFile> events;
    std::optional<CsvFile> csv;
  };

  Writer(Files files, Say say)
      : files_(std::move(files)),
        say_(std::move(say)),
        threads_(clock_),
        actor_(threads_.spawn(
            {.name = "figures",
             .restart = {.restarts = kRestarts, .period = std::chrono::nanoseconds::max()},
             .on_crash = [this](const Error& error) { crashed(error); }},
            [this] { return std::make_unique<Writing>(*this); })) {}
  ~Writer() { threads_.shutdown(ActorHost::Stop::kDrain); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Lines are refused once writing threw too often, or while more than a full mailbox of them waits
  // for the disk.
  void write(const LogLine& line) { static_cast<void>(actor_.tell(Line{line})); }
  void flush() const { static_cast<void>(ask(actor_, Flush{}).wait()); }

 private:
  /// Model's thread → actor: the next line.
  struct Line {
    static constexpr std::string_view kTag = "train.log_line/1";
    LogLine line;
  };
  /// Model's thread → actor: asks for an answer behind the lines so far.
  struct Flush {
    static constexpr std::string_view kTag = "train.flush_log/1";
  };

  /// The files are its state; each line is written whole, so they stay as they are in a crash.
  class Writing final : public ActorOf<Writing, Line, Flush> {
   public:
    explicit Writing(Writer& writer) : writer_(writer) {}
    Status on(const Line& next, Context&) {
      writer_.write_to(writer_.files_.events, next.line);
      writer_.write_to(writer_.files_.csv, next.line);
      return {};
    }
    Status on(const Flush&, Context&) { return {}; }

   private:
    Writer& writer_;
  };

  void say(const std::string& line) const {
    if (say_) say_(line);
  }
  template <class File>
  void write_to(std::optional<File>& file, const LogLine& line) {
    if (!file) return;
    const Status written = file->write(line);
    if (written) return;
    say("figures are not logged there any more: " + written.error().message);
    file.reset();
  }
  void crashed(const Error& error) {
    say((++crashes_ > kRestarts ? "figures are not logged any more: "
                                : "a line of figures is lost: ") +
        error.message);
  }

  Files files_;  // used by the actor, like crashes_
  std::size_t crashes_ = 0;
  const Say say_;
  SystemClock clock_;
  OwnThreads threads_;
  const ActorRef<Line, Flush> actor_;
};

TrainLog::TrainLog() = default;
TrainLog::~TrainLog() = default;
TrainLog::TrainLog(TrainLog&& other) noexcept = default;
TrainLog& TrainLog::operator=(TrainLog&& other) noexcept = default;

Result<TrainLog> TrainLog::open(const JobSpec& job, const Position& begin, Say say,
                                const std::string& kept, bool evaluated) {
  TrainLog log;
  log.restore(kept);
  log.every_ = std::max<std::uint64_t>(job.trainer.log_every, 1);
  Writer::Files files;
  if (!job.trainer.csv.empty()) {
    auto csv = begin.batches == 0 ? CsvFile::begin(job.trainer.csv)
                                  : CsvFile::resume(job.trainer.csv, begin.batches, evaluated);
    if (!csv) return pass(csv);
    files.csv.emplace(std::move(*csv));
  }
  if (!job.trainer.tensorboard.empty()) {
    auto events = EventFile::create(job.trainer.tensorboard, begin.batches, seconds_since_1970);
    if (!events) return pass(events);
    files.events.emplace(std::move(*events));
  }
  if (files.csv || files.events) {
    log.writer_ = std::make_unique<Writer>(std::move(files), std::move(say));
  }
  return log;
}

std::string TrainLog::kept() const {
  if (writer_ == nullptr) return {};
  flush();
  return printed("%llu %.17g\n", static_cast<unsigned long long>(steps_), loss_sum_);
}

void TrainLog::flush() const {
  if (writer_ != nullptr) writer_->flush();
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
  if (writer_ == nullptr) return;
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
  if (writer_ != nullptr) writer_->write(line);
}

}  // namespace forebay
