#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "actors/transform/kernels.h"
#include "actors/transform/op_table.h"

namespace forebay {
namespace {

/// The lists of one row, one of each source.
using RowLists = std::span<const std::span<const std::int64_t>>;
/// Their lengths, or the largest ones of any row: SizeBound::kAnyLength if that is not known.
using Lengths = std::span<const std::size_t>;

/// The product, but at most SizeBound::kAnyLength.
std::size_t times(std::size_t x, std::size_t y) {
  return x > SizeBound::kAnyLength / std::max<std::size_t>(y, 1) ? SizeBound::kAnyLength : x * y;
}

/// Makes one sparse column out of several, row by row.
///
/// `Rule` has two functions, and kKeepsSum: whether it makes of no row more ids than the row has in
/// all sources. `count(lengths)` returns a bound on the ids that a row produces, no lower
/// for longer lists. `row(lists, scratch, to)` writes them and returns their end; `scratch` has
/// space for twice all ids of the row.
template <class Rule>
class ListStep final : public TransformPlan::Step {
 public:
  ListStep(std::vector<std::size_t> sources, std::size_t to, Rule rule)
      : sources_(std::move(sources)), to_(to), rule_(rule) {}

  StepFacts facts() const override {
    StepFacts facts{.writes = {{ColumnKind::kSparse, to_}}, .inflates = true, .cost = 20};
    for (const std::size_t source : sources_) facts.reads.push_back({ColumnKind::kSparse, source});
    return facts;
  }

  Status run(StepRun& run) const override {
    const std::size_t rows = run.columns.rows;
    std::vector<SparseColumn> sources;
    for (const std::size_t source : sources_) sources.push_back(run.columns.sparse[source]);
    std::vector<std::span<const std::int64_t>> lists(sources.size());
    std::vector<std::size_t> lengths(sources.size());
    const auto visit = [&](std::size_t row) {
      for (std::size_t i = 0; i < sources.size(); ++i) {
        lists[i] = ids_of(sources[i], row);
        lengths[i] = lists[i].size();
      }
    };
    std::size_t total = 0;
    std::size_t longest = 0;
    for (std::size_t row = 0; row < rows; ++row) {
      visit(row);
      total += rule_.count(lengths);
      longest = std::max(longest, std::reduce(lengths.begin(), lengths.end()));
    }
    if (total > std::numeric_limits<std::int32_t>::max()) {
      return fail(Code::kInvalid, "a split would get more than 2^31 ids; make the lists shorter");
    }
    const Buffer scratch = run.context.pool.take(scratch_bytes(longest));
    SparseColumn result = hold_sparse(run, total);
    std::int64_t* to = result.values;
    for (std::size_t row = 0; row < rows; ++row) {
      visit(row);
      to = rule_.row(lists, scratch.as<std::int64_t>(), to);
      result.offsets[row + 1] = static_cast<std::int32_t>(to - result.values);
    }
    put_column(run.columns.sparse, to_, result);
    return {};
  }

  void bound(SizeBound& size) const override {
    const std::size_t ids = size.ids(sources_);
    std::vector<std::size_t> lengths;
    for (const std::size_t source : sources_) lengths.push_back(size.longest(source));
    const std::size_t longest = rule_.count(lengths);
    const std::size_t of_rows = times(size.rows(), longest);
    size.hold_sparse(to_, Rule::kKeepsSum ? std::min(ids, of_rows) : of_rows, longest);
    size.borrow(scratch_bytes(ids));
  }

 private:
  static std::size_t scratch_bytes(std::size_t ids) { return 2 * ids * sizeof(std::int64_t); }

  std::vector<std::size_t> sources_;
  std::size_t to_;
  Rule rule_;
};

/// Makes the step over `sources`; the result replaces the first source or goes to `output`.
template <class Rule>
Steps list_steps(OpInput& input, const std::vector<std::size_t>& sources, Rule rule,
                 std::int64_t bound = 0) {
  Steps steps;
  if (sources.empty()) return steps;
  const Targets targets = input.columns.same_kind({}, {sources.front()});
  if (targets.sparse.empty()) return steps;
  const std::size_t to = targets.sparse.front().to;
  input.columns.schema().sparse[to].bound = bound;
  steps.push_back(std::make_unique<ListStep<Rule>>(sources, to, rule));
  return steps;
}

/// Cuts lists in place.
struct FirstX {
  std::int64_t most = 1;

  std::size_t longest() const { return static_cast<std::size_t>(most); }
  void operator()(StepRun& run, const SparseColumn& column) const {
    if (column.offsets == nullptr) return;
    std::int32_t first = column.offsets[0];
    std::int64_t* to = column.values + first;
    for (std::size_t row = 0; row < run.columns.rows; ++row) {
      const std::int32_t last = column.offsets[row + 1];
      const auto kept = static_cast<std::int32_t>(std::min<std::int64_t>(last - first, most));
      to = std::copy_n(column.values + first, kept, to);
      column.offsets[row + 1] = static_cast<std::int32_t>(to - column.values);
      first = last;
    }
  }
};

Steps make_first_x(OpInput& input) {
  const std::int64_t most = input.params.integer("x", {.low = 1});
  Steps steps;
  add_list_steps(steps, input.columns.same_kind({}, input.columns.sparse()).sparse, FirstX{most},
                 StepFacts::Lists::kCut);
  return steps;
}

/// Hashes of n consecutive ids of the columns' lists, laid end to end.
struct NGram {
  std::int64_t n = 1;

  static constexpr bool kKeepsSum = true;

  std::size_t count(Lengths lengths) const {
    std::size_t all = 0;
    for (const std::size_t length : lengths) {
      if (length > SizeBound::kAnyLength - all) return SizeBound::kAnyLength;
      all += length;
    }
    const auto size = static_cast<std::size_t>(n);
    return all < size ? 0 : all - size + 1;
  }
  std::int64_t* row(RowLists lists, std::int64_t* scratch, std::int64_t* to) const {
    std::int64_t* end = scratch;
    for (const auto list : lists) end = std::copy(list.begin(), list.end(), end);
    for (const std::int64_t* gram = scratch; end - gram >= n; ++gram) *to++ = hash(gram);
    return to;
  }

 private:
  std::int64_t hash(const std::int64_t* gram) const {
    std::uint64_t mixed = static_cast<std::uint64_t>(n);
    for (std::int64_t i = 0; i < n; ++i) {
      mixed = hash_128_to_64(mixed, twang_mix64(static_cast<std::uint64_t>(gram[i])));
    }
    return static_cast<std::int64_t>(mixed);
  }
};

Steps make_n_gram(OpInput& input) {
  const std::int64_t n = input.params.integer("n", {1, 64});
  return list_steps(input, input.columns.sparse(), NGram{n});
}

/// Hashes of all pairs of two lists, the first list's ids in the outer loop.
struct Cartesian {
  std::int64_t max_ids = 1;

  static constexpr bool kKeepsSum = false;

  std::size_t count(Lengths lengths) const {
    return std::min(times(lengths[0], lengths[1]), static_cast<std::size_t>(max_ids));
  }
  std::int64_t* row(RowLists lists, std::int64_t*, std::int64_t* to) const {
    const std::int64_t* const end = to + max_ids;
    for (const std::int64_t x : lists[0]) {
      for (const std::int64_t y : lists[1]) {
        if (to == end) return to;
        const auto upper = twang_mix64(static_cast<std::uint64_t>(x));
        const auto lower = twang_mix64(static_cast<std::uint64_t>(y));
        *to++ = static_cast<std::int64_t>(hash_128_to_64(upper, lower));
      }
    }
    return to;
  }
};

Steps make_cartesian(OpInput& input) {
  const std::int64_t max_ids = input.params.integer_or("max_ids", 64, {1, 1 << 16});
  return list_steps(input, input.columns.sparse_pair(), Cartesian{max_ids});
}

/// The ids of the first list that are also in the second, each once, in the first list's order.
struct Intersection {
  static constexpr bool kKeepsSum = true;

  std::size_t count(Lengths lengths) const { return std::min(lengths[0], lengths[1]); }
  std::int64_t* row(RowLists lists, std::int64_t* scratch, std::int64_t* to) const {
    std::int64_t* const other = scratch;
    std::int64_t* const other_end = std::copy(lists[1].begin(), lists[1].end(), other);
    std::sort(other, other_end);
    std::int64_t* const taken = other_end;
    std::int64_t* taken_end = taken;
    for (const std::int64_t id : lists[0]) {
      if (!std::binary_search(other, other_end, id)) continue;
      std::int64_t* const place = std::lower_bound(taken, taken_end, id);
      if (place != taken_end && *place == id) continue;
      std::copy_backward(place, taken_end, taken_end + 1);
      *place = id;
      ++taken_end;
      *to++ = id;
    }
    return to;
  }
};

Steps make_intersection(OpInput& input) {
  const auto pair = input.columns.sparse_pair();
  if (pair.empty()) return {};
  const std::int64_t bound = input.columns.schema().sparse[pair[0]].bound;
  return list_steps(input, pair, Intersection{}, bound);
}

/// Adds a column beside each source: the index of each id in its list.
Steps make_enumerate(OpInput& input) {
  const std::int64_t start = input.params.integer_or("start", 0, {0, std::int64_t{1} << 62});
  const std::vector<std::size_t> sources = input.columns.sparse();
  input.columns.check_output(sources.size());
  std::vector<ColumnTarget> targets;
  for (const std::size_t from : sources) {
    const std::string source = input.columns.schema().sparse[from].name;
    const std::string name = input.columns.output_name(source, source + "_index");
    targets.push_back({from, input.columns.add(ColumnKind::kSparse, {name, 0}), false});
  }
  const auto number = [=](StepRun& run, const SparseColumn& places) {
    for (std::size_t row = 0; row < run.columns.rows; ++row) {
      std::int64_t place = start;
      for (std::int64_t& id : ids_of(places, row)) id = place++;
    }
  };
  Steps steps;
  add_list_steps(steps, targets, number, StepFacts::Lists::kOther);
  return steps;
}

}  // namespace

std::vector<OpEntry> list_ops() {
  return {
      {{"first_x", "sparse", "sparse", "x (>= 1)", "the first min(x, length) ids of each list",
        "an empty list stays empty"},
       {"x", "output"},
       make_first_x},
      {{"n_gram", "sparse, any number", "one sparse", "n (1 to 64)",
        "a hash of each n consecutive ids of the columns' lists laid end to end",
        "fewer than n ids give an empty list"},
       {"n", "output"},
       make_n_gram},
      {{"cartesian", "2 sparse", "one sparse", "max_ids = 64 (a row, at most 65536)",
        "a hash of each pair of an id of the first list and one of the second; the first max_ids "
        "pairs, the first list in the outer loop",
        "an empty list on either side gives an empty list"},
       {"max_ids", "output"},
       make_cartesian},
      {{"id_list_intersection", "2 sparse", "one sparse", "",
        "the ids of the first list that the second has too, each once, in the first's order",
        "an empty list on either side gives an empty list"},
       {"output"},
       make_intersection},
      {{"enumerate", "sparse", "a further sparse", "start = 0; output = \"{}_index\"",
        "the place of each id in its list: start, start + 1, …; the source stays",
        "an empty list gives an empty list"},
       {"start", "output"},
       make_enumerate},
  };
}

}  // namespace forebay
