#include "engine/convert/one_file.h"

namespace forebay {

OneFile::OneFile(const Dataset& dataset, std::uint32_t file, std::size_t first, std::size_t blocks)
    : dataset_(dataset), file_(file), first_(first), blocks_(blocks) {
  for (std::size_t i = 0; i < blocks; ++i) {
    const BlockRef block = dataset.block(first + i);
    bytes_ += block.loaded_bytes();
    decoded_ += block.decoded;
  }
}

std::vector<std::unique_ptr<const OneFile>> files_of(const Dataset& dataset) {
  std::vector<std::unique_ptr<const OneFile>> files;
  std::size_t first = 0;
  for (std::uint32_t file = 0; file < dataset.files().size(); ++file) {
    std::size_t end = first;
    while (end < dataset.num_blocks() && dataset.block(end).file == file) ++end;
    files.push_back(std::make_unique<const OneFile>(dataset, file, first, end - first));
    first = end;
  }
  return files;
}

}  // namespace forebay
