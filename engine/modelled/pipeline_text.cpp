#include <charconv>
#include <concepts>
#include <optional>
#include <string>

#include "engine/modelled/pipeline_fields.h"
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
class FieldWriter {
 public:
  void table(std::string_view header) { text_.append("\n").append(header).append("\n"); }
  template <class T>
  void needs(std::string_view key, const T& value, double /*low*/ = 0, double /*high*/ = 0) {
    add(key, value);
  }
  template <class T>
  void may(std::string_view key, const T& value, double /*low*/ = 0, double /*high*/ = 0) {
    add(key, value);
  }
  const std::string& text() const { return text_; }

 private:
  void add(std::string_view key, const std::string& text) { line(key, quoted(text)); }
  void add(std::string_view key, double number) { line(key, shown(number)); }
  void add(std::string_view key, std::integral auto number) { line(key, std::to_string(number)); }
  template <class T>
  void add(std::string_view key, const std::optional<T>& value) {
    if (value) add(key, *value);
  }
  void line(std::string_view key, const std::string& value) {
    text_.append(key).append(" = ").append(value).append("\n");
  }

  std::string text_;
};

}  // namespace

std::string pipeline_text(const tuner::PipelineModel& model) {
  FieldWriter fields;
  machine_fields(fields, model);
  fields.table("[trainer]");
  trainer_fields(fields, model);
  for (const tuner::StageModel& stage : model.stages) {
    fields.table("[[stage]]");
    stage_fields(fields, stage);
  }
  for (const tuner::ModelEvent& event : model.events) {
    fields.table("[[event]]");
    if (event.stage) {
      stage_event_fields(fields, event, model.stages[*event.stage].name);
    } else {
      machine_event_fields(fields, event);
    }
  }
  return fields.text();
}

}  // namespace forebay
