#include "engine/control/control_client.h"

#include <cerrno>
#include <chrono>
#include <cstring>

#include <nlohmann/json.hpp>

#include "core/base/text/json_text.h"
#include "engine/control/control_socket.h"

namespace forebay {
namespace {

/// An answer may wait until memory use has gone down.
constexpr std::chrono::seconds kAnswer(10);

Result<std::string> ask(const std::string& run_dir, const std::string& line, std::size_t most) {
  auto folder = open_folder(run_dir);
  if (!folder) return fail(Code::kNotFound, "no job runs in " + run_dir);
  auto socket = make_socket();
  if (!socket) return pass(socket);
  if (!connect_control(socket->number(), folder->number(), kAnswer)) {
    const bool nobody = errno == ENOENT || errno == ECONNREFUSED;
    return fail(nobody ? Code::kNotFound : Code::kUnavailable,
                nobody ? "no job runs in " + run_dir
                       : run_dir + "/" + kControlName + ": " + std::strerror(errno));
  }
  if (!send_line(socket->number(), line, kAnswer))
    return fail(Code::kUnavailable, "the job hung up");
  auto answered = receive_line(socket->number(), most, kAnswer);
  if (!answered) {
    return fail(Code::kUnavailable, "the job did not answer: " + answered.error().message);
  }
  return answered;
}

Result<std::string> ask_for(const std::string& run_dir, const char* question) {
  auto answer = ask(run_dir, question, kMostLookBytes);
  // The job is about to begin or to end.
  if (answer && *answer == "{}") return fail(Code::kNotFound, "no job runs in " + run_dir + " now");
  return answer;
}

}  // namespace

Result<std::string> ask_to_set(const std::string& run_dir, const std::string& key,
                               const std::string& value) {
  const std::string line = json_text(nlohmann::json{{"set", key}, {"value", value}});
  if (line.size() >= kMostControlBytes) {
    return fail(Code::kInvalid, key.substr(0, 40) + ": the value is too long");
  }
  auto answered = ask(run_dir, line, kMostControlBytes);
  if (!answered) return pass(answered);
  const auto answer = parse_json(*answered);
  if (!answer.is_object()) return fail(Code::kUnavailable, "the job's answer is not understood");
  const std::string done = text_at(answer, "done");
  if (done.empty()) return fail(Code::kInvalid, text_at(answer, "error"));
  return done;
}

Result<std::string> ask_to_look(const std::string& run_dir) {
  return ask_for(run_dir, "{\"look\":true}");
}

Result<std::string> ask_to_trace(const std::string& run_dir) {
  return ask_for(run_dir, "{\"trace\":true}");
}

}  // namespace forebay
