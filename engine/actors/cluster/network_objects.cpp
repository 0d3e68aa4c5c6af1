#include "engine/actors/cluster/network_objects.h"

#include <unistd.h>

#include <chrono>

#include "core/base/random.h"

namespace forebay {

std::uint64_t number_of_process() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return mix64(static_cast<std::uint64_t>(now.count()), static_cast<std::uint64_t>(::getpid()));
}

Objects::Options objects_of(const actors::ObjectLimits& limits, const std::string& address,
                            NetworkEndpoint& net) {
  return {.limits = limits,
          .store = {.process = number_of_process(),
                    .address = address,
                    .connect = [&net](const std::string& to) { return net.connect(to); },
                    .find =
                        [&net](const std::string& at) {
                          return net.actor<ObjectStoreRef>(at, kObjectStoreName);
                        }}};
}

void publish(Objects& objects, NetworkEndpoint& net) {
  net.node().publish(std::string(kObjectStoreName), ObjectStoreRef(objects.store()));
}

}  // namespace forebay
