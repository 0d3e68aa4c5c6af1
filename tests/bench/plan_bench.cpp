// The plan of operators against the list as written: a badly ordered list of 30 operators, and
// random short lists, these also against the best of all orders that give the same batch. CPU time
// of one thread, interleaved; medians.
//
//   plan_bench [LISTS [SEED]]

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/transform/transform.h"
#include "core/base/clock.h"
#include "core/base/random.h"
#include "core/data/digest.h"

namespace forebay {
namespace {

constexpr std::size_t kRows = 4096;
constexpr int kRounds = 15;

using Params = std::map<std::string, ParamValue>;
using List = std::vector<TransformSpec>;

/// A split to copy from: dense columns with a tenth of them missing, and lists of 0 to 39 ids.
class Source {
 public:
  Source(std::size_t dense, std::size_t sparse) {
    Random random(1);
    for (std::size_t i = 0; i < dense; ++i) {
      schema_.dense.push_back("d" + std::to_string(i));
      auto& values = dense_.emplace_back(kRows);
      for (float& value : values) {
        value = random.below(10) == 0 ? missing_value() : static_cast<float>(random.below(10000));
      }
    }
    for (std::size_t i = 0; i < sparse; ++i) {
      schema_.sparse.push_back({"s" + std::to_string(i), 0});
      auto& offsets = offsets_.emplace_back(kRows + 1, 0);
      auto& ids = ids_.emplace_back();
      for (std::size_t row = 0; row < kRows; ++row) {
        for (std::uint64_t n = random.below(40); n > 0; --n) {
          ids.push_back(static_cast<std::int64_t>(random.below(1 << 20)));
        }
        offsets[row + 1] = static_cast<std::int32_t>(ids.size());
      }
    }
  }

  const Schema& schema() const { return schema_; }

  ColumnSet copy(BufferPool& pool) const {
    ColumnSet set;
    set.rows = kRows;
    set.labels = hold(set, pool, std::vector<float>(kRows, 1));
    std::vector<RowOrigin> origins(kRows);
    for (std::size_t row = 0; row < kRows; ++row) origins[row] = RowOrigin::of(0, 97 * row);
    set.origins = hold(set, pool, origins);
    for (const auto& values : dense_) set.dense.push_back(hold(set, pool, values));
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      set.sparse.push_back({hold(set, pool, ids_[i]), hold(set, pool, offsets_[i])});
    }
    return set;
  }

 private:
  template <class T>
  static T* hold(ColumnSet& set, BufferPool& pool, const std::vector<T>& values) {
    set.slabs.push_back(pool.take(values.size() * sizeof(T)));
    std::memcpy(set.slabs.back().data(), values.data(), values.size() * sizeof(T));
    return set.slabs.back().as<T>();
  }

  Schema schema_;
  std::vector<std::vector<float>> dense_;
  std::vector<std::vector<std::int64_t>> ids_;
  std::vector<std::vector<std::int32_t>> offsets_;
};

class Bench {
 public:
  explicit Bench(Source source) : source_(std::move(source)) {}

  std::optional<TransformPlan> plan(const List& list, bool optimize) const {
    auto plan = TransformPlan::compile(list, source_.schema(), {.optimize = optimize});
    if (!plan) return std::nullopt;
    return std::move(*plan);
  }
  /// Of a list that can be compiled.
  TransformPlan valid_plan(const List& list, bool optimize) const {
    auto plan = TransformPlan::compile(list, source_.schema(), {.optimize = optimize});
    if (!plan) std::fprintf(stderr, "%s\n", plan.error().message.c_str());
    if (!plan) std::exit(1);
    return std::move(*plan);
  }

  /// Nanoseconds a row of the split.
  double run(const TransformPlan& plan) {
    ColumnSet set = source_.copy(pool_);
    return run(plan, set);
  }

  /// Hashes the columns by name, as their order depends on the list as written.
  std::string digest(const TransformPlan& plan) {
    ColumnSet set = source_.copy(pool_);
    run(plan, set);
    std::map<std::string, std::string> columns;
    for (std::size_t i = 0; i < set.dense.size(); ++i) {
      columns["d " + plan.output().dense[i]] =
          Digest::of(set.dense[i], set.rows * sizeof(float)).hex();
    }
    for (std::size_t i = 0; i < set.sparse.size(); ++i) {
      const SparseColumn& column = set.sparse[i];
      columns["s " + plan.output().sparse[i].name] =
          Digest::of(column.values, column.count(set.rows) * sizeof(std::int64_t)).hex() +
          Digest::of(column.offsets, (set.rows + 1) * sizeof(std::int32_t)).hex();
    }
    std::string text = std::to_string(set.rows);
    for (const auto& [name, hash] : columns) text += name + hash;
    return text;
  }

 private:
  double run(const TransformPlan& plan, ColumnSet& set) {
    const auto start = thread_cpu_time();
    if (auto status = plan.run(set, {pool_, 7, files_}); !status) {
      std::fprintf(stderr, "%s\n", status.error().message.c_str());
      std::exit(1);
    }
    return 1e9 * in_seconds(thread_cpu_time() - start) / kRows;
  }

  const Source source_;
  const std::vector<std::string> files_{"made up"};
  MemoryBudget budget_{std::size_t{4} << 30};
  BufferPool pool_{budget_};
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

/// Medians of interleaved rounds, one for each plan.
std::vector<double> times(Bench& bench, const std::vector<const TransformPlan*>& plans) {
  std::vector<std::vector<double>> all(plans.size());
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < plans.size(); ++i) all[i].push_back(bench.run(*plans[i]));
  }
  std::vector<double> medians;
  for (auto& values : all) medians.push_back(median(std::move(values)));
  return medians;
}

std::int64_t whole(std::int64_t value) { return value; }

/// What a job collects over the years: features made first, lists hashed before they are cut, the
/// operators of a column far from one another, rows sampled at the end.
List badly_ordered(double rate) {
  List list;
  const auto on = [&](const std::string& op, const std::string& columns, Params params = {}) {
    list.push_back({op, {columns}, std::move(params)});
  };
  const auto made = [&](const std::string& op, std::vector<std::string> columns,
                        const std::string& output, Params params) {
    params["output"] = output;
    list.push_back({op, std::move(columns), std::move(params)});
  };
  const auto hash = [](std::int64_t most, std::int64_t salt) {
    return Params{{"max_value", whole(most)}, {"salt", whole(salt)}};
  };
  const auto buckets = Params{{"borders", std::vector<double>{10, 100, 1000, 5000}}};
  on("sigrid_hash", "s*", hash(1 << 22, 1));
  on("fill", "d*", {{"value", 0.0}});
  made("cartesian", {"s0", "s1"}, "s0_s1", {{"max_ids", whole(64)}});
  made("cartesian", {"s2", "s3"}, "s2_s3", {{"max_ids", whole(64)}});
  made("n_gram", {"s4"}, "s4_2", {{"n", whole(2)}});
  made("n_gram", {"s5", "s6"}, "s5_s6_3", {{"n", whole(3)}});
  made("bucketize", {"d0"}, "d0_b", buckets);
  made("bucketize", {"d1"}, "d1_b", buckets);
  made("one_hot", {"s7"}, "s7_hot", {{"size", whole(16)}});
  on("positive_modulus", "s*", {{"modulus", whole(1000000)}});
  list.push_back({"clamp", {"d?", "d??"}, {{"min", 0.0}, {"max", 9000.0}}});
  made("id_list_intersection", {"s8", "s9"}, "s8_s9", {});
  made("enumerate", {"s10"}, "s10_at", {});
  made("jaccard", {"s11", "s12"}, "s11_s12", {});
  made("cosine", {"s13", "s14"}, "s13_s14", {});
  on("sigrid_hash", "s0_s1", hash(1 << 20, 2));
  on("sigrid_hash", "s2_s3", hash(1 << 20, 3));
  on("sigrid_hash", "s4_2", hash(1 << 20, 4));
  on("sigrid_hash", "s5_s6_3", hash(1 << 20, 5));
  on("log1p", "d*");
  on("first_x", "s0_s1", {{"x", whole(16)}});
  on("first_x", "s2_s3", {{"x", whole(16)}});
  on("first_x", "s1[0-9]", {{"x", whole(5)}});
  on("first_x", "s[0-9]", {{"x", whole(10)}});
  made("one_hot", {"d0_b"}, "d0_hot", {{"size", whole(5)}});
  made("one_hot", {"d1_b"}, "d1_hot", {{"size", whole(5)}});
  on("fill", "s8_s9", {{"value", whole(0)}});
  on("fill", "s1[5-9]", {{"value", whole(0)}});
  on("clamp", "s1[5-9]", {{"min", whole(0)}, {"max", whole(999999)}});
  list.push_back({"sampling", {}, {{"rate", rate}}});
  return list;
}

void measure_badly_ordered() {
  Bench bench(Source(40, 20));
  for (const double rate : {1.0, 0.5, 0.3}) {
    const List list = badly_ordered(rate);
    const TransformPlan written = bench.valid_plan(list, false);
    const TransformPlan planned = bench.valid_plan(list, true);
    const auto took = times(bench, {&written, &planned});
    std::printf(
        "30 operators, %3.0f %% of the rows: %7.0f ns a row as written, %7.0f as planned: "
        "%.2f x, digests %s\n",
        100 * rate, took[0], took[1], took[0] / took[1],
        bench.digest(written) == bench.digest(planned) ? "equal" : "DIFFER");
  }
}

List random_list(Random& random) {
  const auto d = [&] { return "d" + std::to_string(random.below(3)); };
  const auto s = [&] { return "s" + std::to_string(random.below(3)); };
  List list;
  for (std::size_t i = 0; i < 5; ++i) {
    const std::string made = "m" + std::to_string(i);
    switch (random.below(10)) {
      case 0:
        list.push_back({"sampling", {}, {{"rate", 0.5}, {"salt", whole(static_cast<int>(i))}}});
        break;
      case 1:
        list.push_back({"log1p", {"d*"}, {}});
        break;
      case 2:
        list.push_back({"clamp", {"d*"}, {{"min", 1.0}, {"max", 500.0}}});
        break;
      case 3:
        list.push_back({"fill", {"d*"}, {{"value", 2.0}}});
        break;
      case 4:
        list.push_back(
            {"bucketize", {d()}, {{"borders", std::vector<double>{1, 10, 100}}, {"output", made}}});
        break;
      case 5:
        list.push_back({"sigrid_hash", {"s*"}, {{"max_value", whole(100000)}}});
        break;
      case 6:
        list.push_back({"first_x", {"s*"}, {{"x", whole(8)}}});
        break;
      case 7:
        list.push_back({"positive_modulus", {"s*"}, {{"modulus", whole(5000)}}});
        break;
      case 8:
        list.push_back({"cartesian", {s(), s()}, {{"max_ids", whole(32)}, {"output", made}}});
        break;
      default:
        list.push_back({"n_gram", {s()}, {{"n", whole(2)}, {"output", made}}});
    }
  }
  return list;
}

/// The time of the best of all orders of the list that give the digest.
double best_order(Bench& bench, const List& list, const std::string& digest) {
  std::vector<TransformPlan> plans;
  std::vector<std::size_t> order(list.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  do {
    List moved;
    for (const std::size_t i : order) moved.push_back(list[i]);
    auto plan = bench.plan(moved, false);
    if (plan && bench.digest(*plan) == digest) plans.push_back(std::move(*plan));
  } while (std::next_permutation(order.begin(), order.end()));
  std::vector<const TransformPlan*> all;
  for (const TransformPlan& plan : plans) all.push_back(&plan);
  const auto took = times(bench, all);
  return *std::min_element(took.begin(), took.end());
}

void measure_random(std::size_t lists, std::uint64_t seed) {
  Bench bench(Source(3, 3));
  Random random(seed);
  std::vector<double> over_written;
  std::vector<double> over_best;
  std::size_t differ = 0;
  for (std::size_t i = 0; i < lists; ++i) {
    const List list = random_list(random);
    const TransformPlan written = bench.valid_plan(list, false);
    const TransformPlan planned = bench.valid_plan(list, true);
    const std::string digest = bench.digest(written);
    differ += bench.digest(planned) == digest ? 0 : 1;
    const double best = best_order(bench, list, digest);
    const auto took = times(bench, {&written, &planned});
    over_written.push_back(took[0] / took[1]);
    over_best.push_back(best / took[1]);
  }
  std::printf(
      "%zu random lists of 5, speed of the plan (median, least): over the list as written "
      "%.2f, %.2f; over the best order %.2f, %.2f; digests that differ: %zu\n",
      lists, median(over_written), *std::ranges::min_element(over_written), median(over_best),
      *std::ranges::min_element(over_best), differ);
}

}  // namespace
}  // namespace forebay

int main(int argc, char** argv) {
  forebay::measure_badly_ordered();
  forebay::measure_random(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 50,
                          argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
}
