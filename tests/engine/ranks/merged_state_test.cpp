#include "engine/ranks/merged_state.h"

#include <algorithm>
#include <cstring>

#include "tests/support/catch.h"

using namespace forebay;

namespace {

/// Tensors of one float each.
class Named final : public StateSource {
 public:
  explicit Named(const std::vector<std::pair<std::string, float>>& values) {
    for (const auto& [name, value] : values) {
      const bool optimizer = name.ends_with("!");
      StateTensor tensor;
      tensor.name = optimizer ? name.substr(0, name.size() - 1) : name;
      tensor.part = optimizer ? StateTensor::Part::kOptimizer : StateTensor::Part::kWeights;
      tensor.shape = {1};
      tensors_.push_back(tensor);
      values_.push_back(value);
    }
  }
  const std::vector<StateTensor>& tensors() const override { return tensors_; }
  Status read(std::size_t index, std::uint64_t, std::span<std::byte> to) override {
    std::memcpy(to.data(), &values_[index], to.size());
    return {};
  }

 private:
  std::vector<StateTensor> tensors_;
  std::vector<float> values_;
};

std::string text_of(StateSource& source) {
  std::string text;
  for (std::size_t i = 0; i < source.tensors().size(); ++i) {
    float value = 0;
    REQUIRE(source.read(i, 0, std::as_writable_bytes(std::span(&value, 1))));
    text += source.tensors()[i].name;
    text += source.tensors()[i].part == StateTensor::Part::kOptimizer ? "!" : "";
    text += "=" + std::to_string(static_cast<int>(value)) + " ";
  }
  return text;
}

std::unique_ptr<StateSource> named(const std::vector<std::pair<std::string, float>>& values) {
  return std::make_unique<Named>(values);
}

}  // namespace

TEST_CASE("the merged state of all ranks is that of one model, wherever its tables are",
          "[tools][ranks]") {
  const std::string alone = "top=1 table.0=10 table.2=12 table.10=30 top!=2 table.0!=20 ";
  std::vector<std::unique_ptr<StateSource>> ranks;
  SECTION("one") {
    ranks.push_back(named({{"top", 1},
                           {"top!", 2},
                           {"table.0", 10},
                           {"table.0!", 20},
                           {"table.2", 12},
                           {"table.10", 30}}));
  }
  SECTION("two") {
    ranks.push_back(named({{"top", 1}, {"top!", 2}, {"table.2", 12}}));
    ranks.push_back(
        named({{"top", 7}, {"top!", 7}, {"table.0", 10}, {"table.0!", 20}, {"table.10", 30}}));
  }
  SECTION("two that have all") {
    ranks.push_back(named({{"top", 1},
                           {"top!", 2},
                           {"table.0", 10},
                           {"table.0!", 20},
                           {"table.2", 12},
                           {"table.10", 30}}));
    ranks.push_back(named({{"table.0", 7}, {"table.0!", 7}, {"table.2", 7}, {"table.10", 7}}));
  }
  MergedState merged(std::move(ranks));
  CHECK(text_of(merged) == alone);
  for (const StateTensor& tensor : merged.tensors()) {
    CHECK(tensor.shape == std::vector<std::int64_t>{1});
  }
}

TEST_CASE("rows of a cut table are merged into one, and split again for each rank",
          "[tools][ranks]") {
  std::vector<std::unique_ptr<StateSource>> ranks;
  ranks.push_back(named({{"top", 1}, {"table.1.from.0", 10}, {"table.1.from.0!", 20}}));
  ranks.push_back(named({{"table.0", 5}, {"table.1.from.2", 12}, {"table.1.from.2!", 22}}));
  ranks.push_back(named({{"table.1.from.1", 11}, {"table.1.from.1!", 21}}));
  MergedState merged(std::move(ranks));
  REQUIRE(merged.tensors().size() == 4);
  CHECK(merged.tensors()[2].name == "table.1");
  CHECK(merged.tensors()[2].shape == std::vector<std::int64_t>{3});
  std::vector<float> rows(3);
  REQUIRE(merged.read(2, 0, std::as_writable_bytes(std::span(rows))));
  CHECK(rows == std::vector<float>{10, 11, 12});
  std::vector<float> last(2);
  REQUIRE(merged.read(3, 4, std::as_writable_bytes(std::span(last))));
  CHECK(last == std::vector<float>{21, 22});

  const auto model = named({{"table.1.from.2", 0}, {"table.1.from.2!", 0}});
  PartOfState part(merged, model->tensors());
  CHECK(text_of(part) == "table.1.from.2=12 table.1.from.2!=22 ");
  const auto larger = named({{"table.1.from.3", 0}});
  CHECK(PartOfState(merged, larger->tensors()).tensors().empty());
}

TEST_CASE("state that another rank keeps beside its tables is not lost", "[tools][ranks]") {
  std::vector<std::unique_ptr<StateSource>> ranks;
  ranks.push_back(named({{"top", 1}}));
  ranks.push_back(named({{"top", 7}, {"tables.steps", 3}}));
  MergedState merged(std::move(ranks));
  CHECK(text_of(merged) == "top=1 tables.steps=3 ");
}

TEST_CASE("a rank goes on from its part of a state", "[tools][ranks]") {
  const auto whole = named({{"top", 1}, {"top!", 2}, {"table.0", 10}, {"table.1", 11}});
  const auto model = named({{"top", 0}, {"table.1", 0}, {"other", 0}});
  PartOfState part(*whole, model->tensors());
  CHECK(text_of(part) == "top=1 table.1=11 ");
}
