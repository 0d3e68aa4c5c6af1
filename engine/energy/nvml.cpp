#include "engine/energy/nvml.h"

#include <dlfcn.h>

#include <utility>

namespace forebay {

// The five functions of NVML that are used, as nvml.h of the driver's toolkit declares them: a GPU
// is an opaque pointer, a result a number, 0 success.
struct NvmlCounters::Library {
  explicit Library(void* opened) : handle(opened) {}
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (begun) shutdown();
    ::dlclose(handle);
  }

  template <class Function>
  bool find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(::dlsym(handle, name));
    return function != nullptr;
  }
  bool complete() {
    return find(init, "nvmlInit_v2") && find(shutdown, "nvmlShutdown") &&
           find(count, "nvmlDeviceGetCount_v2") && find(gpu_at, "nvmlDeviceGetHandleByIndex_v2") &&
           find(energy_of, "nvmlDeviceGetTotalEnergyConsumption");
  }

  void* handle;
  bool begun = false;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*gpu_at)(unsigned, void**) = nullptr;
  int (*energy_of)(void*, unsigned long long*) = nullptr;  // NOLINT: NVML's type
};

NvmlCounters::NvmlCounters(std::unique_ptr<Library> library) : library_(std::move(library)) {}
NvmlCounters::NvmlCounters(NvmlCounters&&) noexcept = default;
NvmlCounters& NvmlCounters::operator=(NvmlCounters&&) noexcept = default;
NvmlCounters::~NvmlCounters() = default;

Result<NvmlCounters> NvmlCounters::open(const std::string& library) {
  void* const handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return fail(Code::kNotFound, library + ": is not installed");
  auto opened = std::make_unique<Library>(handle);
  if (!opened->complete()) {
    return fail(Code::kUnavailable, library + ": lacks the functions that count energy");
  }
  const auto refused = [&](int number) {
    return fail(Code::kUnavailable, library + ": the driver refuses (" + std::to_string(number) +
                                        "); nvidia-smi says more");
  };
  if (const int number = opened->init(); number != 0) return refused(number);
  opened->begun = true;
  unsigned gpus = 0;
  if (const int number = opened->count(&gpus); number != 0) return refused(number);
  if (gpus == 0) return fail(Code::kNotFound, library + ": there is no GPU");
  NvmlCounters counters(std::move(opened));
  for (unsigned i = 0; i < gpus; ++i) {
    void* gpu = nullptr;
    if (const int number = counters.library_->gpu_at(i, &gpu); number != 0) return refused(number);
    counters.gpus_.push_back(gpu);
  }
  auto first = counters.millijoules();
  if (!first) return pass(first);
  counters.first_ = counters.last_ = *first;
  return counters;
}

Result<std::uint64_t> NvmlCounters::millijoules() const {
  std::uint64_t sum = 0;
  for (void* gpu : gpus_) {
    unsigned long long energy = 0;  // NOLINT: NVML's type
    if (const int number = library_->energy_of(gpu, &energy); number != 0) {
      return fail(Code::kUnavailable,
                  "a GPU does not say its energy (NVML's error " + std::to_string(number) + ")");
    }
    sum += energy;
  }
  return sum;
}

Status NvmlCounters::look() {
  auto now = millijoules();
  if (!now) return pass(now);
  last_ = *now;
  return {};
}

}  // namespace forebay
