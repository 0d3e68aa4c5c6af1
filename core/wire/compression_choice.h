#pragma once

#include <string>

#include "core/wire/compression.h"

namespace forebay {

/// The measured effect of a compression method on a sample: compressed bytes for each plain byte,
/// and plain bytes per second of one CPU.
struct CompressionTrial {
  double ratio = 1;
  double compress_rate = 0;
  double restore_rate = 0;
};

/// The measured capacity of the path from one node to the trainer, in bytes per second.
struct LinkLoad {
  double link_rate = 0;  ///< At most, as sent.
  double make_rate = 0;  ///< Plain bytes that all CPUs of the node make while they do not compress.
  double cpus = 1;       ///< Of the node.
  double receiver_cpus = 1;  ///< CPUs of the receiver that may decompress this node's data.
};

/// Chooses how columns are compressed, so that most plain bytes reach the trainer.
///
/// The rate of a method is the minimum of three: what the link carries (link / ratio), what the
/// node makes when each byte also costs its compression, and what the receiver decompresses. A
/// method that costs more CPU must be a tenth faster; a method that costs less is taken as soon as
/// it is not slower, so noise does not make the choice oscillate. Pure.
class CompressionChoice {
 public:
  struct Trials {
    CompressionTrial lz4;
    CompressionTrial zstd;
  };

  /// Plain bytes per second that reach the trainer with `way`; `trial` is ignored for kNone.
  static double rate(Compression way, const CompressionTrial& trial, const LinkLoad& load);

  /// Decides again, starting from the current choice.
  Compression decide(const LinkLoad& load, const Trials& trials);

  Compression current() const { return current_; }

  /// Explains the last decision for the log, with the rates that led to it.
  const std::string& why() const { return why_; }

 private:
  Compression current_ = Compression::kNone;
  std::string why_ = "not measured yet";
};

}  // namespace forebay
