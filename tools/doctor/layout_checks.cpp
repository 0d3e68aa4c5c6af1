#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/epoch_order.h"
#include "actors/format/parquet/footer.h"
#include "actors/input/file_system.h"
#include "engine/job/quantity.h"
#include "tools/doctor/checks.h"
#include "tools/inspect/parquet_layout.h"

namespace forebay {
namespace {

// Enough to know a dataset by; each footer was read once before.
constexpr std::size_t kMostFooters = 64;
// What a job may read over the bytes of its columns: page indexes, pages of two grains.
constexpr double kMuchMore = 1.25;

void add_problems(const ParquetLayout& layout, LayoutChecks& checks) {
  const auto problems = problems_of(layout);
  if (problems.empty()) {
    checks.findings.push_back(Finding::ok("layout", describe_groups(layout) + "; suits training"));
  }
  for (const LayoutProblem& problem : problems) {
    checks.findings.push_back(Finding::warn("layout", problem.what, problem.advice));
  }
}

std::vector<std::string> columns_of(const JobSpec& job, const Schema& schema) {
  std::vector<std::string> columns = {job.columns.label};
  columns.insert(columns.end(), schema.dense.begin(), schema.dense.end());
  for (const SparseFeature& feature : schema.sparse) columns.push_back(feature.name);
  if (!job.columns.weight.empty()) columns.push_back(job.columns.weight);
  for (const ExtraColumn& extra : schema.extra) columns.push_back(extra.name);
  return columns;
}

Result<std::unique_ptr<const InputFile>> file_at(const std::string& path,
                                                 const FileSystems& systems) {
  const std::string full_path = systems.full_path(path, "");  // of an address with file://
  return systems.of(full_path)->open(full_path);
}

Result<parquet::Footer> footer_at(const std::string& path, const FileSystems& systems) {
  auto file = file_at(path, systems);
  if (!file) return pass(file);
  return parquet::read_footer(**file);
}

Finding check_bytes(const ParquetLayout& layout, const Dataset& dataset) {
  const auto ratio = static_cast<double>(dataset.bytes()) /
                     static_cast<double>(std::max<std::uint64_t>(layout.wanted_bytes, 1));
  const std::string what = "an epoch reads " + format_size(dataset.bytes()) + " for " +
                           format_size(layout.wanted_bytes) + " of wanted columns (" +
                           printed("%.2f", ratio) + " times)";
  if (ratio <= kMuchMore) return Finding::ok("reads", what);
  return Finding::warn("reads", what, "`forebay convert` writes pages that end at the same rows");
}

Finding check_grains(const Dataset& dataset, const EpochOrder& order) {
  std::uint64_t largest = 0;
  for (std::size_t i = 0; i < dataset.num_blocks(); ++i) {
    largest = std::max(largest, dataset.block(i).decoded);
  }
  const std::string what = format_count(dataset.num_blocks()) + " grains of " +
                           format_count(dataset.rows() / dataset.num_blocks()) + " rows, at most " +
                           format_size(largest) + " decoded; " + format_count(order.strata()) +
                           " strata are mixed at once";
  constexpr std::size_t kFewStrata = 32;
  const bool are_few = order.strata() < kFewStrata && dataset.num_blocks() > order.strata();
  if (!are_few) return Finding::ok("grains", what);
  return Finding::warn("grains", what,
                       "raise order.shuffle_memory, or `forebay convert` to smaller row groups");
}

}  // namespace

bool is_parquet(const std::string& path, const FileSystems& systems) {
  const auto file = file_at(path, systems);
  if (!file) return false;
  std::array<char, 4> bytes{};
  const auto got = (*file)->read_at(0, bytes);
  const std::string_view start(bytes.data(), got ? *got : 0);
  return start == "PAR1" || start == "PARE";
}

LayoutChecks check_parquet_file(const std::string& path, const FileSystems& systems) {
  LayoutChecks checks;
  auto footer = footer_at(path, systems);
  if (!footer) {
    checks.findings.push_back(Finding::bad("file", footer.error()));
    return checks;
  }
  std::vector<std::size_t> all(footer->leaves.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  ParquetLayouts layouts;
  layouts.add(*footer, all);
  const ParquetLayout layout = layouts.sum();
  checks.findings.push_back(Finding::ok("file", format_count(layout.rows) + " rows, " +
                                                    format_count(layout.columns) + " columns, " +
                                                    describe_groups(layout)));
  add_problems(layout, checks);
  checks.json = to_json(layout);
  return checks;
}

LayoutChecks check_parquet_job(const JobSpec& job, const Dataset& dataset,
                               const FileSystems& systems) {
  LayoutChecks checks;
  if (job.dataset.format != "parquet") return checks;
  const std::vector<std::string> columns = columns_of(job, dataset.format().schema());
  const std::size_t files = std::min(dataset.files().size(), kMostFooters);
  ParquetLayouts layouts;
  for (std::size_t i = 0; i < files; ++i) {
    auto footer = footer_at(dataset.files()[i].path, systems);
    if (!footer) {
      checks.findings.push_back(Finding::bad("layout", footer.error()));
      return checks;
    }
    layouts.add(*footer, leaves_named(*footer, columns));
  }
  ParquetLayout layout = layouts.sum();
  layout.unread.clear();  // A job with such a column is refused; others do not matter to it.
  add_problems(layout, checks);
  const EpochOrder order(dataset, job.order);
  checks.findings.push_back(check_grains(dataset, order));
  if (files == dataset.files().size()) {
    checks.findings.push_back(check_bytes(layout, dataset));
  }
  checks.json = to_json(layout);
  checks.json->add("bytes_per_epoch", dataset.bytes())
      .add("grains", dataset.num_blocks())
      .add("strata", order.strata());
  return checks;
}

}  // namespace forebay
