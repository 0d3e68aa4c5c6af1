#include "tools/doctor/store_probe.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <memory>
#include <span>
#include <utility>

#include "actors/input/file_system.h"
#include "actors/input/store/http_file_system.h"
#include "actors/input/store/protocol/store_xml.h"
#include "actors/input/store/s3_target.h"
#include "actors/input/store/store_stat.h"
#include "actors/input/store/transfer/store_client.h"
#include "actors/input/store/transfer/target.h"
#include "core/base/clock.h"

namespace forebay {
namespace {

using Time = std::chrono::nanoseconds;

constexpr const char* kS3 = "s3://";
constexpr std::uint64_t kSmallBytes = 4 << 10;
constexpr std::size_t kOtherRequests = 6;  // a listing, HEAD, a first byte, If-Match, redirects

std::size_t in_flight_of(const ProbeLimits& limits, const StorageSpec& storage) {
  return std::min<std::size_t>(limits.most_in_flight, storage.connections);
}

bool is_object(const std::string& key) {
  return !key.empty() && !key.ends_with('/') && glob_prefix(key) == key;
}

/// Asks one store, one thing after the other.
class StoreProbe {
 public:
  StoreProbe(const std::string& path, const StorageSpec& storage, const ProbeLimits& limits,
             const Environment& environment, const std::function<bool()>& stopped)
      : path_(path),
        storage_(storage),
        limits_(limits),
        environment_(environment),
        stopped_(stopped) {
    StoreClientOptions options;
    options.storage = storage;
    options.storage.give_up_after = std::min(storage.give_up_after, limits.patience);
    options.counts = counts_;
    options.ca_bundle = environment("AWS_CA_BUNDLE").value_or("");
    options.stopped = [this] { return is_over(); };
    client_ = std::make_shared<StoreClient>(std::move(options));
  }

  StoreAnswers run() {
    found_.path = path_;
    found_.connections = storage_.connections;
    if (auto status = ask(); !status && !is_stopped()) found_.refused = status.error();
    found_.requests = counts_->requests();
    found_.bytes = counts_->bytes();
    return std::move(found_);
  }

 private:
  bool is_stopped() const { return stopped_ && stopped_(); }
  bool is_over() const { return is_stopped() || (ends_ && clock_.now() >= *ends_); }

  Status ask() {
    auto object = path_.starts_with(kS3) ? s3_object() : http_target(path_);
    if (!object) return pass(object);
    if (*object == nullptr) return {};
    found_.object = (*object)->path;
    if (found_.endpoint.empty()) found_.endpoint = origin_of(**object);
    if (auto status = ask_once(*object); !status) return status;
    if (found_.object_bytes == 0 || !found_.answers_ranges) return {};
    time_small_requests(*object);
    burst(*object);
    return {};
  }

  static std::string origin_of(const Target& target) {
    return target.url.scheme + "://" + target.url.authority;
  }

  Result<std::shared_ptr<const Target>> s3_object() {
    auto name = s3_name(path_);
    if (!name) return pass(name);
    found_.credentials = storage_.credentials;
    auto access = find_access(storage_, environment_);
    if (!access) return pass(access);
    found_.region = access->region;
    if (access->credentials.anonymous()) found_.credentials = "anonymous";
    const std::string prefix = glob_prefix(name->key);
    auto bucket =
        s3_target(*access, path_, {.bucket = name->bucket, .key = ""}, s3_list_query(prefix, ""));
    if (!bucket) return pass(bucket);
    found_.endpoint = origin_of(**bucket);
    auto page = list(*bucket);
    if (!page) {
      // A key that is known can be read without a listing, by a store that answers.
      const Code code = page.error().code;
      const bool hopeless = code == Code::kTimeout || code == Code::kNotFound;
      if (hopeless || !is_object(name->key)) return pass(page);
      found_.list_refused = page.error();
    } else if (!is_object(name->key)) {
      const auto largest = std::ranges::max_element(page->objects, {}, &ListPage::Object::bytes);
      if (largest == page->objects.end()) return std::shared_ptr<const Target>();
      name->key = largest->key;
    }
    return s3_target(*access, kS3 + name->bucket + '/' + name->key, *name);
  }

  Result<ListPage> list(const std::shared_ptr<const Target>& bucket) {
    found_.was_listed = true;
    const Time begin = clock_.now();
    auto reply = client_->call(bucket, {});
    if (!reply) return pass(reply);
    found_.first_answer = clock_.now() - begin;
    auto page = parse_list_page(reply->body);
    if (!page) return fail(page.error().code, path_ + ": " + page.error().message);
    found_.listed = page->objects.size();
    found_.has_more = page->truncated;
    return page;
  }

  /// What is asked once: the size, one byte, and one byte of another version.
  Status ask_once(const std::shared_ptr<const Target>& object) {
    const Time begin = clock_.now();
    auto version = stat_target(*client_, object);
    if (!version) return pass(version);
    if (found_.first_answer == Time(0)) found_.first_answer = clock_.now() - begin;
    version_ = *version;
    found_.object_bytes = version->bytes;
    found_.has_etag = !version->etag.empty();
    found_.version_doubt = version_doubt(*version);
    if (version->bytes == 0) return {};
    auto first = client_->call(
        object, {.method = "GET", .headers = {{"range", "bytes=0-0"}}, .needs_head_only = true});
    if (!first) return pass(first);
    found_.answers_ranges = first->head.status == 206;
    if (const auto date = parse_http_date(first->head.date)) {
      found_.clock_ahead = *date - static_cast<std::int64_t>(std::time(nullptr));
    }
    const auto other =
        client_->call(object, {.method = "GET",
                               .headers = {{"range", "bytes=0-0"}, {"if-match", "\"forebay\""}},
                               .needs_head_only = true});
    found_.honours_if_match = !other && other.error().code == Code::kCorrupt;
    return {};
  }

  void time_small_requests(const std::shared_ptr<const Target>& object) {
    const Time all = clock_.now();
    ends_ = all + limits_.most_time;
    for (std::size_t i = 0; i < limits_.small_requests && !is_over(); ++i) {
      const std::uint64_t at = version_.bytes / limits_.small_requests * i;
      const std::uint64_t end = std::min(version_.bytes, at + kSmallBytes);
      const std::string range = "bytes=" + std::to_string(at) + '-' + std::to_string(end - 1);
      const Time begin = clock_.now();
      if (!client_->call(object, {.method = "GET", .headers = {{"range", range}}})) break;
      found_.first_bytes.push_back(clock_.now() - begin);
    }
    std::ranges::sort(found_.first_bytes);
    ends_.reset();
  }

  /// Reads parts, over and over where the object is small, with as many requests as a run has. The
  /// time and the bytes count from the first part's arrival on.
  void burst(const std::shared_ptr<const Target>& object) {
    found_.in_flight = in_flight_of(limits_, storage_);
    const std::uint64_t part = std::min(limits_.part_bytes, version_.bytes);
    const std::uint64_t places = version_.bytes / part;
    std::vector<std::vector<char>> buffers(found_.in_flight, std::vector<char>(part));
    std::vector<std::unique_ptr<PendingRead>> reads(found_.in_flight);
    const std::size_t parts = found_.in_flight * limits_.rounds;
    std::uint64_t before = counts_->bytes();
    Time begin = clock_.now();
    ends_ = begin + limits_.most_time;
    for (std::size_t i = 0; i < parts + found_.in_flight && !is_over(); ++i) {
      auto& read = reads[i % found_.in_flight];
      if (read && !read->wait()) break;
      if (i == found_.in_flight) {  // Connecting is not part of it.
        before = counts_->bytes();
        begin = clock_.now();
      }
      read.reset();
      if (i >= parts) continue;
      // Reads that somebody waits for are not joined with their neighbours.
      read = client_->read(object, version_, {{i % places * part, buffers[i % found_.in_flight]}},
                           StoreClient::Haste::kWaitedFor);
    }
    found_.burst_time = clock_.now() - begin;
    found_.burst_bytes = counts_->bytes() - before;
    ends_.reset();
  }

  const std::string path_;
  const StorageSpec storage_;
  const ProbeLimits limits_;
  const Environment& environment_;
  const std::function<bool()>& stopped_;
  const std::shared_ptr<IoCounts> counts_ = std::make_shared<IoCounts>();
  const SystemClock clock_;
  std::optional<Time> ends_;  // of the measurement under way
  std::shared_ptr<StoreClient> client_;
  StoredVersion version_;
  StoreAnswers found_;
};

}  // namespace

std::size_t ProbeLimits::requests(const StorageSpec& storage) const {
  return kOtherRequests + small_requests + in_flight_of(*this, storage) * rounds;
}

std::uint64_t ProbeLimits::bytes(const StorageSpec& storage) const {
  return small_requests * kSmallBytes + in_flight_of(*this, storage) * rounds * part_bytes;
}

Time StoreAnswers::first_byte(double share) const {
  if (first_bytes.empty()) return Time(0);
  const auto rank =
      static_cast<std::size_t>(std::ceil(share * static_cast<double>(first_bytes.size())));
  return first_bytes[std::clamp<std::size_t>(rank, 1, first_bytes.size()) - 1];
}

double StoreAnswers::bytes_per_second() const {
  if (burst_time <= Time(0)) return 0;
  return static_cast<double>(burst_bytes) / std::chrono::duration<double>(burst_time).count();
}

StoreAnswers probe_store(const std::string& path, const StorageSpec& storage,
                         const Environment& environment, const ProbeLimits& limits,
                         const std::function<bool()>& stopped) {
  return StoreProbe(path, storage, limits, environment, stopped).run();
}

std::optional<std::int64_t> parse_http_date(const std::string& text) {
  std::tm parts{};
  const char* const end = ::strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return static_cast<std::int64_t>(::timegm(&parts));
}

}  // namespace forebay
