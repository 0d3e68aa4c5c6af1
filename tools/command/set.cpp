#include "engine/report/json_object.h"
#include "engine/run/control_server.h"
#include "tools/command/commands.h"
#include "tools/command/run_folder.h"
#include "tools/process/message.h"
#include "tools/process/stop_request.h"
#include "tools/terminal/print_json.h"

namespace forebay {
Exit run_set(const Invocation& invocation) {
  const std::string& assignment = invocation.arguments.front();
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    return Exit::refused("set " + assignment + ": must be KEY=VALUE, as in pipeline.cpus=2");
  }
  const std::string key = assignment.substr(0, equals);
  const StopRequest::AtOnce waiting;
  auto done = ask_to_set(run_folder(invocation), key, assignment.substr(equals + 1));
  if (!done && done.error().code == Code::kInvalid) return Exit::refused(done.error());
  if (!done) return Exit::failed(done.error());
  if (invocation.has("--json")) {
    print_json(JsonObject().add("key", key).add("done", *done));
  } else {
    print_line(*done);
  }
  return Exit::done();
}

}  // namespace forebay
