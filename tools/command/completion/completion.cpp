#include <cstdio>
#include <string>
#include <string_view>

#include "tools/command/commands.h"
#include "tools/command/completion/scripts.h"

namespace forebay {
namespace {

/// Returns a completion script for `bash`, `zsh` or `fish`; "" for other shells.
std::string completion_script(std::string_view shell) {
  if (shell == "bash") return bash_script();
  if (shell == "zsh") {
    return "#compdef forebay\nautoload -U +X bashcompinit && bashcompinit\n" + bash_script();
  }
  if (shell == "fish") return fish_script();
  return "";
}

}  // namespace

Exit run_completion(const Invocation& invocation) {
  const std::string script = completion_script(invocation.arguments.front());
  if (script.empty()) {
    return Exit::refused("completion " + invocation.arguments.front() +
                         ": no such shell; bash, zsh and fish are known");
  }
  std::fwrite(script.data(), 1, script.size(), stdout);
  return Exit::done();
}

}  // namespace forebay
