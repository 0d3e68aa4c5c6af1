#pragma once

#include <memory>

#include "actors/format/format.h"
#include "actors/pipeline_spec.h"
#include "core/base/result.h"

namespace forebay {

/// Opens the format `npy`: rows as MLPerf's and TorchRec's scripts write them, in trios of files
/// (see actors/format/npy/trio_files.h). `first` is a JoinedFile of the first trio. The columns are
/// `label`, I1… (of P_dense) and C1… (of P_sparse); all of them where `columns` names none. Fails
/// as OpenUnitFormat says.
Result<std::unique_ptr<UnitFormat>> open_npy(const DatasetSpec& dataset, const ColumnSpec& columns,
                                             const InputFile& first);

}  // namespace forebay
