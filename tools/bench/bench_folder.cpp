#include "tools/bench/bench_folder.h"

#include <cstdlib>
#include <filesystem>

namespace forebay {

Result<BenchFolder> BenchFolder::make() {
  std::error_code error;
  std::string pattern =
      (std::filesystem::temp_directory_path(error) / "forebay-bench-XXXXXX").string();
  if (error || ::mkdtemp(pattern.data()) == nullptr) {
    return fail(Code::kUnavailable, pattern + ": cannot make a folder for the data; set TMPDIR");
  }
  return BenchFolder(std::move(pattern));
}

BenchFolder::~BenchFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace forebay
