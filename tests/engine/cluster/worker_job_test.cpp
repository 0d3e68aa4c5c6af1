#include "engine/cluster/worker_job.h"

#include <filesystem>

#include "engine/job/job_file.h"
#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

std::string rows(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += "1\t" + std::to_string(i);
    for (int column = 2; column <= 39; ++column) text += "\t7";
    text += '\n';
  }
  return text;
}

/// A trainer's folder with a job, and the description that it sends to a worker.
class Shared {
 public:
  Shared() {
    dir_.write("data/day_0.tsv", rows(50));
    dir_.write("data/day_1.tsv", rows(70));
    dir_.write("job.toml", "[dataset]\npaths = [\"data/*.tsv\"]\n[order]\nseed = 3\n");
    auto loaded = load_job(dir_.path("job.toml"), {"order.batch_size=10"}, {1, 1 << 28});
    REQUIRE(loaded);
    job_ = std::move(*loaded);
    auto opened = JobRun::open(job_, JobRun::Rows::kTraining, {});
    REQUIRE(opened);
    auto made = job_text_of(job_, **opened);
    REQUIRE(made);
    text = std::move(*made);
  }

  WorkerSetup place() const { return {.name = "w1", .cpus = 2, .memory_bytes = 1 << 28}; }
  std::string path(const std::string& name) const { return dir_.path(name); }
  void write(const std::string& name, const std::string& content) { dir_.write(name, content); }

  JobText text;

 private:
  test::TempDir dir_;
  JobSpec job_;
};

TEST_CASE("a job's description comes back from its bytes the same", "[tools][cluster]") {
  const Shared shared;
  const auto back = decode_job_text(encode_job_text(shared.text));
  REQUIRE(back);
  CHECK(back->sets == std::vector<std::string>{"order.batch_size=10"});
  CHECK(back->files == shared.text.files);
  CHECK(fingerprint_of(*back) == fingerprint_of(shared.text));
  CHECK_FALSE(decode_job_text("nonsense"));
}

TEST_CASE("a worker opens the trainer's job, overrides included, and agrees with it",
          "[tools][cluster]") {
  const Shared shared;
  auto job = WorkerJob::open(shared.text, shared.place());
  REQUIRE(job);
  CHECK((*job)->fingerprint() == fingerprint_of(shared.text));
  CHECK((*job)->job().order.batch_size == 10);
  CHECK((*job)->run().dataset().rows() == 120);
  CHECK((*job)->job().pipeline.cpus == 2);
  // The trainer's index was used: the worker made none of its own.
  CHECK_FALSE(fs::exists(shared.path(".forebay/workers/w1/index")));
  REQUIRE(fs::exists(shared.path(".forebay/workers/w1")));
  (*job).reset();
  CHECK_FALSE(fs::exists(shared.path(".forebay/workers/w1")));
}

TEST_CASE("a worker's own index and a folder that the user named stay when it ends",
          "[tools][cluster]") {
  const Shared shared;
  WorkerSetup place = shared.place();
  SECTION("an index, where the trainer's cannot be read") {
    fs::remove_all(shared.path(".forebay/index"));
    REQUIRE(WorkerJob::open(shared.text, place));
    CHECK_FALSE(fs::is_empty(shared.path(".forebay/workers/w1/index")));
  }
  SECTION("a folder of the user's") {
    place.dir = shared.path("mine");
    REQUIRE(WorkerJob::open(shared.text, place));
    CHECK(fs::exists(place.dir));
  }
}

TEST_CASE("a worker whose folder would replace the job's data is refused", "[tools][cluster]") {
  const Shared shared;
  fs::create_directories(shared.path(".forebay/workers/w1"));
  fs::create_hard_link(shared.path("data/day_0.tsv"),
                       shared.path(".forebay/workers/w1/quarantine.tsv"));
  const auto refused = WorkerJob::open(shared.text, shared.place());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kInvalid);
  CHECK(refused.error().message.find("quarantine.tsv is the same file as") != std::string::npos);
  CHECK(fs::file_size(shared.path("data/day_0.tsv")) > 0);
}

TEST_CASE("the error of a worker whose data differs names the file", "[tools][cluster]") {
  Shared shared;
  SECTION("other content") {
    std::string other = rows(70);
    other.front() = '0';
    shared.write("data/day_1.tsv", other);
    const auto job = WorkerJob::open(shared.text, shared.place());
    REQUIRE_FALSE(job);
    CHECK(job.error().message.find("day_1.tsv has other content") != std::string::npos);
  }
  SECTION("another size") {
    shared.write("data/day_0.tsv", rows(51));
    const auto job = WorkerJob::open(shared.text, shared.place());
    REQUIRE_FALSE(job);
    CHECK(job.error().message.find("day_0.tsv has ") != std::string::npos);
  }
  SECTION("a missing file") {
    fs::remove(shared.path("data/day_1.tsv"));
    const auto job = WorkerJob::open(shared.text, shared.place());
    REQUIRE_FALSE(job);
    CHECK(job.error().message.find("day_1.tsv is missing") != std::string::npos);
  }
}

TEST_CASE("a worker finds the data below another root", "[tools][cluster]") {
  const Shared shared;
  const test::TempDir elsewhere;
  fs::copy(shared.path("data"), elsewhere.path("data"), fs::copy_options::recursive);
  WorkerSetup place = shared.place();
  place.dir = elsewhere.path("worker");
  place.data_roots = {{fs::path(shared.path("job.toml")).parent_path().string(), elsewhere.path()}};
  auto job = WorkerJob::open(shared.text, place);
  REQUIRE(job);
  CHECK((*job)->fingerprint() == fingerprint_of(shared.text));

  SECTION("also when the root is a folder inside the job's own") {
    place.data_roots = {{shared.path("data"), elsewhere.path("data/")}};
    fs::remove(shared.path("data/day_1.tsv"));
    REQUIRE(WorkerJob::open(shared.text, place));
  }

  place.dir.clear();
  place.data_roots = {{fs::path(shared.path("job.toml")).parent_path().string(), elsewhere.path()}};
  const auto nowhere = WorkerJob::open(shared.text, place);
  REQUIRE_FALSE(nowhere);
  CHECK(nowhere.error().message.find("--dir") != std::string::npos);
}

TEST_CASE("a data root's own name is no glob, and the job's globs stay globs", "[tools][cluster]") {
  const Shared shared;
  const test::TempDir elsewhere;
  const std::string here = elsewhere.path("day [1] *?");
  fs::create_directories(here);
  fs::copy(shared.path("data"), here + "/data", fs::copy_options::recursive);
  WorkerSetup place = shared.place();
  place.dir = elsewhere.path("worker");
  place.data_roots = {{fs::path(shared.path("job.toml")).parent_path().string(), here}};
  const auto job = WorkerJob::open(shared.text, place);
  INFO((job ? "" : job.error().message));
  REQUIRE(job);
  CHECK((*job)->fingerprint() == fingerprint_of(shared.text));
}

TEST_CASE("a worker that finds no file says how to name another root", "[tools][cluster]") {
  const Shared shared;
  fs::rename(shared.path("data"), shared.path("moved"));
  WorkerSetup place = shared.place();
  place.dir = shared.path("worker");
  // The glob's own folder ends before its *, so this root is not what the path begins with.
  place.data_roots = {{shared.path("data/day_0.tsv"), shared.path("moved/day_0.tsv")}};
  const auto job = WorkerJob::open(shared.text, place);
  REQUIRE_FALSE(job);
  CHECK(job.error().code == Code::kNotFound);
  CHECK(job.error().message.find("matches no file") != std::string::npos);
  CHECK(job.error().message.find("give --data-root FROM=TO") != std::string::npos);
}

TEST_CASE("a data root is replaced at the border of a name only", "[tools][cluster]") {
  CHECK(mapped("/a/b/c", {{"/a/b", "/x"}}) == "/x/c");
  CHECK(mapped("/a/bc", {{"/a/b", "/x"}}) == "/a/bc");
  CHECK(mapped("/a/b", {{"/a/b", "/x"}}) == "/x");
  CHECK(mapped("s3://a/b/c", {{"s3://a/b/", "/x"}}) == "/x/c");
  CHECK(mapped("/a/b/c", {{"/a", "s3://x"}}) == "s3://x/b/c");
}

TEST_CASE("a slash at the end of a data root changes nothing", "[tools][cluster]") {
  CHECK(mapped("/a/b/c", {{"/a/b/", "/x"}}) == "/x/c");
  CHECK(mapped("/a/b/c", {{"/a/b", "/x/"}}) == "/x/c");
  CHECK(mapped("/a/b/c", {{"/a/b/", "/x/"}}) == "/x/c");
  CHECK(mapped("/a/b/c", {{"/", "/x"}}) == "/x/a/b/c");
  CHECK(mapped("/a/bc", {{"/a/b/", "/x"}}) == "/a/bc");
}

}  // namespace
}  // namespace forebay
