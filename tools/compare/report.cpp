#include "tools/compare/report.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include "tools/compare/compare_csv.h"
#include "tools/compare/compare_tables.h"
#include "tools/compare/plot_script.h"
#include "tools/compare/report_pages.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostPlots = 16;  // pipelines; each takes some seconds and up to a megabyte
constexpr const char* kFiles[] = {"runs.csv", "trace.csv", "report.md", "index.html", "plots"};

Status cannot_write(const fs::path& path) {
  return fail(Code::kUnavailable, path.string() + " cannot be written: " + std::strerror(errno));
}

Status write_text(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  return file ? Status() : cannot_write(path);
}

bool is_report(const fs::path& folder) {
  std::ifstream file(folder / "report.md");
  std::string first;
  return std::getline(file, first) && first == kReportMark;
}

/// Returns the pipelines to plot: all if there are few, else those on which intune is most behind,
/// then the first ones.
std::vector<std::string> plotted(const ReportContent& content) {
  std::set<std::string> run;
  for (const auto& each : content.result.runs) run.insert(each.pipeline);
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (run.contains(name) && std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  if (run.size() > kMostPlots) {
    for (const tuner::Gap& gap : content.result.gaps) add(gap.pipeline);
  }
  for (const auto& model : content.pipelines) add(model.name);
  names.resize(std::min(names.size(), kMostPlots));
  return names;
}

void remove_old_plots(const fs::path& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder / "plots", ignored)) {
    if (entry.path().extension() == ".svg") fs::remove(entry.path(), ignored);
  }
}

}  // namespace

std::vector<std::string> report_files(const std::string& folder) {
  std::vector<std::string> files;
  for (const char* name : {"runs.csv", "trace.csv", "report.md", "index.html"}) {
    files.push_back((fs::path(folder) / name).string());
  }
  return files;
}

Status prepare_report(const std::string& folder) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem) return fail(Code::kInvalid, "--report " + folder + ": " + problem.message());
  if (!is_report(folder)) {
    for (const char* name : kFiles) {
      if (!fs::exists(fs::path(folder) / name, problem)) continue;
      return fail(Code::kInvalid, "--report " + folder + ": holds a " + name +
                                      " that is not of a report of forebay; name another folder");
    }
  }
  // The mark, written first, identifies the folder as a report's and shows that it is writable.
  if (auto written = write_text(fs::path(folder) / "report.md", std::string(kReportMark) + "\n");
      !written) {
    return fail(Code::kInvalid, "--report " + folder + ": " + written.error().message);
  }
  return {};
}

Result<ReportNotes> write_report(const std::string& folder, const ReportContent& content,
                                 const std::atomic<bool>& stop) {
  const fs::path place = folder;
  const ComparisonResult& result = content.result;
  if (auto written = write_text(place / "runs.csv", runs_csv(result)); !written) {
    return pass(written);
  }
  if (auto written = write_text(place / "trace.csv", trace_csv(result, content.pipelines));
      !written) {
    return pass(written);
  }
  remove_old_plots(place);
  ReportPages pages{.title = content.title,
                    .tables = {summary_table(result), recovery_table(result), gap_table(result),
                               pipeline_table(result)}};
  const std::vector<std::string> pipelines = plotted(content);
  if (auto plots = draw_plots(folder, pipelines, stop); plots) {
    pages.plots = plots_of(*plots, pipelines);
    if (pipelines.size() < content.pipelines.size()) {
      pages.notes.push_back("plots are of " + std::to_string(pipelines.size()) + " of " +
                            std::to_string(content.pipelines.size()) + " pipelines");
    }
  } else {
    pages.notes.push_back(plots.error().message);
  }
  if (auto written = write_text(place / "report.md", markdown_of(pages)); !written) {
    return pass(written);
  }
  if (auto written = write_text(place / "index.html", html_of(pages)); !written) {
    return pass(written);
  }
  return pages.notes;
}

}  // namespace forebay
