#include "actors/stage/stage_pools.h"

#include <memory>
#include <utility>

namespace forebay {
namespace {

/// For a mailbox that the issuer of splits bounds already.
constexpr std::size_t kUnbounded = ~std::size_t{0} / 2;

std::vector<std::string> names_of(const Dataset& dataset) {
  std::vector<std::string> names;
  names.reserve(dataset.files().size());
  for (const DatasetFile& file : dataset.files()) names.push_back(file.name);
  return names;
}

}  // namespace

template <class Message, class Factory>
typename StagePool<Message>::Options StagePools::pool(const char* name, std::size_t mailbox_bytes,
                                                      Factory factory) {
  typename StagePool<Message>::Options made;
  made.name = name;
  made.mailbox_bytes = mailbox_bytes;
  made.order = PoolOrder::kLowestKey;
  made.measures_service = true;
  made.factory = std::move(factory);
  made.on_failure = options_.on_failure;
  return made;
}

StagePools::StagePools(Options options)
    : options_(std::move(options)),
      file_names_(names_of(options_.dataset)),
      transform_context_{options_.buffers, options_.seed, file_names_},
      transform_(pool<ColumnSplit>("transform", options_.mailbox_bytes,
                                   [this] {
                                     return std::make_unique<TransformWorker>(
                                         options_.plan, transform_context_, options_.sink,
                                         options_.clock);
                                   }),
                 options_.clock),
      shuffle_(pool<ColumnSplit>("shuffle", options_.mailbox_bytes,
                                 [this] {
                                   return std::make_unique<ShuffleWorker>(
                                       options_.rows, options_.buffers, transform_, options_.clock);
                                 }),
               options_.clock),
      decode_(pool<LoadedSplit>("decode", options_.mailbox_bytes,
                                [this] {
                                  return std::make_unique<DecodeWorker>(
                                      options_.dataset, options_.decode, options_.buffers, shuffle_,
                                      options_.clock);
                                }),
              options_.clock),
      load_(pool<LoadTask>("load", kUnbounded,
                           [this] {
                             return std::make_unique<LoadWorker>(options_.dataset, options_.buffers,
                                                                 decode_, options_.clock);
                           }),
            options_.clock) {}

void StagePools::make(LoadTask task) { load_.offer(std::move(task), 0); }

void StagePools::resize(Stage stage, std::size_t actors) {
  switch (stage) {
    case Stage::kLoad:
      return load_.resize(actors);
    case Stage::kDecode:
      return decode_.resize(actors);
    case Stage::kShuffle:
      return shuffle_.resize(actors);
    case Stage::kTransform:
      return transform_.resize(actors);
  }
}

void StagePools::cancel() {
  load_.cancel();
  decode_.cancel();
  shuffle_.cancel();
  transform_.cancel();
}

std::uint64_t StagePools::threads() const {
  return load_.actors() + decode_.actors() + shuffle_.actors() + transform_.actors();
}

std::vector<StageStats> StagePools::stats() const {
  return {{"load", load_.stats()},
          {"decode", decode_.stats()},
          {"shuffle", shuffle_.stats()},
          {"transform", transform_.stats()}};
}

}  // namespace forebay
