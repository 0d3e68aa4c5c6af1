#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>

#include "core/base/text/shell_word.h"
#include "tests/support/temp_dir.h"
#include "tools/launch/fill.h"
#include "tools/launch/launch_spec.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

JobSpec job() {
  JobSpec job;
  job.path = "/jobs/Ads & co.toml";
  job.base_dir = "/jobs";
  job.run.dir = "/jobs/.forebay";
  job.pipeline.cpus = 4;
  job.pipeline.memory_bytes = std::uint64_t{4} << 30;
  return job;
}

std::string file_of(const std::vector<LaunchFile>& files, const std::string& name) {
  const auto found = std::find_if(files.begin(), files.end(),
                                  [&](const LaunchFile& file) { return file.name == name; });
  return found == files.end() ? "" : found->content;
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

LaunchSpec spec_of(const JobSpec& job, LaunchOptions options) {
  return launch_spec(job, "seed = 1\n", "/usr/bin/forebay", std::move(options)).value();
}

}  // namespace

TEST_CASE("fill replaces a template's placeholders, other at signs stay", "[tools][launch]") {
  CHECK(fill("a@X@b @@X@ \"$@\" @x@ me@X", {{"X", "1@X@"}}) == "a1@X@b @1@X@ \"$@\" @x@ me@X");
}

TEST_CASE("lines under a condition stay only while the name has a value", "[tools][launch]") {
  constexpr std::string_view kText =
      "a\n#@if X\nb @X@\n#@if Y\nc\n#@end\n#@else\nd\n#@end\n  #@if\n#@end of it\n";
  const std::string rest = "  #@if\n#@end of it\n";
  CHECK(fill(kText, {{"X", "1"}, {"Y", "1"}}) == "a\nb 1\nc\n" + rest);
  CHECK(fill(kText, {{"X", "1"}, {"Y", ""}}) == "a\nb 1\n" + rest);
  CHECK(fill(kText, {{"X", ""}, {"Y", "1"}}) == "a\nd\n" + rest);
}

TEST_CASE("a host file with a word that is no host and no setting is refused by its line",
          "[tools][launch]") {
  CHECK(check_hosts("hosts", ""));
  CHECK(check_hosts("hosts", "# of mine\n\n a slots=2 role=worker\nb@c:22\trole=trainer\nlast"));
  const auto refusal = [](const std::string& line) {
    return check_hosts("my/hosts", "node-1\n" + line + "\n").error().message;
  };
  const std::string form = "; write HOST [slots=N] [role=worker|trainer]";
  const std::string neither =
      " is neither slots=N, N at most 9999, nor role=worker or role=trainer";
  CHECK(refusal("node-1 foo=bar") == "my/hosts, line 2: foo=bar" + neither + form);
  CHECK(refusal("-oProxyCommand=x") == "my/hosts, line 2: -oProxyCommand=x is no host" + form);
  for (const std::string word :
       {"slots=", "slots=-1", "slots=a[$(x)]", "slots=10000", "role=head"}) {
    CHECK(refusal("a " + word) == "my/hosts, line 2: " + word + neither + form);
  }
}

TEST_CASE("launch files hold no placeholder and no condition of a template", "[tools][launch]") {
  const std::regex left_over("@[A-Z_]+@|#@");
  std::set<std::string> names;
  // Each bit of `options` is one way in which jobs and options differ.
  for (unsigned options = 0; options < 64; ++options) {
    CAPTURE(options);
    const auto has = [&](unsigned bit) { return (options >> bit & 1U) == 1; };
    JobSpec varied = job();
    varied.cluster.keys = has(0) ? "/jobs/keys" : "";
    varied.cluster.metrics = has(1) ? "127.0.0.1:9000" : "";
    varied.cluster.head = has(2) ? "tcp://head:7" : "";
    const LaunchSpec spec = spec_of(varied, {.command = has(3) ? "train" : "ingest",
                                             .workers = has(4) ? 3U : 0U,
                                             .gpus = has(5) ? "2" : "",
                                             .image = "i",
                                             .claim = has(2) ? "ads" : ""});
    const std::vector<KeyFile> keys = {{"server.key", "k"}};
    for (const auto& files : {slurm_files(spec), ssh_files(spec, ""),
                              k8s_files(spec, has(0) ? keys : decltype(keys){})}) {
      for (const LaunchFile& file : files) {
        CAPTURE(file.name);
        CHECK_FALSE(std::regex_search(file.content, left_over));
        names.insert(file.name);
      }
    }
  }
  for (const LaunchTemplate& each : launch_templates()) {
    CHECK(names.count(std::string(each.name.substr(each.name.find('/') + 1))) == 1);
  }
}

TEST_CASE("a word is quoted for a shell when it has to be", "[tools][launch]") {
  CHECK(shell_word("order.seed=3") == "order.seed=3");
  CHECK(shell_word("it's $HOME") == "'it'\\''s $HOME'");
  CHECK(shell_word("") == "''");
}

TEST_CASE("base64 is that of RFC 4648", "[tools][launch]") {
  CHECK(base64("").empty());
  CHECK(base64("f") == "Zg==");
  CHECK(base64("fo") == "Zm8=");
  CHECK(base64("foo") == "Zm9v");
  CHECK(base64("foob") == "Zm9vYg==");
  CHECK(base64(std::string("\xff\x00\xfe", 3)) == "/wD+");
}

TEST_CASE("a launch has a name that every scheduler takes, one a job file", "[tools][launch]") {
  const LaunchSpec spec = spec_of(job(), {});
  CHECK(spec.name.starts_with("forebay-ads---co-"));
  JobSpec other = job();
  other.path = "/elsewhere/Ads & co.toml";
  CHECK(spec_of(other, {}).name != spec.name);
}

TEST_CASE("the head listens beyond loopback only with keys", "[tools][launch]") {
  CHECK(spec_of(job(), {}).listen == "tcp://127.0.0.1:0");
  JobSpec with_keys = job();
  with_keys.cluster.keys = "/jobs/keys";
  CHECK(spec_of(with_keys, {}).listen == "tcp://0.0.0.0:0");
  with_keys.cluster.listen = "tcp://10.0.0.1:7";
  CHECK(spec_of(with_keys, {}).listen == "tcp://10.0.0.1:7");
  CHECK(spec_of(with_keys, {.port = 9}).listen == "tcp://0.0.0.0:9");
  with_keys.cluster.listen = "here";
  CHECK_FALSE(launch_spec(with_keys, "", "", {}));
}

TEST_CASE("a Slurm script asks for the job's resources, a node a worker", "[tools][launch]") {
  LaunchSpec spec = spec_of(job(), {.command = "ingest", .workers = 3, .sets = {"order.seed=2"}});
  const std::string script = file_of(slurm_files(spec), "job.sbatch");
  CHECK(holds(script, "#SBATCH --nodes=4\n#SBATCH --ntasks=4\n"));
  CHECK(holds(script, "#SBATCH --cpus-per-task=4\n"));
  // 4096 MiB, a sixteenth on top and 64 MiB, over 4 CPUs.
  CHECK(holds(script, "#SBATCH --mem-per-cpu=1104M\n"));
  CHECK(holds(script, "forebay ingest '/jobs/Ads & co.toml' --json"));
  CHECK(holds(script, "--json --set order.seed=2 --set cluster.listen=tcp://127.0.0.1:0)"));
  CHECK_FALSE(holds(script, "hetjob"));

  SECTION("a trainer with GPUs is a part of its own") {
    spec.options.gpus = "2";
    const std::string apart = file_of(slurm_files(spec), "job.sbatch");
    CHECK(holds(apart, "#SBATCH --gres=gpu:2\n#SBATCH hetjob\n"));
    CHECK(holds(apart, "#SBATCH --ntasks=3\n"));
    CHECK(holds(apart, "--het-group=1"));
  }
}

TEST_CASE("a pod's own address and keys take precedence over --set", "[tools][launch]") {
  JobSpec with_keys = job();
  with_keys.cluster.keys = "/jobs/keys";
  with_keys.cluster.metrics = "127.0.0.1:1";
  const LaunchSpec spec = spec_of(
      with_keys, {.sets = {"cluster.keys=keys", "cluster.metrics=127.0.0.1:1"}, .image = "i"});
  const std::string trainer = file_of(k8s_files(spec, {{"server.key", "k"}}), "trainer.yaml");
  CHECK(trainer.rfind("cluster.keys=/keys") > trainer.rfind("cluster.keys=keys"));
  CHECK(trainer.rfind("cluster.metrics=0.0.0.0:") > trainer.rfind("cluster.metrics=127.0.0.1"));
}

TEST_CASE("a --set value reaches a pod unchanged", "[tools][launch]") {
  JobSpec with_keys = job();
  with_keys.cluster.keys = "/jobs/keys";
  const LaunchSpec spec = spec_of(
      with_keys, {.sets = {"a=$(POD_NAME) $$x \"q\"\n"}, .image = "i: {x}", .claim = "c}, {d: e"});
  const auto files = k8s_files(spec, {{"server.key", "k"}});
  const std::string trainer = file_of(files, "trainer.yaml");
  CHECK(holds(trainer, R"y(- "a=$$(POD_NAME) $$$$x \"q\"\x0a")y"));
  CHECK(holds(trainer, R"y(image: "i: {x}")y"));
  CHECK(holds(trainer, R"y({claimName: "c}, {d: e"})y"));
  CHECK(holds(file_of(files, "workers.yaml"), R"y(- "$(POD_NAME)")y"));
}

TEST_CASE("a path with a line break is refused: a comment would end in the middle of it",
          "[tools][launch]") {
  JobSpec broken = job();
  SECTION("of the job") { broken.path = "/jobs/a\ntouch b #.toml"; }
  SECTION("of its folder") { broken.run.dir = "/jobs/a\rb"; }
  SECTION("of the keys") { broken.cluster.keys = "/jobs/\x7f"; }
  const auto spec = launch_spec(broken, "", "/usr/bin/forebay", {});
  REQUIRE_FALSE(spec);
  CHECK(spec.error().code == Code::kInvalid);
  CHECK(holds(spec.error().message, "line break"));
}

TEST_CASE("workers serve their figures where the job's are served", "[tools][launch]") {
  JobSpec with_metrics = job();
  with_metrics.cluster.keys = "/jobs/keys";
  for (const bool serves : {false, true}) {
    CAPTURE(serves);
    with_metrics.cluster.metrics = serves ? "[::]:9000" : "";
    const LaunchSpec spec = spec_of(with_metrics, {.image = "i"});
    CHECK(holds(file_of(slurm_files(spec), "worker.sh"), " --metrics '[::]:0' ") == serves);
    CHECK(holds(file_of(ssh_files(spec, ""), "cluster.sh"), " --metrics '[::]:0')") == serves);
    const std::string pods = file_of(k8s_files(spec, {{"server.key", "k"}}), "workers.yaml");
    CHECK(holds(pods, "- \"--metrics\"\n            - \"0.0.0.0:9464\"\n          ports:\n") ==
          serves);
    CHECK(holds(pods, "{name: metrics, containerPort: 9464}") == serves);
    CHECK(holds(pods, "prometheus.io/scrape") == serves);
  }
}

TEST_CASE("workers join the head that the job names, else the trainer's", "[tools][launch]") {
  JobSpec other = job();
  CHECK(holds(file_of(slurm_files(spec_of(other, {})), "worker.sh"), "--join \"$address_file\""));
  other.cluster.head = "tcp://head:7";
  const LaunchSpec spec = spec_of(other, {});
  CHECK(holds(file_of(slurm_files(spec), "worker.sh"), "--join tcp://head:7 "));
  CHECK(holds(file_of(ssh_files(spec, ""), "cluster.sh"), "\nhead=tcp://head:7 "));
}

TEST_CASE("no file but the Secret holds a key", "[tools][launch]") {
  JobSpec with_keys = job();
  with_keys.cluster.keys = "/jobs/keys";
  const LaunchSpec spec = spec_of(with_keys, {.image = "registry/forebay:1"});
  const auto files = k8s_files(spec, {{"server.key_secret", "secret!"}, {"clients/a.key", "open"}});
  for (const LaunchFile& file : files) {
    CAPTURE(file.name);
    CHECK(holds(file.content, base64("secret!")) == (file.name == "secret.yaml"));
    CHECK((file.mode == 0600) == (file.name == "secret.yaml"));
  }
  CHECK(holds(file_of(files, "trainer.yaml"), "{key: clients__a.key, path: clients/a.key}"));
  CHECK_FALSE(holds(file_of(files, "workers.yaml"), "server.key_secret"));
  CHECK(holds(file_of(files, "config.yaml"), "  job.toml: |2\n    seed = 1\n"));
}

TEST_CASE("launch writes its own files again but does not overwrite edited ones",
          "[tools][launch]") {
  const test::TempDir folder;
  const std::string place = folder.path() + "/launch";
  const std::vector<LaunchFile> first = {{"a.sh", 0755, "one\n"},
                                         {.name = "hosts", .content = "h\n", .users = true}};
  REQUIRE(write_files(place, first, Edited::kRefuse).value().size() == 2);
  const std::vector<LaunchFile> second = {{"a.sh", 0600, "two\n"},
                                          {.name = "hosts", .content = "i\n", .users = true}};
  REQUIRE(write_files(place, second, Edited::kRefuse));
  CHECK(folder.read("launch/a.sh").starts_with("two\n"));
  CHECK(folder.read("launch/hosts").starts_with("h\n"));
  CHECK((std::filesystem::status(place + "/a.sh").permissions() & std::filesystem::perms::all) ==
        std::filesystem::perms(0600));

  std::ofstream(place + "/a.sh", std::ios::app) << "mine\n";
  const auto refused = write_files(place, first, Edited::kRefuse);
  REQUIRE_FALSE(refused);
  CHECK(holds(refused.error().message, "a.sh was edited"));
  CHECK(holds(folder.read("launch/a.sh"), "mine"));
  REQUIRE(write_files(place, first, Edited::kReplace));
  CHECK(folder.read("launch/a.sh").starts_with("one\n"));
}

TEST_CASE("a host file is replaced by given hosts unless the user edited it", "[tools][launch]") {
  const test::TempDir folder;
  const std::vector<LaunchFile> first = {{.name = "hosts", .content = "h\n", .users = true}};
  const std::vector<LaunchFile> given = {{.name = "hosts", .content = "mine\n"}};
  REQUIRE(write_files(folder.path(), first, Edited::kRefuse));
  SECTION("as launch wrote it") {
    REQUIRE(write_files(folder.path(), given, Edited::kRefuse));
    CHECK(folder.read("hosts").starts_with("mine\n"));
  }
  SECTION("edited") {
    const std::string edited = "node-7\n" + folder.read("hosts");
    folder.write("hosts", edited);
    CHECK(holds(write_files(folder.path(), given, Edited::kRefuse).error().message,
                "hosts was edited"));
    REQUIRE(write_files(folder.path(), first, Edited::kRefuse));
    CHECK(folder.read("hosts") == edited);
  }
}

}  // namespace forebay
