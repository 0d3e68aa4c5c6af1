#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/job/job_file.h"
#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay::test {

/// The text of so many rows of Criteo.
inline std::string criteo_rows(int count) {
  std::string rows;
  for (int row = 0; row < count; ++row) {
    rows += "0";
    for (int column = 0; column < 39; ++column) rows += '\t' + std::to_string(row % 97);
    rows += '\n';
  }
  return rows;
}

/// 300 rows of Criteo in a job with batches of 100, which goes on without end.
class SmallJob {
 public:
  explicit SmallJob(const std::vector<std::string>& sets = {}) {
    dir_.write("day_0.tsv", criteo_rows(300));
    const std::string path =
        dir_.write("job.toml",
                   "[dataset]\npaths = [\"*.tsv\"]\n[order]\nbatch_size = 100\nepochs = 1000000\n");
    auto loaded = load_job(path, sets, {.cpus = 2, .memory_bytes = std::uint64_t{256} << 20});
    REQUIRE(loaded);
    spec = std::move(*loaded);
    spec.run.owns_process = false;
  }

 private:
  TempDir dir_;

 public:
  JobSpec spec;
};

}  // namespace forebay::test
