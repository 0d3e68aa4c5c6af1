#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>

#include "engine/metrics/figures.h"
#include "engine/metrics/metrics_server.h"
#include "tests/support/http_client.h"
#include "tests/support/skip_note.h"
#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;

RunFigures figures() {
  RunFigures run;
  run.command = "ingest";
  run.rows = 3000;
  run.waited = 1500ms;
  run.requests = 12;
  run.energy = {.cpu_joules = 50, .worker_joules = 12.5};
  for (const char* name : {"load", "transform"}) {
    StageStats stage;
    stage.name = name;
    stage.pool.actors = 3;
    stage.pool.totals.busy = 2s;
    stage.pool.totals.wait_output = 250ms;
    run.pipeline.stages.push_back(stage);
  }
  scheduler::ClusterStatus cluster;
  cluster.leased = 4;
  cluster.nodes.resize(2);
  cluster.nodes[0].name = "node \"1\"";
  cluster.nodes[0].leases = 3;
  cluster.nodes[1].name = "node-2";
  cluster.nodes[1].use = {.requests = 17, .bytes = 4000, .joules = 12.5};
  cluster.nodes[1].state = scheduler::NodeStatus::State::kPrepared;
  run.cluster = cluster;
  return run;
}

HeadFigures head_figures() { return {.memory_bytes = 5, .cluster = figures().cluster}; }

WorkerFigures worker_figures() {
  WorkerFigures worker;
  worker.memory_limit = 300;
  worker.joined = true;
  worker.making = 4;
  worker.done = 7;
  worker.stages = figures().pipeline.stages;
  return worker;
}

/// The families of every kind of process.
std::vector<MetricFamily> all_families() {
  std::vector<MetricFamily> all = metrics_of(figures());
  for (auto& more : {metrics_of(head_figures()), metrics_of(worker_figures())}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("metrics are in base units, labelled by stage and by node", "[tools][metrics]") {
  const std::string text = exposition_of(metrics_of(figures()));
  CHECK(holds(text, "\nforebay_rows_total 3000\n"));
  CHECK(holds(text, "\nforebay_trainer_wait_seconds_total 1.5\n"));
  CHECK(holds(text, "\nforebay_stage_actors{stage=\"transform\"} 3\n"));
  CHECK(holds(text,
              "\nforebay_stage_blocked_seconds_total{stage=\"load\",reason=\"output\"} 0.25\n"));
  CHECK(holds(text, "\nforebay_node_leases{node=\"node \\\"1\\\"\"} 3\n"));
  CHECK(holds(text, "\nforebay_nodes{state=\"prepared\"} 1\n"));
  CHECK(holds(text, "\nforebay_requests_total 12\n"));
  CHECK(holds(text, "\nforebay_node_requests_total{node=\"node-2\"} 17\n"));
  CHECK(holds(text, "\nforebay_node_read_bytes_total{node=\"node-2\"} 4000\n"));
  CHECK(holds(text, "\nforebay_node_energy_joules_total{node=\"node-2\"} 12.5\n"));
  CHECK(holds(text, "\nforebay_energy_joules_total 62.5\n"));
  CHECK(holds(text, "\nforebay_splits_leased 4\n"));
}

TEST_CASE("a job without a cluster has no metrics of one", "[tools][metrics]") {
  RunFigures alone = figures();
  alone.cluster.reset();
  CHECK_FALSE(holds(exposition_of(metrics_of(alone)), "forebay_node"));
}

TEST_CASE("a head's metrics of its cluster have the same names as a run's", "[tools][metrics]") {
  const std::string text = exposition_of(metrics_of(head_figures()));
  CHECK(holds(text, ",command=\"head\"} 1\n"));
  CHECK(holds(text, "\nforebay_memory_bytes 5\n"));
  CHECK(holds(text, "\nforebay_node_leases{node=\"node \\\"1\\\"\"} 3\n"));
  CHECK(holds(text, "\nforebay_splits_leased 4\n"));
  CHECK_FALSE(holds(text, "forebay_stage"));
  CHECK_FALSE(holds(exposition_of(metrics_of(HeadFigures())), "forebay_node"));
}

TEST_CASE("a worker's metrics of its stages have the same names as a run's", "[tools][metrics]") {
  const std::string text = exposition_of(metrics_of(worker_figures()));
  CHECK(holds(text, ",command=\"worker\"} 1\n"));
  CHECK(holds(text, "\nforebay_memory_limit_bytes 300\n"));
  CHECK(holds(text, "\nforebay_stage_actors{stage=\"transform\"} 3\n"));
  CHECK(holds(text, "\nforebay_worker_joined 1\n"));
  CHECK(holds(text, "\nforebay_worker_splits_in_work 4\n"));
  CHECK(holds(text, "\nforebay_worker_splits_total 7\n"));
  CHECK_FALSE(holds(exposition_of(metrics_of(WorkerFigures())), "forebay_stage"));
}

TEST_CASE("only counters end in _total, and each name occurs once", "[tools][metrics]") {
  for (const auto& families :
       {metrics_of(figures()), metrics_of(head_figures()), metrics_of(worker_figures())}) {
    std::set<std::string> names;
    for (const MetricFamily& family : families) {
      CAPTURE(family.name);
      CHECK(family.name.starts_with("forebay_"));
      const bool counts = family.name.ends_with("_total");
      CHECK(holds(exposition_of({family}), counts ? " counter\n" : " gauge\n"));
      CHECK_FALSE(family.help.empty());
      CHECK(names.insert(family.name).second);
    }
  }
}

TEST_CASE("every metric is in the table of the folder's README", "[tools][metrics]") {
  std::ifstream file(FOREBAY_METRICS_README);
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  for (const MetricFamily& family : all_families()) {
    CAPTURE(family.name);
    CHECK(holds(page, "`" + family.name + "`"));
  }
}

TEST_CASE("promtool accepts the metrics, where it is installed", "[tools][metrics]") {
  const test::TempDir folder;
  folder.write("metrics", exposition_of(metrics_of(figures())));
  if (std::system("command -v promtool >/dev/null") != 0) {
    return test::note_skipped("promtool is not installed (Debian: apt-get install prometheus)");
  }
  const std::string command = "promtool check metrics <" + folder.path("metrics") + " 2>&1";
  std::FILE* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string said(4096, '\0');
  said.resize(std::fread(said.data(), 1, said.size(), pipe));
  CHECK(::pclose(pipe) == 0);
  CHECK(said.empty());
}

TEST_CASE("a server takes any free port, and reports if it gets none", "[tools][metrics]") {
  auto server =
      MetricsServer::open("cluster.metrics", "127.0.0.1:0", [] { return metrics_of(figures()); });
  REQUIRE(server);
  CHECK((*server)->port() != 0);
  CHECK((*server)->url() == "http://127.0.0.1:" + std::to_string((*server)->port()) + "/metrics");
  const auto taken =
      MetricsServer::open("--metrics", "127.0.0.1:" + std::to_string((*server)->port()),
                          [] { return std::vector<MetricFamily>(); });
  REQUIRE_FALSE(taken);
  CHECK(holds(taken.error().message, "--metrics 127.0.0.1:"));
  CHECK(holds(taken.error().message, "nothing can listen there (Address already in use); name"));
}

TEST_CASE("clients that connect and send nothing keep no other one from the metrics",
          "[tools][metrics]") {
  auto server =
      MetricsServer::open("--metrics", "127.0.0.1:0", [] { return metrics_of(figures()); });
  REQUIRE(server);
  const test::HttpClient silent((*server)->port());
  const test::HttpClient half((*server)->port());
  half.send("GET /metrics HTTP/1.1\r\nHost: ");
  const test::HttpClient other((*server)->port());
  other.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
  CHECK(other.receive("\r\n").starts_with("HTTP/1.1 200 "));
}

}  // namespace forebay
