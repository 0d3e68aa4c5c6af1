#include "actors/transform/order/operator_order.h"

#include <vector>

#include "tests/support/catch.h"

namespace forebay {
namespace {

using Order = std::vector<std::size_t>;
using ListChange = StepFacts::Lists;

ColumnRef dense(std::size_t slot) { return {ColumnKind::kDense, slot}; }
ColumnRef sparse(std::size_t slot) { return {ColumnKind::kSparse, slot}; }

StepFacts in_place(ColumnRef column, ListChange lists = ListChange::kOther) {
  return {.reads = {column}, .writes = {column}, .lists = lists};
}

StepFacts makes(ColumnRef from, ColumnRef to) {
  return {.reads = {from}, .writes = {to}, .inflates = true};
}

const StepFacts kSampling{.leaves_out_rows = true};

StepFacts may_fail(ColumnRef column) {
  StepFacts facts = in_place(column);
  facts.may_fail = true;
  return facts;
}

TEST_CASE("steps that leave out rows come first", "[actors][operator_order]") {
  CHECK(order_of({in_place(dense(0)), in_place(sparse(0)), kSampling}) == Order{2, 0, 1});
  CHECK(order_of({makes(sparse(0), sparse(1)), kSampling, in_place(sparse(1)), kSampling}) ==
        Order{1, 3, 0, 2});
}

TEST_CASE("no step leaves out rows before a step that may fail on them, nor the other way round",
          "[actors][operator_order]") {
  CHECK(order_of({in_place(dense(0)), may_fail(dense(1)), kSampling}) == Order{1, 2, 0});
  CHECK(order_of({kSampling, may_fail(dense(1)), in_place(dense(0))}) == Order{0, 1, 2});
  // What the failing step reads is made before it.
  CHECK(order_of({in_place(dense(0)), in_place(dense(1)), may_fail(dense(1)), kSampling}) ==
        Order{1, 2, 3, 0});
}

TEST_CASE("steps that may fail keep their order", "[actors][operator_order]") {
  CHECK_FALSE(may_swap(may_fail(dense(0)), may_fail(dense(1))));
  CHECK(may_swap(may_fail(dense(0)), in_place(dense(1))));
}

TEST_CASE("the steps of one column follow one another", "[actors][operator_order]") {
  CHECK(order_of({in_place(dense(0)), in_place(dense(1)), in_place(dense(0)),
                  in_place(dense(1))}) == Order{0, 2, 1, 3});
}

TEST_CASE("lists are cut before their ids are changed and filled", "[actors][operator_order]") {
  CHECK(order_of({in_place(sparse(0), ListChange::kEachId), in_place(sparse(0), ListChange::kFill),
                  in_place(sparse(0), ListChange::kCut)}) == Order{2, 0, 1});
  // Ids are not changed before they are filled in, and what reads the whole lists stays before.
  CHECK_FALSE(
      may_swap(in_place(sparse(0), ListChange::kFill), in_place(sparse(0), ListChange::kEachId)));
  CHECK(order_of({makes(sparse(0), sparse(1)), in_place(sparse(0), ListChange::kCut)}) ==
        Order{0, 1});
  // A cut of a copy is no cut of its source.
  StepFacts copied = makes(sparse(0), sparse(1));
  copied.lists = ListChange::kEachId;
  CHECK_FALSE(may_swap(copied, in_place(sparse(0), ListChange::kCut)));
}

TEST_CASE("a column is made while the one that it is made of is in the cache",
          "[actors][operator_order]") {
  // Without the last step nothing goes on with dense 0, and columns are made last.
  CHECK(order_of({makes(sparse(0), sparse(1)), in_place(dense(0)), in_place(sparse(0))}) ==
        Order{1, 0, 2});
  CHECK(order_of({in_place(sparse(0)), in_place(dense(0)), makes(sparse(0), sparse(1))}) ==
        Order{0, 2, 1});
  // What changes the column itself comes first where it may.
  CHECK(order_of({in_place(sparse(0)), in_place(sparse(0)), makes(sparse(0), sparse(1)),
                  in_place(dense(0))}) == Order{0, 1, 2, 3});
}

TEST_CASE("columns are made last, and changed while they are fresh", "[actors][operator_order]") {
  CHECK(order_of({makes(sparse(0), sparse(1)), makes(sparse(0), sparse(2)), in_place(sparse(1)),
                  in_place(dense(0)), in_place(sparse(2))}) == Order{3, 0, 2, 1, 4});
}

TEST_CASE("a step stays behind what it reads and before what changes that",
          "[actors][operator_order]") {
  CHECK_FALSE(may_swap(in_place(dense(0)), makes(dense(0), dense(1))));
  CHECK_FALSE(may_swap(makes(dense(0), dense(1)), in_place(dense(0))));
  CHECK(may_swap(makes(dense(0), dense(1)), makes(dense(0), dense(2))));
  CHECK(may_swap(in_place(dense(0)), in_place(sparse(0))));  // slots of two kinds
}

}  // namespace
}  // namespace forebay
