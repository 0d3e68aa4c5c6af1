#include <array>
#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/text/json_text.h"
#include "core/base/text/printable.h"
#include "core/base/whole_file.h"
#include "engine/dashboard/page.h"
#include "engine/history/run_recorder.h"
#include "engine/job/quantity.h"
#include "engine/report/json_object.h"
#include "tools/command/arguments.h"
#include "tools/command/commands.h"
#include "tools/process/process_end.h"

namespace forebay {
namespace {

constexpr std::size_t kMostRuns = 2;

/// Says which run a record is of: its command and job, when it began, and how it ended.
std::string describe_run(const std::string& record) {
  const auto json = parse_json(record);
  const auto text_of = [&](const char* key) { return text_at(json, key); };
  constexpr double kLatest = 253402300799;  // the end of the year 9999
  const double seconds =
      json.contains("began") && json["began"].is_number() ? json["began"].get<double>() : 0;
  const auto began = static_cast<std::time_t>(seconds > 0 && seconds <= kLatest ? seconds : 0);
  std::tm parts{};
  std::array<char, 32> when{};
  ::gmtime_r(&began, &parts);
  std::strftime(when.data(), when.size(), "%Y-%m-%d %H:%M:%S", &parts);
  const std::string how = text_of("how");
  return printable_message("forebay " + text_of("command") + " " + text_of("job") + ", began " +
                           when.data() + " UTC, " +
                           (how.empty() ? "still running or killed" : how));
}

bool is_page(std::string_view head) { return head.starts_with("<!doctype html>"); }

Result<std::vector<std::string>> records_of(const std::vector<std::string>& folders) {
  std::vector<std::string> records;
  for (const std::string& folder : folders) {
    auto record = read_record(run_folder_in(folder));
    if (!record) return pass(record);
    records.push_back(std::move(*record));
  }
  return records;
}

}  // namespace

Exit run_report(const Invocation& invocation) {
  const auto& folders = invocation.arguments;
  if (folders.empty() || folders.size() > kMostRuns) {
    return Exit::refused("report: name the folder of one run, or of two to compare");
  }
  const std::string out = invocation.value("--out", "run.html");
  if (auto status = check_out_file(out, "a report", is_page); !status)
    return Exit::refused(status.error());
  auto records = records_of(folders);
  if (!records) return Exit::refused(records.error());
  const std::string page = report_html(*records);
  if (auto status = replace_whole(out, page, Sync::kNo); !status) {
    return Exit::failed({status.error().code, "--out " + status.error().message});
  }
  std::vector<std::string> runs;
  for (const std::string& record : *records) runs.push_back(describe_run(record));
  const auto json = JsonObject().add("output", out).add("bytes", page.size()).add("runs", runs);
  return print_result(invocation, json, [&] {
    for (const std::string& run : runs) std::printf("run: %s\n", run.c_str());
    std::printf("%s: %s; any browser opens it\n", out.c_str(), format_size(page.size()).c_str());
  });
}

}  // namespace forebay
