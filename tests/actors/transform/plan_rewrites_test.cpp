// A plan that runs its steps in another order, several in one pass, gives the same bits.

#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "actors/transform/transform.h"
#include "core/base/random.h"
#include "core/data/repeated_columns.h"
#include "tests/actors/transform/columns_fixture.h"
#include "tests/support/repeated.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using test::Columns;
using test::Lists;
using Options = TransformPlan::Options;

constexpr std::size_t kRows = 700;
constexpr std::uint64_t kSeed = 20260117;

/// Columns that repeat together over neighbouring rows.
const std::vector<FeatureGroup>& groups() {
  static const std::vector<FeatureGroup> groups{{.dense = {0, 1}, .sparse = {0}}, {.sparse = {2}}};
  return groups;
}

/// Repeats the values of the row before, in all columns of a group in the same rows.
template <class Value>
void repeat(std::uint64_t group_seed, std::vector<Value>& values) {
  Random random(group_seed);
  for (std::size_t row = 1; row < values.size(); ++row) {
    if (random.below(5) > 0) values[row] = values[row - 1];
  }
}

/// Missing values, NaNs with odd payloads, zeros, and numbers of any size; empty and long lists.
Columns random_columns(std::uint64_t seed) {
  Random random(seed);
  Columns columns(kRows);
  for (const char* name : {"d0", "d1", "d2"}) {
    std::vector<float> values;
    for (std::size_t i = 0; i < kRows; ++i) {
      const std::uint64_t kind = random.below(10);
      if (kind == 0) values.push_back(missing_value());
      if (kind == 1) values.push_back(std::bit_cast<float>(0x7fc12345));
      if (kind == 2) values.push_back(0);
      if (kind > 2) values.push_back(static_cast<float>(random.uniform() * 200 - 50));
    }
    if (name != std::string("d2")) repeat(seed, values);
    columns.dense(name, values);
  }
  for (const char* name : {"s0", "s1"}) {
    Lists lists(kRows);
    for (auto& list : lists) {
      for (std::uint64_t left = random.below(9); left > 0; --left) {
        list.push_back(static_cast<std::int64_t>(random.below(40)) - 5);
      }
    }
    if (name == std::string("s0")) repeat(seed, lists);
    columns.sparse(name, lists);
  }
  std::vector<std::int64_t> ids;
  for (std::size_t i = 0; i < kRows; ++i) ids.push_back(static_cast<std::int64_t>(random.below(9)));
  repeat(seed + 1, ids);
  columns.ids("s2", ids);
  return columns;
}

/// Draws lists of operators over these columns and those that operators before have made.
class RandomList {
 public:
  explicit RandomList(std::uint64_t seed) : random_(seed) {}

  std::vector<TransformSpec> draw(std::size_t operators) {
    std::vector<TransformSpec> specs;
    for (std::size_t i = 0; i < operators; ++i) specs.push_back(one());
    return specs;
  }

 private:
  TransformSpec one() {
    switch (random_.below(16)) {
      case 0:
        return {"sampling", {}, {{"rate", 0.8}, {"salt", integer(5)}}};
      case 1:
        return {"spin", {}, {{"microseconds", 0.0}}};
      case 2:
        return on_dense("log1p", {});
      case 3:
        return on_dense("clamp", {{"min", -3.5}, {"max", 90.0}});
      case 4:
        return on_dense("fill", {{"value", 2.5}});
      case 5:
        return on_dense("log", {{"add", 3.0}});
      case 6:
        return on_dense("logit", {});
      case 7:
        return bucketize();
      case 8:
        return on_sparse("sigrid_hash", {{"max_value", integer(50)}, {"salt", integer(3)}});
      case 9:
        return on_sparse("first_x", {{"x", integer(3)}});
      case 10:
        return on_sparse("fill", {{"value", integer(7)}});
      case 11:
        return on_sparse("positive_modulus", {{"modulus", integer(20)}});
      case 12:
        return on_sparse("clamp", {{"min", std::int64_t{0}}, {"max", integer(30)}});
      case 13:
        return makes_list("n_gram", {any(sparse_)}, {{"n", std::int64_t{2}}});
      case 14:
        return makes_list("cartesian", {any(sparse_), any(sparse_)},
                          {{"max_ids", std::int64_t{8}}});
      default:
        return one_hot();
    }
  }

  using Params = std::map<std::string, ParamValue>;

  ParamValue integer(std::uint64_t most) {
    return static_cast<std::int64_t>(1 + random_.below(most));
  }
  const std::string& any(const std::vector<std::string>& names) {
    return names[random_.below(names.size())];
  }
  std::string fresh() { return "m" + std::to_string(made_++); }

  /// Over one column, in place or into a further one, or over all of its kind.
  TransformSpec over(std::vector<std::string>& names, const std::string& op, Params params) {
    const std::uint64_t how = random_.below(4);
    if (how == 0) return {op, names, std::move(params)};
    TransformSpec spec{op, {any(names)}, std::move(params)};
    if (how == 1) {
      names.push_back(fresh());
      spec.params["output"] = names.back();
    }
    return spec;
  }
  TransformSpec on_dense(const std::string& op, Params params) {
    return over(dense_, op, std::move(params));
  }
  TransformSpec on_sparse(const std::string& op, Params params) {
    return over(sparse_, op, std::move(params));
  }
  TransformSpec makes_list(const std::string& op, std::vector<std::string> columns, Params params) {
    if (random_.below(2) == 0) {
      sparse_.push_back(fresh());
      params["output"] = sparse_.back();
    }
    return {op, std::move(columns), std::move(params)};
  }
  /// In place: the dense column becomes a sparse one of the same name.
  TransformSpec bucketize() {
    const Params params{{"borders", std::vector<double>{0, 1, 10}}};
    if (dense_.size() < 2) return on_dense("log1p", {});
    const std::size_t which = random_.below(dense_.size());
    const std::string name = dense_[which];
    dense_.erase(dense_.begin() + static_cast<std::ptrdiff_t>(which));
    sparse_.push_back(name);
    return {"bucketize", {name}, params};
  }
  TransformSpec one_hot() {
    const std::string source = any(random_.below(2) == 0 ? dense_ : sparse_);
    const std::string name = fresh();
    dense_.push_back(name + "_0");
    dense_.push_back(name + "_1");
    return {"one_hot", {source}, {{"size", std::int64_t{2}}, {"output", name}}};
  }

  Random random_;
  std::size_t made_ = 0;
  std::vector<std::string> dense_{"d0", "d1", "d2"};
  std::vector<std::string> sparse_{"s0", "s1", "s2"};
};

/// Every bit of a split that a batch can show.
std::string bits_of(const Columns& columns, const ColumnSet& set) {
  std::string bits(reinterpret_cast<const char*>(set.labels), set.rows * sizeof(float));
  for (std::size_t i = 0; i < set.dense.size(); ++i) {
    bits.append(reinterpret_cast<const char*>(set.dense[i]), set.rows * sizeof(float));
  }
  for (std::size_t i = 0; i < set.sparse.size(); ++i) {
    for (const auto& list : columns.lists(i)) {
      bits += '|' + std::to_string(list.size()) + ':';
      bits.append(reinterpret_cast<const char*>(list.data()), list.size() * sizeof(std::int64_t));
    }
  }
  return bits;
}

struct Ran {
  std::string bits;
  Schema schema;
  std::size_t peak = 0;
  std::size_t promised = 0;
};

/// `once`: columns that repeat are stored once.
Ran ran(const std::vector<TransformSpec>& specs, std::uint64_t seed, const Options& options,
        bool once = false) {
  Columns columns = random_columns(seed);
  Schema schema = columns.schema();
  if (once) schema.repeated = groups();
  auto plan = TransformPlan::compile(specs, schema, options);
  INFO((plan ? "" : plan.error().message));
  REQUIRE(plan);
  const std::size_t before = columns.budget().used();
  const std::size_t promised =
      plan->peak_bytes(kRows, before) + stored_once_bytes(schema, kRows, before);
  if (once) {
    test::store_groups(columns.set(), groups(), columns.pool());
    REQUIRE(plan->run_repeated(columns.set(), columns.context()));
  }
  for (const StageInfo& stage : plan->stages()) {
    if (stage.kind != StageInfo::Kind::kTransform) continue;
    REQUIRE(plan->run(stage, columns.set(), columns.context()));
  }
  const std::size_t peak = columns.budget().peak();
  test::make_plain(columns.set(), plan->output().repeated, columns.pool());
  return {bits_of(columns, columns.set()), plan->output(), peak, promised};
}

TEST_CASE("random lists of operators give the same bits as written and as planned",
          "[actors][plan_rewrites]") {
  std::size_t moved = 0;
  for (std::uint64_t i = 0; i < 300; ++i) {
    CAPTURE(kSeed, i);
    auto specs = RandomList(kSeed + i).draw(2 + i % 14);
    if (i % 3 == 0) specs[specs.size() / 2].stage = "late";
    const Ran written = ran(specs, i, {.optimize = false});
    const Ran planned = ran(specs, i, {.optimize = true});
    CHECK(written.bits == planned.bits);
    CHECK(written.schema == planned.schema);
    CHECK(planned.peak <= planned.promised);
    const auto plan = TransformPlan::compile(specs, random_columns(i).schema());
    std::size_t last = 0;
    for (const PlannedStep& step : plan->as_run()) {
      if (step.operators.empty()) continue;
      moved += step.operators.front() < last ? 1 : 0;
      last = step.operators.front();
    }
  }
  CHECK(moved > 300);  // the planner did rewrite
}

TEST_CASE("random lists give the same bits over columns that are stored once",
          "[actors][plan_rewrites]") {
  std::size_t kept = 0;  // groups that reach the end
  for (std::uint64_t i = 0; i < 300; ++i) {
    CAPTURE(kSeed, i);
    auto specs = RandomList(kSeed + 1000 + i).draw(i % 14);
    if (i % 3 == 0 && !specs.empty()) specs[specs.size() / 2].stage = "late";
    const Ran plain = ran(specs, i, {.optimize = i % 2 == 0});
    const Ran once = ran(specs, i, {.optimize = i % 2 == 0}, true);
    CHECK(once.bits == plain.bits);
    CHECK(once.peak <= once.promised);
    CHECK(difference_in_names(once.schema, plain.schema).empty());
    kept += once.schema.repeated.size();
  }
  CHECK(kept > 200);
}

TEST_CASE("operators over one group run over its stored rows alone", "[actors][plan_rewrites]") {
  Schema schema{{"a"}, {{"h", 0}, {"u", 0}, {"item", 0}}};
  schema.repeated = {{.sparse = {0, 1}}};
  const std::vector<TransformSpec> specs{
      {"sigrid_hash", {"h"}, {{"max_value", std::int64_t{9}}}},
      {"first_x", {"h"}, {{"x", std::int64_t{2}}, {"output", std::string("latest")}}},
      {"cartesian", {"u", "item"}, {{"output", std::string("cross")}}}};
  const auto plan = TransformPlan::compile(specs, schema);
  REQUIRE(plan);
  // u became plain for the cross; h and latest, which was made of it, are stored once to the end.
  CHECK(plan->output().repeated == std::vector<FeatureGroup>{{.sparse = {0, 3}}});
}

TEST_CASE("the first failure is that of the list as written", "[actors][plan_rewrites]") {
  const auto udf = [](const std::string& function, const std::string& column) {
    return TransformSpec{
        "udf", {column}, {{"library", std::string(FOREBAY_UDF_LIBRARY)}, {"function", function}}};
  };
  const TransformSpec hash{"sigrid_hash", {"s*"}, {{"max_value", std::int64_t{9}}}};
  const TransformSpec sampling{"sampling", {}, {{"rate", 0.5}}};
  const TransformSpec clamp{"clamp", {"d*"}, {{"max", 50.0}}};
  const std::vector<std::vector<TransformSpec>> lists{
      {hash, clamp, udf("throws_at_13", "d0"), sampling},
      {hash, sampling, clamp, udf("throws_at_13", "d0")},
      {clamp, udf("throws_at_13", "d1"), udf("throws_at_13", "d0"), hash}};
  for (const auto& specs : lists) {
    const auto failure = [&](bool optimize) {
      Columns columns(8);
      columns.dense("d0", {1, 2, 3, 13, 5, 13, 1, 1}).dense("d1", {1, 13, 1, 1, 1, 1, 1, 1});
      columns.sparse("s0", Lists(8, {1, 2, 3}));
      const auto plan = TransformPlan::compile(specs, columns.schema(), {.optimize = optimize});
      REQUIRE(plan);
      const Status status = plan->run(columns.set(), columns.context());
      return status ? std::string() : status.error().message;
    };
    CHECK(failure(true) == failure(false));
  }
}

TEST_CASE("values that stay missing are kept where the caller wants them",
          "[actors][plan_rewrites]") {
  const std::vector<TransformSpec> specs{{"log1p", {"d*"}, {}}, {"clamp", {"d0"}, {{"max", 3.0}}}};
  const auto kept = TransformPlan::Missing::kKept;
  CHECK(ran(specs, 1, {.missing = kept, .optimize = false}).bits ==
        ran(specs, 1, {.missing = kept, .optimize = true}).bits);
  CHECK(ran(specs, 1, {.missing = kept}).bits != ran(specs, 1, {}).bits);
}

TEST_CASE("a plan is shown as written and as run", "[actors][plan_rewrites]") {
  const Schema schema{{"a", "b"}, {{"c", 0}}};
  const std::vector<TransformSpec> specs{
      {"fill", {"a"}, {{"value", 1.0}}}, {"log1p", {"*"}, {}}, {"sampling", {}, {{"rate", 0.5}}}};
  const auto plan = TransformPlan::compile(specs, schema);
  REQUIRE(plan);
  const auto run = plan->as_run();
  REQUIRE(run.size() == 3);
  CHECK(run[0].name == "sampling");
  CHECK(run[1].name == "fill, log1p");  // a cannot be missing any more
  CHECK(run[1].operators == std::vector<std::size_t>{0, 1});
  CHECK(run[1].columns == std::vector<std::string>{"a"});
  CHECK(run[2].name == "log1p, missing to 0");
  CHECK(run[2].columns == std::vector<std::string>{"b"});
  CHECK_FALSE(run[2].measured);
  const auto written = plan->as_written();
  REQUIRE(written.size() == 3);
  CHECK(written[1].name == "log1p");
  CHECK(written[1].columns == std::vector<std::string>{"a", "b"});
  CHECK(written[1].stage == "transform");
  CHECK(written[1].predicted == Approx(2 * run[2].predicted - 0.4));  // 0.2 is that of "to 0"
}

TEST_CASE("what a run has measured is shared among the operators of a pass",
          "[actors][plan_rewrites]") {
  Columns columns = random_columns(3);
  const auto plan = TransformPlan::compile(
      {{"spin", {}, {{"microseconds", 5.0}}}, {"fill", {"d0"}, {}}, {"log1p", {"d0"}, {}}},
      columns.schema());
  REQUIRE(plan);
  REQUIRE(plan->run(columns.set(), columns.context()));
  const auto written = plan->as_written();
  REQUIRE(written[0].measured);
  CHECK(*written[0].measured >= 5000);  // nanoseconds
  const auto run = plan->as_run();
  const auto chain = std::ranges::find(run, "fill, log1p", &PlannedStep::name);
  REQUIRE(chain != run.end());
  CHECK(*written[1].measured + *written[2].measured == Approx(*chain->measured));
}

}  // namespace
}  // namespace forebay
