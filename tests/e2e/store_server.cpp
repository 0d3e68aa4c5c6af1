// A stub store of a folder, for scenarios: store_server FOLDER [KEY=VALUE]…
// Prints its port, and ends with its stdin. There, KEY=VALUE changes how it answers from then on,
// and any line is answered by the number of requests so far.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include "tools/bench/store/stub_server.h"

namespace {

bool set(forebay::StubOptions& options, std::string_view key, const std::string& value) {
  const double number = std::atof(value.c_str());
  if (key == "latency")
    options.latency = number;
  else if (key == "refused")
    options.refused_share = number;
  else if (key == "stalled")
    options.stalled_share = number;
  else if (key == "reset")
    options.reset_share = number;
  else if (key == "short")
    options.short_share = number;
  else if (key == "port")
    options.port = static_cast<int>(number);
  else if (key == "seed")
    options.seed = static_cast<std::uint64_t>(number);
  else if (key == "clock_ahead")
    options.clock_ahead = static_cast<std::int64_t>(number);
  else if (key == "sound_objects")
    options.sound_objects = static_cast<std::uint64_t>(number);
  else if (key == "ends")
    options.ends = number != 0;
  else if (key == "cut_listings")
    options.cut_listings = number != 0;
  else if (key == "access_key")
    options.access_key = value;
  else if (key == "secret")
    options.secret = value;
  else if (key == "region")
    options.region = value;
  else
    return false;
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return 2;
  forebay::StubOptions options;
  options.folder = arguments[1];
  for (int i = 2; i < count; ++i) {
    const std::string_view text = arguments[i];
    const auto equals = text.find('=');
    if (equals == std::string_view::npos ||
        !set(options, text.substr(0, equals), std::string(text.substr(equals + 1)))) {
      return 2;
    }
  }
  const auto server = forebay::StubServer::open(options);
  if (!server) return 1;
  std::printf("%d\n", (*server)->port());
  std::fflush(stdout);
  std::thread watch([&server] {
    std::string line;
    for (char byte = 0; ::read(STDIN_FILENO, &byte, 1) > 0;) {
      if (byte != '\n') {
        line += byte;
        continue;
      }
      if (const auto equals = line.find('='); equals != std::string::npos) {
        (*server)->change([&](forebay::StubOptions& changed) {
          set(changed, std::string_view(line).substr(0, equals), line.substr(equals + 1));
        });
      }
      std::printf("%llu\n", static_cast<unsigned long long>((*server)->requests()));
      std::fflush(stdout);
      line.clear();
    }
    (*server)->stop();
  });
  (*server)->run();
  if (options.ends) ::_exit(0);  // Nobody closes its stdin.
  watch.join();
  return 0;
}
