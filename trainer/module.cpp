#include "trainer/module.h"

#include <dlfcn.h>

#include <cerrno>
#include <filesystem>
#include <vector>

#include <stdlib.h>

#include "core/base/open_files.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> places() {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  std::vector<fs::path> found = {program, program / ".." / "lib" / "forebay"};
  // In a build tree, relative to tools/, tests/trainer/ and tests/trainer/torch/.
  for (const char* up : {"..", "../..", "../../.."}) {
    found.push_back(program / up / "trainer" / "torch");
  }
  return found;
}

/// The kernels for OpenBLAS to use: on a CPU newer than itself it selects its slowest.
const char* blas_kernels() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq")) {
    return "SkylakeX";
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
  return nullptr;
}

/// The model's threads wait for each other several times per step. They spin for about 0.1 ms
/// before they sleep: a wake-up takes that long, and longer spinning would take a CPU from the
/// pipeline.
void set_waiting() {
  if (getenv("OMP_WAIT_POLICY") != nullptr) return;
  setenv("OMP_WAIT_POLICY", "passive", 0);
  setenv("GOMP_SPINCOUNT", "3000", 0);
}

/// Whether the dynamic loader's text is that for EMFILE, which does not mean that a library is
/// missing.
bool names_descriptors(const std::string& reason) {
  return reason.find("Error 24") != std::string::npos ||
         reason.find("Too many open files") != std::string::npos;
}

/// Loads a library; null, and why in `reason`, if that fails. Waits for descriptors first: a
/// library that gets none while it is loaded may end the process, as libgcrypt does.
void* open_library(const fs::path& file, std::string& reason) {
  constexpr std::size_t kDescriptors = 8;
  DescriptorWait wait;
  while (free_descriptors() < kDescriptors && wait.again(EMFILE)) continue;
  void* module = nullptr;
  do {
    // Local, so that libtorch's symbols do not collide with others.
    module = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (module == nullptr) reason = dlerror();
  } while (module == nullptr && names_descriptors(reason) && wait.again(EMFILE));
  return module;
}

Result<const TrainerEntry*> load(const fs::path& file) {
  std::string reason;
  void* module = open_library(file, reason);
  if (module == nullptr) {
    if (names_descriptors(reason)) {
      return fail(Code::kUnavailable, "libtorch cannot be loaded: " + system_words(EMFILE));
    }
    return fail(Code::kNotFound, "training needs libtorch, which cannot be loaded (" + reason +
                                     "); install it: apt-get install libtorch1.13 "
                                     "libopenblas0-pthread");
  }
  using Entry = const TrainerEntry* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(module, kTrainerEntrySymbol));
  if (entry == nullptr || entry()->abi != kTrainerAbi) {
    return fail(Code::kInvalid, file.string() +
                                    " belongs to another version of forebay; build "
                                    "or install both together");
  }
  return entry();
}

}  // namespace

void set_library_variables() {
  set_waiting();
  setenv("OPENBLAS_NUM_THREADS", "1", 0);
  if (const char* kernels = blas_kernels()) setenv("OPENBLAS_CORETYPE", kernels, 0);
}

Result<const TrainerEntry*> open_trainer() {
  set_library_variables();
  for (const fs::path& place : places()) {
    std::error_code ignored;
    const fs::path file = place / kTrainerModuleName;
    if (fs::exists(file, ignored)) return load(file);
  }
  return fail(Code::kNotFound,
              std::string("training needs ") + kTrainerModuleName +
                  ", which is neither beside the program nor in ../lib/forebay; the Python package "
                  "has none: use the program forebay that `cmake --install` installs, built with "
                  "libtorch (apt-get install libtorch-dev libopenblas0-pthread)");
}

Result<std::unique_ptr<Model>> make_model(const TrainerSpec& spec, const ModelShape& shape,
                                          Collective* ranks) {
  if (!learns(spec.model)) {
    const bool waits = spec.model == TrainerSpec::ModelKind::kEmulated;
    return std::make_unique<EmulatedModel>(waits ? spec.step : std::chrono::nanoseconds(0));
  }
  auto trainer = open_trainer();
  if (!trainer) return pass(trainer);
  return (*trainer)->make_model(spec, shape, ranks);
}

}  // namespace forebay
