#pragma once

#include <string>

#include "core/wire/compression.h"

namespace forebay {

/// What a way to compress did to a sample: its bytes for each plain one, and plain bytes a second
/// of one CPU.
struct CompressionTrial {
  double ratio = 1;
  double compress_rate = 0;
  double restore_rate = 0;
};

/// What one node's way to the trainer was measured to carry, in bytes a second.
struct LinkLoad {
  double link_rate = 0;      ///< As sent, at most.
  double make_rate = 0;      ///< Plain, of all the node's CPUs while they compress nothing.
  double cpus = 1;           ///< Of the node.
  double receiver_cpus = 1;  ///< That may restore what it sends.
};

/// Chooses how columns are compressed, by what brings most of them to the trainer.
///
/// A way brings the least of what the link carries (link / ratio), what the node makes when each
/// byte costs its compression too, and what the receiver restores. A way that costs more CPU is
/// only taken for a tenth more, one that costs less as soon as it brings no less; so noise does not
/// make it swing. Pure.
class CompressionChoice {
 public:
  struct Trials {
    CompressionTrial lz4;
    CompressionTrial zstd;
  };

  /// Plain bytes a second that reach the trainer that way; `trial` of none is not looked at.
  static double rate(Compression way, const CompressionTrial& trial, const LinkLoad& load);

  /// Decides anew, beginning with the choice so far.
  Compression decide(const LinkLoad& load, const Trials& trials);

  Compression current() const { return current_; }

  /// The last decision for the log, with the rates that led to it.
  const std::string& why() const { return why_; }

 private:
  Compression current_ = Compression::kNone;
  std::string why_ = "not measured yet";
};

/// "none", "lz4" or "zstd".
const char* name_of(Compression way);

}  // namespace forebay
