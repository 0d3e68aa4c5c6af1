#include <map>
#include <string>

#include "tools/symmetric/host_list.h"
#include "tools/symmetric/launched_process.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using Hosts = std::vector<std::string>;

Result<LaunchedProcess> placed(const std::map<std::string, std::string>& variables) {
  return placement_in([&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  });
}

}  // namespace

TEST_CASE("a node list is expanded as scontrol does", "[tools][symmetric]") {
  CHECK(expand_hosts("node[01-03,7],gpu-a[1-2]b").value() ==
        Hosts{"node01", "node02", "node03", "node7", "gpu-a1b", "gpu-a2b"});
  CHECK(expand_hosts("login").value() == Hosts{"login"});
  CHECK(expand_hosts("a,b").value() == Hosts{"a", "b"});
  CHECK(expand_hosts("n[098-101]").value() == Hosts{"n098", "n099", "n100", "n101"});
  CHECK(expand_hosts("r[1-2]n[3,5]").value() == Hosts{"r1n3", "r1n5", "r2n3", "r2n5"});
}

TEST_CASE("a node list that Slurm would not write is refused", "[tools][symmetric]") {
  for (const char* bad : {"", ",", "a,", "n[1-2", "n[]", "n[a]", "n[3-1]", "n[1-2-3]", "n[1,]",
                          "n[0-99999]", "n[1-999999999999]", "a[1-300]b[1-300]"}) {
    CAPTURE(bad);
    CHECK_FALSE(expand_hosts(bad));
  }
}

TEST_CASE("under srun the first host of the step is rank 0's", "[tools][symmetric]") {
  const LaunchedProcess placement = placed({{"SLURM_PROCID", "3"},
                                            {"SLURM_NTASKS", "4"},
                                            {"SLURM_JOB_ID", "77"},
                                            {"SLURM_STEP_ID", "2"},
                                            {"SLURM_JOB_NODELIST", "n[1-8]"},
                                            {"SLURM_STEP_NODELIST", "n[5-8]"}})
                                        .value();
  CHECK(placement.rank == 3);
  CHECK(placement.processes == 4);
  CHECK(placement.first_host == "n5");
  CHECK_FALSE(placement.one_host);
  CHECK(placement.job == "77.2");
}

TEST_CASE("an mpirun inside a Slurm job counts by its own variables", "[tools][symmetric]") {
  const LaunchedProcess placement = placed({{"SLURM_PROCID", "0"},
                                            {"SLURM_NTASKS", "1"},
                                            {"SLURM_JOB_ID", "5"},
                                            {"SLURM_JOB_NODELIST", "a"},
                                            {"OMPI_COMM_WORLD_RANK", "2"},
                                            {"OMPI_COMM_WORLD_SIZE", "3"},
                                            {"OMPI_COMM_WORLD_LOCAL_SIZE", "3"}})
                                        .value();
  CHECK(placement.rank == 2);
  CHECK(placement.processes == 3);
  CHECK(placement.one_host);
  CHECK(placement.first_host == "a");
}

TEST_CASE("torchrun, PMI and Indexed Jobs are understood", "[tools][symmetric]") {
  const LaunchedProcess torch = placed({{"RANK", "1"},
                                        {"WORLD_SIZE", "4"},
                                        {"LOCAL_WORLD_SIZE", "2"},
                                        {"MASTER_ADDR", "head"},
                                        {"TORCHELASTIC_RUN_ID", "9"}})
                                    .value();
  CHECK(torch.first_host == "head");
  CHECK_FALSE(torch.one_host);
  CHECK(torch.job == "9");
  CHECK(placed({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}).value().rank == 1);
  const LaunchedProcess pod = placed({{"JOB_COMPLETION_INDEX", "6"}}).value();
  CHECK(pod.rank == 6);
  CHECK(pod.processes == 0);
}

TEST_CASE("without a launcher, or with its invalid values, there is no rank",
          "[tools][symmetric]") {
  CHECK_FALSE(placed({}));
  CHECK_FALSE(placed({{"SLURM_PROCID", "x"}}));
  CHECK(placed({{"PMI_RANK", " 0"}}).error().message ==
        "symmetric-run: PMI_RANK is \" 0\" in the environment and must be a whole number within 0 "
        "to 1000000");
  CHECK_FALSE(placed({{"RANK", "2"}, {"WORLD_SIZE", "2"}}));
  CHECK_FALSE(placed({{"SLURM_PROCID", "0"}, {"SLURM_JOB_NODELIST", "n["}}));
}

TEST_CASE("a job's port is the same for all its processes", "[tools][symmetric]") {
  LaunchedProcess one;
  one.job = "77.2";
  LaunchedProcess other = one;
  other.rank = 5;
  CHECK(port_of(one) == port_of(other));
  CHECK(port_of(one) >= 20000);
  other.job = "78.2";
  CHECK(port_of(one) != port_of(other));
}

}  // namespace forebay
