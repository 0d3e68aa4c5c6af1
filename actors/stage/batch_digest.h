#pragma once

#include "core/data/batch.h"
#include "core/data/digest.h"

namespace forebay {

/// The digest of a batch's labels, dense values, lengths and ids, then weights and extra columns
/// where there are any: h(k) of CLI.md. It is the same whether the batch has the lists of all rows
/// or, with Batch::lists_once, those of different rows alone. Any thread.
Digest digest_of(const Batch& batch);

}  // namespace forebay
