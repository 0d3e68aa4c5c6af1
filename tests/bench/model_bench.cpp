// The network's hand-written pass against libtorch's autograd, on the MLPs published for Criteo and
// on the default ones: whole steps of CpuModel and AutogradModel in turns on the same batches, and
// the pass of one group of rows alone. Prints medians. An argument is a part of a network's name.

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <ATen/Parallel.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>

#include "core/base/median.h"
#include "engine/process/memory_use.h"
#include "trainer/module.h"
#include "trainer/torch/module_functions.h"
#include "trainer/torch/network/network.h"
#include "trainer/train_bench.h"

namespace forebay {
namespace {

using Batches = std::vector<std::shared_ptr<const Batch>>;

constexpr std::int64_t kTableRows = 1 << 14;
constexpr int kTurns = 3;

struct Mlps {
  const char* name;
  std::vector<int> bottom;  ///< Without the last layer, which is as wide as a vector.
  std::vector<int> top;
};

struct Case {
  TrainerSpec spec;
  ModelShape shape;
};

Case case_of(const Mlps& mlps, int dim) {
  Case made;
  made.spec.embedding_dim = dim;
  made.spec.bottom_mlp = mlps.bottom;
  made.spec.bottom_mlp.push_back(dim);
  made.spec.top_mlp = mlps.top;
  made.spec.max_table_rows = kTableRows;
  Schema schema;
  schema.dense.assign(13, "dense");
  schema.sparse.assign(26, {.name = "sparse"});
  made.shape = shape_of(made.spec, schema).value();
  return made;
}

/// The seconds of `work`.
template <class Work>
double seconds_of(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// CpuModel divides its work among threads itself; autograd leaves that to libtorch and OpenBLAS.
void give_libraries(int threads) {
  at::set_num_threads(threads);
  const auto set = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
  if (set != nullptr) set(threads);
}

double seconds_of_steps(Model& model, const Batches& batches) {
  model.step(*batches.front()).value();
  return seconds_of([&] {
    for (std::size_t i = 1; i < batches.size(); ++i) model.step(*batches[i]).value();
  });
}

/// The seconds of the pass of one group by hand and on autograd's tape.
class GroupPass {
 public:
  GroupPass(const ModelShape& shape, std::size_t rows)
      : network_(make_network(shape)),
        values_(size_of(network_->parameters())),
        sums_(values_.size()),
        rows_(rows),
        dense_(at::ones({static_cast<std::int64_t>(rows), 13})),
        vectors_(at::zeros({static_cast<std::int64_t>(rows), 26, shape.embedding_dim})) {
    initialise(network_->parameters(), 1, values_);
    weights_ = views_over(network_->parameters(), values_.data());
    sum_views_ = views_over(network_->parameters(), sums_.data());
    for (const at::Tensor& weight : weights_) leaves_.push_back(weight.detach().requires_grad_());
    worker_ = network_->make_worker(weights_);
    gradients_.resize(26 * rows * shape.row_width());
  }

  double by_hand() {
    const c10::InferenceMode no_autograd;
    return seconds_of([&] {
      worker_->begin(rows_);
      worker_->forward(dense_);
      std::ranges::fill(worker_->logit_gradients(), 0.1f);
      const std::size_t width = gradients_.size() / 26 / rows_;
      worker_->backward(dense_, {sum_views_}, {gradients_.data(), rows_ * width, width});
    });
  }

  double on_tape() {
    return seconds_of([&] {
      const at::Tensor vectors = vectors_.detach().requires_grad_();
      const at::Tensor logits = network_->record(leaves_, dense_, vectors);
      // As by hand, gradients are added to sums.
      for (std::size_t i = 0; i < leaves_.size(); ++i) leaves_[i].mutable_grad() = sum_views_[i];
      logits.backward(at::ones({static_cast<std::int64_t>(rows_)}));
    });
  }

 private:
  const std::unique_ptr<const Network> network_;
  std::vector<float> values_, sums_, gradients_;
  const std::size_t rows_;
  at::Tensor dense_, vectors_;
  std::vector<at::Tensor> weights_, sum_views_, leaves_;
  std::unique_ptr<GroupWorker> worker_;
};

double ratio_of_passes(const ModelShape& shape, std::size_t batch_rows) {
  GroupPass pass(shape, std::min(batch_rows / kModelShares, kModelGroupRows));
  std::vector<double> ratios;
  for (int turn = 0; turn < 10 * kTurns; ++turn) {
    const double by_hand = pass.by_hand();
    ratios.push_back(pass.on_tape() / by_hand);
  }
  return median(ratios);
}

void measure_steps(const Mlps& mlps, Case& at, std::size_t rows, int threads) {
  const ZipfBatches made({.rows = rows, .table_rows = kTableRows});
  Batches batches;
  for (std::uint64_t i = 0; i < (rows > 4096 ? 3 : 5); ++i) batches.push_back(made.make(i));
  at.spec.threads = threads;
  const auto by_hand = make_cpu_model(at.spec, at.shape).value();
  const auto autograd = make_autograd_model(at.spec, at.shape).value();
  std::vector<double> hand_rates, autograd_rates, ratios;
  const double trained = static_cast<double>(rows * (batches.size() - 1));
  for (int turn = 0; turn < kTurns; ++turn) {
    give_libraries(1);
    const double hand = seconds_of_steps(*by_hand, batches);
    give_libraries(threads);
    const double tape = seconds_of_steps(*autograd, batches);
    give_libraries(1);
    hand_rates.push_back(trained / hand);
    autograd_rates.push_back(trained / tape);
    ratios.push_back(tape / hand);
  }
  std::printf("%-9s %4d %6zu %8d %10.0f %10.0f %7.2f", mlps.name, at.spec.embedding_dim, rows,
              threads, median(hand_rates), median(autograd_rates), median(ratios));
  if (threads == 1) std::printf(" %7.2f", ratio_of_passes(at.shape, rows));
  std::printf("\n");
  std::fflush(stdout);
}

void run(const std::string& only) {
  std::printf("network    dim   rows  threads     by hand   autograd   ratio  passes alone\n");
  const std::vector<Mlps> all = {{"default", {64}, {64, 1}},
                                 {"published", {512, 256, 64}, {512, 256, 1}},
                                 {"large", {512, 256, 64}, {1024, 1024, 512, 256, 1}}};
  for (const Mlps& mlps : all) {
    if (std::string(mlps.name).find(only) == std::string::npos) continue;
    for (const int dim : {16, 64, 128}) {
      Case at = case_of(mlps, dim);
      for (const std::size_t rows : {2048U, 8192U}) {
        for (const int threads : {1, 2}) measure_steps(mlps, at, rows, threads);
      }
    }
  }
}

}  // namespace
}  // namespace forebay

int main(int argc, char** argv) {
  // libtorch's libraries read these variables while they are loaded, so before main().
  if (std::getenv("OPENBLAS_NUM_THREADS") == nullptr) {
    forebay::set_library_variables();
    execv("/proc/self/exe", argv);
  }
  forebay::bound_heap_arenas();
  forebay::run(argc > 1 ? argv[1] : "");
}
