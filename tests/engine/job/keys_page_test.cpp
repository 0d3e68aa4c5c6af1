#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "engine/job/job_file.h"
#include "engine/job/job_keys.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

/// Returns the cells of a table's line, without the blanks around them.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream text(line.substr(1));
  for (std::string cell; std::getline(text, cell, '|');) {
    const std::size_t first = cell.find_first_not_of(' ');
    const std::size_t last = cell.find_last_not_of(' ');
    cells.push_back(first == cell.npos ? "" : cell.substr(first, last - first + 1));
  }
  return cells;
}

/// Returns the text between a pair of backquotes that encloses the whole cell, else "".
std::string quoted(const std::string& cell) {
  const bool whole = cell.size() > 2 && cell.front() == '`' && cell.find('`', 1) == cell.size() - 1;
  return whole ? cell.substr(1, cell.size() - 2) : "";
}

/// Returns the keys of docs/keys.md with their defaults in TOML; "" where a default is in words.
std::map<std::string, std::string> keys_of_page() {
  std::ifstream page(FOREBAY_KEYS_PAGE);
  std::map<std::string, std::string> keys;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| `")) continue;
    const auto cells = cells_of(line);
    INFO(line);
    REQUIRE(cells.size() == 4);
    REQUIRE(!cells[3].empty());
    CHECK(keys.emplace(quoted(cells[0]), quoted(cells[2])).second);
  }
  return keys;
}

}  // namespace

TEST_CASE("docs/keys.md names every key of a job file, and no other", "[job][pages]") {
  std::set<std::string> on_page;
  for (const auto& [key, value] : keys_of_page()) on_page.insert(key);
  // job_key_names() leaves out the keys of stages and operators, which depend on the job.
  std::set<std::string> known{std::string(kAllocationKey) + "NAME", "transform.op",
                              "transform.columns", "transform.stage"};
  for (const std::string& key : job_key_names()) known.insert(key);
  CHECK(on_page == known);
}

TEST_CASE("a job file with every default of docs/keys.md is accepted", "[job][pages]") {
  std::string text = "dataset.paths = [\"a.tsv\"]\n";
  for (const auto& [key, value] : keys_of_page()) {
    if (value.empty()) continue;
    const bool of_stage = key.starts_with(kAllocationKey);
    text += (of_stage ? std::string(kAllocationKey) + "load" : key) + " = " + value + "\n";
  }
  INFO(text);
  const auto job = parse_job(text, "job.toml", {}, {.cpus = 3, .memory_bytes = 1 << 30});
  INFO((job ? "" : job.error().message));
  REQUIRE(job);
}

}  // namespace forebay
