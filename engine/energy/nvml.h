#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace forebay {

/// The energy counters of all NVIDIA GPUs that this process sees.
///
/// Owns the driver's library, which is opened by name (`libnvidia-ml.so.1`), so that nothing has to
/// be linked or installed. Volta and later count energy. Belongs to one thread at a time. Not run
/// on a GPU so far.
class NvmlCounters {
 public:
  /// kNotFound: there is no such library, or no GPU; kUnavailable: the driver refuses, with its
  /// number.
  static Result<NvmlCounters> open(const std::string& library = "libnvidia-ml.so.1");
  NvmlCounters(NvmlCounters&&) noexcept;
  NvmlCounters& operator=(NvmlCounters&&) noexcept;
  ~NvmlCounters();

  Status look();
  /// Since open(), up to the last look(). The counters have 64 bits of millijoules, so they do not
  /// wrap around.
  double joules() const { return static_cast<double>(last_ - first_) * 1e-3; }

 private:
  struct Library;

  explicit NvmlCounters(std::unique_ptr<Library> library);
  Result<std::uint64_t> millijoules() const;

  std::unique_ptr<Library> library_;
  std::vector<void*> gpus_;
  std::uint64_t first_ = 0;
  std::uint64_t last_ = 0;
};

}  // namespace forebay
