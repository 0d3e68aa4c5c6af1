#include "tools/doctor/blas.h"

#include <algorithm>

namespace forebay {
namespace {

Blas::Kind kind_of(std::string_view path) {
  for (const std::string_view fast : {"openblas", "libmkl", "blis", "atlas"}) {
    if (path.find(fast) != std::string_view::npos) return Blas::Kind::kFast;
  }
  const std::size_t name = path.rfind('/') + 1;
  if (!path.substr(name).starts_with("libblas.so")) return Blas::Kind::kNone;
  // Debian installs the reference implementation in a separate folder.
  return path.find("/blas/libblas.so") != std::string_view::npos ? Blas::Kind::kReference
                                                                 : Blas::Kind::kUnknown;
}

}  // namespace

Blas find_blas(std::string_view maps) {
  Blas found;
  while (!maps.empty()) {
    const std::size_t end = std::min(maps.find('\n'), maps.size());
    const std::string_view line = maps.substr(0, end);
    maps.remove_prefix(std::min(end + 1, maps.size()));
    const std::size_t slash = line.find('/');
    if (slash == std::string_view::npos) continue;
    const std::string_view path = line.substr(slash);
    // The better kind wins: OpenBLAS is loaded through its own libblas.so.
    if (const Blas::Kind kind = kind_of(path); kind < found.kind) found = {kind, std::string(path)};
  }
  return found;
}

}  // namespace forebay
