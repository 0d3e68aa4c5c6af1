#include "engine/history/run_recorder.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/base/text/json_text.h"
#include "core/base/text/printable.h"
#include "core/base/whole_file.h"
#include "engine/history/node_changes.h"
#include "engine/metrics/status_report.h"

namespace forebay {
namespace {

constexpr int kRecordVersion = 1;
/// Callers that ask for the status at the same time get the same one.
constexpr std::chrono::milliseconds kStatusPeriod{250};
constexpr std::size_t kMostEvaluations = 100;

HistorySample sample_between(const RunFigures& before, const RunFigures& now, double time) {
  const Activity activity = activity_between(before, now);
  HistorySample sample;
  sample.time = time;
  sample.seconds = activity.seconds;
  if (activity.seconds > 0) {
    sample.rows_per_second = static_cast<double>(activity.rows) / activity.seconds;
  }
  sample.starved_ratio = activity.starved_ratio;
  sample.cpus_busy = activity.cpus_busy;
  sample.memory_bytes = now.memory_bytes;
  for (const StageView& stage : activity.stages) {
    sample.stages.push_back({.actors = static_cast<std::uint32_t>(stage.actors),
                             .busy = static_cast<float>(stage.busy_share)});
  }
  return sample;
}

/// The figures that later ones are compared with, without what only the present needs.
RunFigures compared(RunFigures figures) {
  for (StageStats& stage : figures.pipeline.stages) stage.pool.each.clear();
  return figures;
}

JsonObject json_of(const Verdict& verdict) {
  return JsonObject()
      .add("limit", name_of(verdict.limit))
      .add("sentence", verdict.sentence)
      .add("gain", verdict.gain);
}

std::string events_json(const std::vector<RunEvent>& events) {
  std::string text = "[";
  for (const RunEvent& event : events) {
    if (text.size() > 1) text += ',';
    text += "{\"number\":" + std::to_string(event.number) + ",\"event\":\"" + event.kind +
            "\",\"data\":" + event.data + "}";
  }
  return text + "]";
}

}  // namespace

RunRecorder::RunRecorder(Options options)
    : options_(std::move(options)), start_(options_.clock.now()), written_(start_) {
  last_status_ = JsonObject().add("command", options_.command).add("state", "starting").text();
}

double RunRecorder::time_now() const {
  return options_.began + in_seconds(options_.clock.now() - start_);
}

void RunRecorder::observe(Figures figures) {
  looking_([&] {
    figures_ = std::move(figures);
    observed_ = true;
    sampled_ = options_.clock.now();
    recent_ = {compared(figures_())};
    const auto& stages = recent_.front().pipeline.stages;
    keeping_([&] {
      for (const StageStats& stage : stages) stage_names_.push_back(stage.name);
    });
  });
  write();  // A report after a kill is of this run, not of the one before it.
}

void RunRecorder::rest() {
  looking_([this] {
    if (!figures_) return;
    take_sample();
    last_status_ = status_now();
    figures_ = {};
  });
}

void RunRecorder::look() {
  const auto now = options_.clock.now();
  looking_([&] {
    if (!figures_ || now - sampled_ < kSamplePeriod) return;
    // The next sample is due a period after this one was, so that a late look makes no gap.
    sampled_ = std::max(sampled_ + kSamplePeriod, now - kSamplePeriod);
    take_sample();
  });
  if (now - written_ < kWritePeriod) return;
  written_ = now;
  write();
}

// Called under `looking_`.
void RunRecorder::take_sample() {
  RunFigures now = figures_();
  if (now.elapsed <= recent_.back().elapsed) return;
  if (now.cluster) compare_nodes(now);
  HistorySample sample = sample_between(recent_.back(), now, time_now());
  Verdict verdict = judge(activity_between(recent_.front(), now));
  Verdict whole = judge(activity_between({}, now));
  recent_.push_back(compared(std::move(now)));
  if (recent_.size() > kVerdictSamples) recent_.pop_front();
  keeping_([&] {
    if (loss_steps_ > 0) learning_.loss = loss_sum_ / static_cast<double>(loss_steps_);
    loss_sum_ = 0;
    loss_steps_ = 0;
    sample.loss = learning_.loss;
    if (!learning_.evaluations.empty()) sample.auc = learning_.evaluations.back().auc;
    history_.add(std::move(sample));
    verdict_ = std::move(verdict);
    whole_verdict_ = std::move(whole);
  });
}

void RunRecorder::compare_nodes(const RunFigures& now) {
  const auto& before = recent_.back().cluster;
  for (JsonObject& change :
       node_changes(before ? *before : scheduler::ClusterStatus(), *now.cluster)) {
    events_.add("node", JsonObject().add("time", time_now()).add_all(change));
  }
}

void RunRecorder::decided(const JsonObject& decision) {
  events_.add("decision", JsonObject().add("time", time_now()).add_all(decision));
}

void RunRecorder::warn(const std::string& line) {
  events_.add("warning", JsonObject().add("time", time_now()).add("text", printable_message(line)));
  write();
}

void RunRecorder::looked_up(std::uint64_t lookups, std::uint64_t ready) {
  keeping_([&] {
    learning_.lookups = lookups;
    learning_.lookups_ready = ready;
  });
}

void RunRecorder::learned(std::uint64_t step, double loss) {
  keeping_([&] {
    learning_.step = step;
    loss_sum_ += loss;
    ++loss_steps_;
  });
}

void RunRecorder::evaluated(const Learning::Evaluation& evaluation) {
  keeping_([&] {
    auto& all = learning_.evaluations;
    if (all.size() == kMostEvaluations) all.erase(all.begin());
    all.push_back(evaluation);
  });
}

void RunRecorder::placed(std::vector<Learning::Table> tables) {
  keeping_([&] { learning_.tables = std::move(tables); });
}

Learning RunRecorder::learning() const {
  return keeping_([this]() -> Learning { return learning_; });
}

Verdict RunRecorder::verdict() const {
  return keeping_([this]() -> Verdict { return verdict_; });
}

void RunRecorder::end(std::string_view how, const std::string& error) {
  const bool first = keeping_([&] {
    if (!how_.empty()) return false;
    how_ = how;
    error_ = printable_message(error);
    ended_ = time_now();
    return true;
  });
  if (!first) return;
  events_.add(
      "end",
      JsonObject().add("time", time_now()).add("how", how).add("error", printable_message(error)));
  write();
  events_.close();
}

// Called under `looking_`.
std::string RunRecorder::status_now() const {
  return JsonObject().add_all(status_of(figures_())).add("state", "running").text();
}

std::string RunRecorder::status() const {
  return looking_([this]() -> std::string {
    const auto now = options_.clock.now();
    if (figures_ && (status_at_.count() == 0 || now - status_at_ >= kStatusPeriod)) {
      last_status_ = status_now();
      status_at_ = now;
    }
    return last_status_;
  });
}

std::string RunRecorder::history(double seconds) const {
  const double since = time_now() - seconds;
  return keeping_(
      [&]() -> std::string { return history_json(history_.last(), stage_names_, since); });
}

std::string RunRecorder::record() const {
  const std::string last = status();
  return keeping_([&]() -> std::string {
    JsonObject json;
    json.add("version", kRecordVersion)
        .add("command", options_.command)
        .add("job", printable(options_.job))
        .add("began", options_.began)
        .add("ended", ended_)
        .add("how", how_)
        .add("error", error_)
        .add("verdict", json_of(whole_verdict_));
    std::string text = json.text();
    text.pop_back();
    return text + ",\"learning\":" + learning_json(learning_).text() + ",\"status\":" + last +
           ",\"history\":" + history_json(history_.whole(), stage_names_, 0);
  });
}

void RunRecorder::write() {
  writing_([this] {
    if (!observed_) return;
    static_cast<void>(replace_whole(
        options_.path, record() + ",\"events\":" + events_json(events_.all()) + "}\n", Sync::kNo));
  });
}

Result<std::string> read_record(const std::string& folder) {
  const std::string path = folder + "/" + kRecordName;
  auto text = read_whole(path, RunRecorder::kMostBytes);
  if (!text && text.error().code == Code::kNotFound) {
    return fail(Code::kNotFound,
                path + ": no run has left a record there; name the folder of a job that has run");
  }
  if (!text) return text;
  const auto record = parse_json(*text);
  const bool fits = record.is_object() && record.contains("version") &&
                    record["version"] == kRecordVersion && record.contains("status") &&
                    record.contains("history") && record.contains("events");
  if (fits) return json_text(record);
  return fail(Code::kCorrupt, path +
                                  ": is no record of a run, or one of another version; run the "
                                  "job again with this version");
}

}  // namespace forebay
