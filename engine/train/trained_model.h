#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "core/base/result.h"
#include "core/data/most_ids.h"
#include "core/data/schema.h"
#include "engine/job/job_spec.h"
#include "trainer/collective.h"
#include "trainer/model.h"

namespace forebay {

/// A job's model and the memory that the run has to reserve for it.
struct TrainedModel {
  std::unique_ptr<Model> model;
  /// Of the process with the model at its largest size, without a pipeline.
  std::uint64_t resident_bytes = 0;
};

/// Checks whether the whole process may use `resident` bytes; the error says what is missing.
using Fits = std::function<Status(std::uint64_t resident)>;

/// What batches have: their columns, and bounds of their ids.
struct BatchColumns {
  const Schema& schema;
  MostIds ids;
};

/// Checks what needs no dataset of the job's model; the error names the key. Before anything is
/// started, so that a wrong key costs no time.
Status check_model(const JobSpec& job);

/// Makes the model for batches of `columns`; with several ranks, this rank's part of it. Refuses a
/// model that does not fit with `beside` more bytes, with the sizes and before anything is made.
Result<TrainedModel> make_trained_model(const JobSpec& job, const BatchColumns& columns,
                                        Collective* ranks, const Fits& fits, std::uint64_t beside);

/// Removes the files of this rank's tiered tables. Call it once they are not used any more; later
/// runs start from checkpoints, not from these files.
void remove_tables(const TrainerSpec& spec, const Collective* ranks);

}  // namespace forebay
