#include "core/base/text/mib.h"

namespace forebay {
namespace {

std::string whole_mib(std::uint64_t bytes) {
  return std::to_string((bytes >> 20) + (bytes % (1 << 20) != 0 ? 1 : 0));
}

}  // namespace

std::string in_mib(std::uint64_t bytes) { return whole_mib(bytes) + " MiB"; }

std::string as_mib_value(std::uint64_t bytes) { return whole_mib(bytes) + "MiB"; }

}  // namespace forebay
