#include <sys/resource.h>

#include "tests/support/temp_dir.h"
#include "tools/doctor/checks.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

constexpr const char* kLibm =
    "7f00-7f01 r--p 00000000 08:01 12  /usr/lib/x86_64-linux-gnu/libm.so.6\n";
constexpr const char* kReference =
    "7f00-7f01 r--p 00000000 08:01 12  /usr/lib/x86_64-linux-gnu/blas/libblas.so.3.11.0\n";
constexpr const char* kOpenBlas =
    "7f00-7f01 r-xp 00000000 08:01 12  /usr/lib/x86_64-linux-gnu/openblas-pthread/libblas.so.3\n";
constexpr const char* kOther = "7f00-7f01 r-xp 00000000 08:01 12  /opt/x/libblas.so\n";

}  // namespace

TEST_CASE("the BLAS of a process is found among its mapped files", "[tools][doctor]") {
  CHECK(find_blas(kLibm).kind == Blas::Kind::kNone);
  CHECK(find_blas(std::string(kLibm) + kReference).kind == Blas::Kind::kReference);
  CHECK(find_blas(std::string(kReference) + kOpenBlas).kind == Blas::Kind::kFast);
  CHECK(find_blas(kOther).kind == Blas::Kind::kUnknown);
  CHECK(find_blas(kOpenBlas).path == "/usr/lib/x86_64-linux-gnu/openblas-pthread/libblas.so.3");
}

TEST_CASE("the reference BLAS is reported with the package to install", "[tools][doctor]") {
  const TorchProbe probe{.version = "1.13", .bytes = 1, .blas = find_blas(kReference)};
  const auto checks = check_torch(probe, Training::kWanted);
  REQUIRE(checks.size() == 2);
  CHECK(to_line(checks[1]).starts_with("warn  blas: "));
  CHECK(to_line(checks[1]).find("apt-get install libopenblas0-pthread") != std::string::npos);
}

TEST_CASE("missing libtorch is reported only for commands that train", "[tools][doctor]") {
  const Result<TorchProbe> none = fail(Code::kNotFound, "install it");
  CHECK(check_torch(none, Training::kWanted)[0].verdict == Finding::Verdict::kBad);
  CHECK(check_torch(none, Training::kMaybe)[0].verdict == Finding::Verdict::kWarn);
  CHECK(check_torch(none, Training::kNo)[0].verdict == Finding::Verdict::kOk);
}

TEST_CASE("a check is a line with its verdict and what to do", "[tools][doctor]") {
  const std::vector<Finding> checks = {Finding::ok("cpus", "2"),
                                       Finding::warn("memory", "little", "end what runs"),
                                       Finding::bad("job", {Code::kInvalid, "no such key"})};
  CHECK(to_line(checks[0]) == "ok    cpus: 2");
  CHECK(to_line(checks[1]) == "warn  memory: little — end what runs");
  CHECK(to_json(checks[2]).text() == R"({"name":"job","status":"bad","message":"no such key"})");
  CHECK(count_bad(checks) == 1);
}

TEST_CASE("a job that asks for more than the machine has is warned about", "[tools][doctor]") {
  JobSpec job;
  job.pipeline.cpus = 1 << 20;
  job.pipeline.memory_bytes = std::uint64_t{1} << 60;
  const auto checks = check_machine(job);
  CHECK(checks[0].verdict == Finding::Verdict::kWarn);
  CHECK(checks[2].verdict == Finding::Verdict::kWarn);
}

TEST_CASE("a folder that does not exist yet is judged by its parent", "[tools][doctor]") {
  const test::TempDir dir;
  CHECK(check_writable_path("disk", "run.dir", dir.path("a/b/c")).verdict !=
        Finding::Verdict::kBad);
  CHECK(free_bytes(dir.path("a/b")) > 0);
  dir.write("file", "x");
  const Finding refused = check_writable_path("disk", "run.dir", dir.path("file/below"));
  CHECK(refused.verdict == Finding::Verdict::kBad);
  CHECK(refused.advice == "set run.dir to a folder of yours");
}

TEST_CASE("a limit on open files below the recommended one is warned about", "[tools][doctor]") {
  rlimit before = {};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit low = {.rlim_cur = 100, .rlim_max = before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
  const Finding enough = check_open_files(100);
  const Finding too_few = check_open_files(101);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(enough.verdict == Finding::Verdict::kOk);
  CHECK(to_line(too_few) ==
        "warn  open files: 100 files may be open at once, the job may want 101 — raise the limit: "
        "ulimit -n 101");
}

}  // namespace forebay
