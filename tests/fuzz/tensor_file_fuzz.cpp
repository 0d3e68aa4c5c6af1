#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/check.h"
#include "trainer/saving/tensor_file.h"

namespace {

/// A file in memory; its path is valid while the object lives.
class MemoryFile {
 public:
  MemoryFile(const std::uint8_t* data, std::size_t size) : descriptor_(::memfd_create("fuzz", 0)) {
    FOREBAY_CHECK(descriptor_ >= 0);
    FOREBAY_CHECK(::write(descriptor_, data, size) == static_cast<ssize_t>(size));
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  const int descriptor_;
};

/// The input without its first byte is the header; so many zeros follow it.
std::vector<std::uint8_t> with_length(const std::uint8_t* data, std::size_t size) {
  std::vector<std::uint8_t> file(sizeof(std::uint64_t));
  const std::uint64_t length = size - 1;
  for (std::size_t i = 0; i < file.size(); ++i) {
    file[i] = static_cast<std::uint8_t>(length >> (8 * i));
  }
  file.insert(file.end(), data + 1, data + size);
  file.resize(file.size() + data[0]);
  return file;
}

void check(const std::vector<std::uint8_t>& bytes) {
  const MemoryFile file(bytes.data(), bytes.size());
  auto opened = forebay::TensorFile::open(file.path(), forebay::StateTensor::Part::kWeights);
  if (!opened) {
    FOREBAY_CHECK(opened.error().code == forebay::Code::kCorrupt);
    return;
  }
  std::uint64_t all = 0;
  std::vector<std::byte> values;
  for (std::size_t index = 0; index < opened->tensors().size(); ++index) {
    const std::uint64_t size = opened->tensors()[index].bytes();
    all += size;
    FOREBAY_CHECK(all <= bytes.size());
    values.resize(size);
    FOREBAY_CHECK(opened->read(index, 0, values).has_value());
  }
  const auto read = opened->finish();
  FOREBAY_CHECK(read && read->bytes == bytes.size());
}

}  // namespace

/// Any bytes as a file of tensors, and as the header of one: an accepted file holds all the values
/// that it names.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check({data, data + size});
  if (size > 0) check(with_length(data, size));
  return 0;
}
