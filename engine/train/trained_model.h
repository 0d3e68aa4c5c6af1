#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "core/base/result.h"
#include "core/data/schema.h"
#include "engine/job/job_spec.h"
#include "trainer/collective.h"
#include "trainer/model.h"

namespace forebay {

/// The model of a job and the memory that a run has to leave it.
struct TrainedModel {
  std::unique_ptr<Model> model;
  std::uint64_t resident_bytes = 0;  ///< Of the process with the model at its largest, no pipeline.
};

/// Whether there is room for so many bytes of the whole process; says what is short where not.
using Fits = std::function<Status(std::uint64_t resident)>;

/// Makes the model for rows of `schema`; of several ranks, this one's part of it. Refuses what does
/// not fit with `beside` more bytes, with the sizes and before anything is made.
Result<TrainedModel> make_trained_model(const JobSpec& job, const Schema& schema, Collective* ranks,
                                        const Fits& fits, std::uint64_t beside);

/// Removes what this rank's tables in tiers have on the disk: once nothing is asked of them any
/// more, as no run goes on from there but from a checkpoint.
void remove_tables(const TrainerSpec& spec, const Collective* ranks);

}  // namespace forebay
