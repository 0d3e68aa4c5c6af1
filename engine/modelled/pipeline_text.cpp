#include <charconv>
#include <concepts>
#include <optional>
#include <string>

#include "engine/modelled/pipeline_file.h"

namespace forebay {
namespace {

/// Returns a TOML basic string. Names contain no control characters.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

/// Returns the shortest text that parses to the same number, with a point or an exponent as TOML
/// requires.
std::string shown(double number) {
  char text[40];
  const auto end = std::to_chars(text, text + sizeof text, number).ptr;
  std::string out(text, end);
  return out.find_first_of(".e") == std::string::npos ? out + ".0" : out;
}

/// Builds lines of `key = value`.
class Lines {
 public:
  void table(std::string_view header) { text_.append("\n").append(header).append("\n"); }
  void add(std::string_view key, std::string_view text) { line(key, quoted(text)); }
  void add(std::string_view key, double number) { line(key, shown(number)); }
  void add(std::string_view key, std::integral auto number) { line(key, std::to_string(number)); }
  template <class T>
  void add(std::string_view key, const std::optional<T>& value) {
    if (value) add(key, *value);
  }
  const std::string& text() const { return text_; }

 private:
  void line(std::string_view key, const std::string& value) {
    text_.append(key).append(" = ").append(value).append("\n");
  }

  std::string text_;
};

void add_stage(Lines& lines, const tuner::StageModel& stage) {
  lines.table("[[stage]]");
  lines.add("name", std::string_view(stage.name));
  lines.add("seconds", stage.seconds);
  lines.add("cpu", stage.cpu);
  lines.add("alpha", stage.alpha);
  lines.add("beta", stage.beta);
  lines.add("noise", stage.noise);
  lines.add("max_rate", stage.max_rate);
  lines.add("max_actors", stage.max_actors);
  lines.add("bytes_per_actor", stage.bytes_per_actor);
  lines.add("bytes_out", stage.bytes_out);
}

void add_event(Lines& lines, const tuner::PipelineModel& model, const tuner::ModelEvent& event) {
  lines.table("[[event]]");
  lines.add("at_seconds", event.at_seconds);
  if (event.stage) lines.add("stage", std::string_view(model.stages[*event.stage].name));
  lines.add("seconds_factor", event.seconds_factor);
  lines.add("max_rate", event.max_rate);
  lines.add("cpus", event.cpus);
  lines.add("memory_bytes", event.memory_bytes);
  lines.add("trainer_step_seconds", event.trainer_step_seconds);
}

}  // namespace

std::string pipeline_text(const tuner::PipelineModel& model) {
  Lines lines;
  lines.add("name", std::string_view(model.name));
  lines.add("cpus", model.cpus);
  lines.add("memory_bytes", model.memory_bytes);
  lines.add("base_bytes", model.base_bytes);
  lines.add("rows_per_split", model.rows_per_split);
  lines.add("queue_splits", model.queue_splits);
  lines.table("[trainer]");
  lines.add("step_seconds", model.trainer_step_seconds);
  lines.add("prefetch_splits", model.prefetch_splits);
  for (const tuner::StageModel& stage : model.stages) add_stage(lines, stage);
  for (const tuner::ModelEvent& event : model.events) add_event(lines, model, event);
  return lines.text();
}

}  // namespace forebay
