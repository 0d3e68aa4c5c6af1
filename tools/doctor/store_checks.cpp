#include "tools/doctor/store_checks.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <set>
#include <utility>

#include "core/base/text/counted.h"
#include "engine/job/quantity.h"

namespace forebay {
namespace {

// What a CPU decodes at most: two make 1.1 GB/s of Parquet's plain columns (forebay bench parquet).
constexpr double kBytesPerCpu = 500e6;
constexpr double kMega = 1e6;
constexpr std::uint64_t kMostConnections = 1024;  // as storage.connections
constexpr std::int64_t kSkewRefused = 900;        // seconds, by S3
constexpr std::int64_t kSkewWarned = 60;
constexpr double kMedian = 0.5;
constexpr double kAlmostAll = 0.99;

double seconds_of(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

std::string rate_text(double bytes_per_second) {
  return printed("%.0f MB/s", bytes_per_second / kMega);
}

std::string time_text(std::chrono::nanoseconds time) {
  return printed(time < std::chrono::milliseconds(10) ? "%.1f ms" : "%.0f ms",
                 seconds_of(time) * 1e3);
}

/// The requests in flight that bring so much a second, if the time to the first byte were all.
std::uint64_t connections_for(const StoreAnswers& answers, double bytes_per_second) {
  const double parts = bytes_per_second / static_cast<double>(ProbeLimits{}.part_bytes);
  return static_cast<std::uint64_t>(
      std::max(1.0, std::ceil(parts * seconds_of(answers.first_byte(kMedian)))));
}

Finding judge_reach(const StoreAnswers& answers) {
  if (answers.refused) return Finding::bad("store", *answers.refused);
  std::string what = answers.path + " at " + answers.endpoint;
  if (!answers.region.empty()) {
    what += ", region " + answers.region + ", credentials: " + answers.credentials;
  }
  return Finding::ok("store", what);
}

Finding judge_listing(const StoreAnswers& answers) {
  if (answers.list_refused) {
    return Finding::warn("list", answers.list_refused->message,
                         "a glob needs the right to list; name each file without it");
  }
  return Finding::ok("list", (answers.has_more ? "over " : "") +
                                 format_counted(answers.listed, "object begins", "objects begin") +
                                 " as the path does");
}

Finding judge_ranges(const StoreAnswers& answers) {
  const std::string size = answers.object + ", " + format_size(answers.object_bytes);
  if (!answers.answers_ranges) {
    return {"ranges", Finding::Verdict::kBad,
            size + ": the server sends the whole file for a range",
            "move the files to a server that answers byte ranges"};
  }
  if (!answers.version_doubt.empty()) {
    return Finding::warn("ranges", size + ": answers ranges, but " + answers.version_doubt,
                         "replace no file during a run");
  }
  if (answers.honours_if_match) {
    return Finding::ok("ranges", size + ": answers ranges, and refuses one of another version");
  }
  return Finding::ok("ranges",
                     size + ": answers ranges; ignores If-Match, so ETags are compared here");
}

Finding judge_clock(std::int64_t ahead) {
  const std::int64_t apart = std::abs(ahead);
  const std::string what = apart <= 1 ? "the store's is the same"
                                      : "the store's is " +
                                            format_count(static_cast<std::uint64_t>(apart)) +
                                            " s " + (ahead > 0 ? "ahead" : "behind");
  if (apart < kSkewWarned) return Finding::ok("clock", what);
  return Finding::warn("clock", what,
                       "set this machine's clock; S3 refuses requests from " +
                           std::to_string(kSkewRefused / 60) + " min apart on");
}

Finding judge_latency(const StoreAnswers& answers) {
  constexpr std::chrono::milliseconds kFar(500);
  const std::string what = "after " + time_text(answers.first_byte(kMedian)) + " (median), " +
                           time_text(answers.first_byte(kAlmostAll)) + " (p99) of " +
                           format_count(answers.first_bytes.size()) +
                           " requests; a new connection answered after " +
                           time_text(answers.first_answer);
  if (answers.first_byte(kMedian) < kFar) return Finding::ok("first byte", what);
  return Finding::warn("first byte", what, "train nearer to the store, or use one in this region");
}

/// An object of less than a request's worth says nothing of the network.
Finding judge_small_object(const StoreAnswers& answers) {
  const std::string what =
      "not measured, since " + answers.object + " has only " + format_size(answers.object_bytes);
  if (answers.object == answers.path) return Finding::ok("speed", what);
  return Finding::warn("speed", what,
                       "many small files are slow and cost a request each: join them, as `forebay "
                       "convert` does");
}

/// What the measured speed means for a pipeline on `cpus` CPUs.
Finding judge_rate(const StoreAnswers& answers, int cpus) {
  if (answers.object_bytes < ProbeLimits{}.part_bytes) return judge_small_object(answers);
  const double wanted = kBytesPerCpu * cpus;
  const double rate = answers.bytes_per_second();
  const std::uint64_t needed = connections_for(answers, wanted);
  const std::string what =
      rate_text(rate) + " with " + format_count(answers.in_flight) + " requests in flight (" +
      format_size(answers.burst_bytes) + "); " +
      format_counted(static_cast<std::uint64_t>(cpus), "CPU decodes", "CPUs decode") + " up to " +
      rate_text(wanted) + ", for which " + format_count(needed) +
      " requests of 1 MiB are needed in flight";
  constexpr double kNear = 0.8;
  if (rate >= kNear * wanted) return Finding::ok("speed", what);
  const double by_latency = static_cast<double>(answers.in_flight * ProbeLimits{}.part_bytes) /
                            std::max(1e-9, seconds_of(answers.first_byte(kMedian)));
  if (needed > answers.connections && rate > by_latency / 2) {
    return Finding::warn(
        "speed", what,
        "set storage.connections = " + std::to_string(std::min(needed, kMostConnections)) +
            " where the trainer takes so much (512 KiB of memory each)");
  }
  if (rate >= wanted / 4) {
    return Finding::ok("speed", what + "; the network or the store bounds it");
  }
  return Finding::warn("speed", what,
                       "the network or the store bounds it, not storage.connections: read fewer "
                       "bytes (Parquet with zstd, only the job's columns), or let workers on other "
                       "machines read too");
}

/// Returns the part of a path that one probe speaks for: a bucket, or a web server.
std::string store_of(const std::string& path) {
  return path.substr(0, path.find('/', path.find("://") + 3));
}

}  // namespace

bool is_in_store(const std::string& path) {
  return path.starts_with("s3://") || path.starts_with("http://") || path.starts_with("https://");
}

std::vector<Finding> judge_store(const StoreAnswers& answers, int cpus) {
  std::vector<Finding> findings = {judge_reach(answers)};
  if (answers.refused) return findings;
  if (answers.was_listed) findings.push_back(judge_listing(answers));
  if (answers.object.empty() || answers.object_bytes == 0) {
    const bool none = answers.object.empty();
    findings.push_back(Finding::warn(
        "object",
        none ? "no object begins as " + answers.path + " does" : answers.object + " is empty",
        "check the path; nothing else could be asked"));
    return findings;
  }
  findings.push_back(judge_ranges(answers));
  if (answers.clock_ahead) findings.push_back(judge_clock(*answers.clock_ahead));
  if (!answers.first_bytes.empty()) findings.push_back(judge_latency(answers));
  if (answers.burst_bytes > 0 && !answers.first_bytes.empty()) {
    findings.push_back(judge_rate(answers, cpus));
  }
  return findings;
}

JsonObject to_json(const StoreAnswers& answers) {
  const auto milliseconds = [](std::chrono::nanoseconds time) { return seconds_of(time) * 1e3; };
  JsonObject json;
  json.add("path", answers.path).add("endpoint", answers.endpoint);
  if (!answers.region.empty()) {
    json.add("region", answers.region).add("credentials", answers.credentials);
  }
  if (answers.was_listed) {
    json.add("may_list", !answers.refused && !answers.list_refused)
        .add("listed", answers.listed)
        .add("listing_goes_on", answers.has_more);
  }
  json.add("requests", answers.requests).add("bytes_read", answers.bytes);
  if (answers.refused || answers.object.empty()) return json;
  json.add("object", answers.object)
      .add("object_bytes", answers.object_bytes)
      .add("ranges", answers.answers_ranges)
      .add("etag", answers.has_etag)
      .add("if_match", answers.honours_if_match)
      .add("clock_ahead_seconds", answers.clock_ahead)
      .add("first_answer_ms", milliseconds(answers.first_answer));
  if (answers.first_bytes.empty()) return json;
  json.add("first_byte_ms", milliseconds(answers.first_byte(kMedian)))
      .add("first_byte_p99_ms", milliseconds(answers.first_byte(kAlmostAll)));
  if (answers.burst_bytes == 0) return json;
  return json.add("in_flight", answers.in_flight)
      .add("bytes_per_second", answers.bytes_per_second());
}

void StoreChecks::add(const StoreAnswers& answers, int cpus) {
  std::ranges::move(judge_store(answers, cpus), std::back_inserter(findings));
  json.push_back(to_json(answers));
  if (!answers.refused) object = answers.object;
  if (answers.first_bytes.empty()) return;
  json.back().add("connections_needed", connections_for(answers, kBytesPerCpu * cpus));
}

StoreChecks check_store(const std::string& path, const StorageSpec& storage, int cpus,
                        const JobRun::Hooks& hooks) {
  const ProbeLimits limits;
  if (hooks.announce) {
    hooks.announce("asking " + store_of(path) + ": about " +
                   format_count(limits.requests(storage)) + " requests, for " +
                   format_size(limits.bytes(storage)) + " at most");
  }
  StoreChecks checks;
  checks.add(probe_store(path, storage, process_environment(), limits, hooks.stopped), cpus);
  return checks;
}

StoreChecks check_stores(const JobSpec& job, const JobRun::Hooks& hooks) {
  constexpr std::size_t kMostStores = 4;
  std::vector<std::string> paths = job.dataset.paths;
  paths.insert(paths.end(), job.trainer.evaluate.begin(), job.trainer.evaluate.end());
  std::set<std::string> asked;
  StoreChecks all;
  for (const std::string& path : paths) {
    if (!is_in_store(path) || asked.size() == kMostStores) continue;
    if (!asked.insert(store_of(path)).second) continue;
    StoreChecks one = check_store(path, job.storage, job.pipeline.cpus, hooks);
    std::ranges::move(one.findings, std::back_inserter(all.findings));
    std::ranges::move(one.json, std::back_inserter(all.json));
  }
  return all;
}

}  // namespace forebay
