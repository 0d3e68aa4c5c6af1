#include <cstdio>
#include <filesystem>

#include "core/net/curve_keys.h"
#include "engine/report/json_object.h"
#include "tools/command/commands.h"

namespace forebay {
namespace {

Status make_keys(const std::string& folder, const std::string& client) {
  std::error_code error;
  const bool there = std::filesystem::exists(folder, error);
  if (!there || client.empty()) {
    if (auto made = CurveKeys::create(folder); !made) return made;
  }
  return client.empty() ? Status{} : CurveKeys::add_client(folder, client);
}

}  // namespace

Exit run_keys(const Invocation& invocation) {
  if (invocation.arguments.front() != "new") {
    return Exit::refused("keys " + invocation.arguments.front() + ": must be keys new DIR");
  }
  const std::string& folder = invocation.arguments.back();
  const std::string client = invocation.value("--client");
  if (auto made = make_keys(folder, client); !made) return Exit::refused(made.error());
  const std::string shown = client.empty() ? "client" : client;
  return print_result(invocation, JsonObject().add("folder", folder).add("client", shown), [&] {
    const std::string pair = "`" + shown + ".key` and `" + shown + ".key_secret`";
    const std::string wanted =
        client.empty() ? pair : "and " + pair + ",\nas client.key and client.key_secret";
    std::printf(
        "%s: keys made. The head needs all of it; a node needs `server.key`, %s.\n"
        "A client is accepted while clients/NAME.key is there: to lock one out, remove that "
        "file.\n",
        folder.c_str(), wanted.c_str());
  });
}

}  // namespace forebay
