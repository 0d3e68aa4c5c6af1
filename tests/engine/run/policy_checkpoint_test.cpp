#include "engine/run/policy_checkpoint.h"

#include <sys/stat.h>

#include <filesystem>

#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

class Learner final : public tuner::Policy {
 public:
  std::string_view name() const override { return "learner"; }
  tuner::Proposal decide(const tuner::Observation&) override {
    ++learned_;
    return {};
  }
  std::string learned_state() const override {
    return "learned " + std::to_string(learned_) + "\n\0";
  }

 private:
  int learned_ = 0;
};

}  // namespace

TEST_CASE("learned state is written at the latest at the end, and read back the same",
          "[tools][kept_policy]") {
  const test::TempDir dir;
  const std::string path = dir.path("tuner/learner-1");
  {
    PolicyCheckpoint policy(std::make_unique<Learner>(), path, {});
    for (int i = 0; i < 40; ++i) policy.decide({});
    const auto meanwhile = read_learned_state(path);
    REQUIRE(meanwhile);
    CHECK(*meanwhile == "learned 32\n");
  }
  const auto read = read_learned_state(path);
  REQUIRE(read);
  CHECK(*read == "learned 40\n");
}

TEST_CASE("a policy that made no decision leaves the learned state of an earlier run",
          "[tools][kept_policy]") {
  const test::TempDir dir;
  const std::string path = dir.path("learner");
  REQUIRE(write_learned_state(path, "before"));
  { const PolicyCheckpoint policy(std::make_unique<Learner>(), path, {}); }
  CHECK(*read_learned_state(path) == "before");
}

TEST_CASE("learned state that cannot be written is reported once, and no partial file is left",
          "[tools][kept_policy]") {
  const test::TempDir dir;
  const std::string path = dir.path("tuner/learner");
  std::filesystem::create_directories(path);  // a folder at the file's path
  std::vector<std::string> said;
  {
    PolicyCheckpoint policy(std::make_unique<Learner>(), path,
                            [&](const std::string& why) { said.push_back(why); });
    for (int i = 0; i < 70; ++i) policy.decide({});
  }
  CHECK(said == std::vector<std::string>{path + ": Is a directory"});
  CHECK_FALSE(std::filesystem::exists(path + ".partial"));
  const auto unreadable = read_learned_state(path);
  REQUIRE_FALSE(unreadable);
  CHECK(unreadable.error().code == Code::kInvalid);
}

TEST_CASE("learned state of another version is not reported as damaged, and a FIFO does not block",
          "[tools][kept_policy]") {
  const test::TempDir dir;
  const std::string other = dir.write("other", "forebay-experience 2 00\n{}");
  const auto refused = read_learned_state(other);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kInvalid);
  CHECK(refused.error().message == other + " is of another version");
  const std::string fifo = dir.path("fifo");
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  CHECK(read_learned_state(fifo).error().code == Code::kInvalid);
  const std::string large = dir.write("large", "forebay-experience 1 ");
  std::filesystem::resize_file(large, std::uintmax_t{8} << 30);
  CHECK(read_learned_state(large).error().code == Code::kCorrupt);
}

TEST_CASE("a damaged learned state is not reported as a missing one", "[tools][kept_policy]") {
  const test::TempDir dir;
  const std::string path = dir.path("learner");
  const auto none = read_learned_state(path);
  REQUIRE_FALSE(none);
  CHECK(none.error().code == Code::kNotFound);
  REQUIRE(write_learned_state(path, "some experience"));
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  const auto damaged = read_learned_state(path);
  REQUIRE_FALSE(damaged);
  CHECK(damaged.error().code == Code::kCorrupt);
}

}  // namespace forebay
