#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/base/clock.h"
#include "core/base/enum_names.h"
#include "core/base/result.h"
#include "core/data/buffer_pool.h"

namespace forebay {

/// How the data of columns is compressed for sending.
enum class Compression : std::uint8_t {
  kNone = 0,
  kLz4 = 1,   ///< One block of LZ4.
  kZstd = 2,  ///< One frame of zstd, written at level 1.
};

inline constexpr EnumName<Compression> kCompressionNames[] = {
    {"none", Compression::kNone}, {"lz4", Compression::kLz4}, {"zstd", Compression::kZstd}};

/// Compresses `data` into a buffer of `pool`; returns an empty buffer if the result is not smaller.
Buffer compressed(std::span<const std::byte> data, Compression by, BufferPool& pool);

/// Decompresses `data` to exactly `size` bytes; kCorrupt if the result has another size. `size`
/// comes from the sender, so the caller must have checked it against a limit.
Result<Buffer> decompressed(std::span<const std::byte> data, Compression by, std::size_t size,
                            BufferPool& pool);

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

  /// Explains the last decision for the log by the rates that led to it; does not name it.
  const std::string& why() const { return why_; }

 private:
  Compression current_ = Compression::kNone;
  std::string why_ = "not measured yet";
};

/// Compresses and decompresses a sample, and measures both on the caller's thread. The ratio of a
/// sample that does not shrink is 1.
CompressionTrial try_compression(std::span<const std::byte> sample, Compression way,
                                 BufferPool& pool, const Clock& clock);

}  // namespace forebay
