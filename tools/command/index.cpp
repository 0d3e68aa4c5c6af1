#include <cstdio>
#include <memory>

#include "actors/source/dataset.h"
#include "core/base/clock.h"
#include "core/base/text/counted.h"
#include "core/base/text/printable.h"
#include "engine/job/quantity.h"
#include "engine/outputs/job_files.h"
#include "engine/process/run_dir.h"
#include "engine/report/json_object.h"
#include "tools/command/commands.h"
#include "tools/process/process_end.h"
#include "tools/process/standard_streams.h"
#include "tools/terminal/terminal_events.h"

namespace forebay {
namespace {

void print_files(const Dataset& dataset) {
  for (const DatasetFile& file : dataset.files()) {
    std::printf("%s: %s rows, %s\n", printable_message(file.path).c_str(),
                format_count(file.rows).c_str(), format_size(file.bytes).c_str());
  }
  std::printf("%s, %s in %s, %s, fingerprint %s\n",
              format_counted(dataset.files().size(), "file").c_str(),
              format_counted(dataset.rows(), "row").c_str(),
              format_counted(dataset.num_blocks(), "block").c_str(),
              format_size(dataset.bytes()).c_str(), dataset.fingerprint().hex().c_str());
}

}  // namespace

Exit run_index(const Invocation& invocation) {
  auto job = open_job(invocation);
  if (!job) return Exit::refused(job.error());
  const auto guarded = guard_inputs(inputs_of(*job), outputs_of(*job, "index"), print_message);
  if (!guarded) return Exit::refused(guarded.error());
  auto held = RunDir::hold(job->run.dir);
  if (!held) return Exit::refused(held.error());
  const DatasetOptions options = dataset_options(*job, terminal_events().hooks());
  auto dataset = open_dataset(job->dataset, job->columns, options);
  if (StopRequest::requested()) return Exit::stopped(StopRequest::signal());
  if (!dataset) {
    const bool damaged = dataset.error().code == Code::kCorrupt;
    return damaged ? Exit::failed(dataset.error()) : Exit::unprepared(dataset.error());
  }
  const Dataset& found = **dataset;
  return print_result(invocation,
                      JsonObject()
                          .add("fingerprint", found.fingerprint().hex())
                          .add("files", found.files().size())
                          .add("blocks", found.num_blocks())
                          .add("rows", found.rows())
                          .add("bytes", found.bytes())
                          .add("requests", options.file_systems.counts()->requests())
                          .add("bytes_read", options.file_systems.counts()->bytes()),
                      [&] { print_files(found); });
}

}  // namespace forebay
