#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace forebay::test {

/// Returns a number's bytes.
template <class Number>
std::string bytes_of(Number number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

/// Returns the bytes of some numbers, one after the other.
template <class Number>
std::string bytes_of_all(const std::vector<Number>& numbers) {
  std::string bytes;
  for (const Number number : numbers) bytes += bytes_of(number);
  return bytes;
}

/// Returns a header as np.save writes it: `dictionary`, padded to a multiple of 64 bytes.
inline std::string npy_header(std::string dictionary, char version = 1) {
  const std::size_t start = version == 1 ? 10 : 12;
  while ((start + dictionary.size() + 1) % 64 != 0) dictionary += ' ';
  dictionary += '\n';
  const auto size = static_cast<std::uint32_t>(dictionary.size());
  return "\x93NUMPY" + std::string{version, '\0'} + bytes_of(size).substr(0, start - 8) +
         dictionary;
}

/// Returns the header of an array in C's order with this type ("<f4") and shape ("(3, 1)").
inline std::string npy_header_of(const std::string& type, const std::string& shape) {
  return npy_header("{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }");
}

/// Returns a `.npy` of `rows` rows of the numbers in `values`.
template <class Number>
std::string npy_of(const std::string& type, std::size_t rows, const std::vector<Number>& values) {
  const std::size_t columns = rows == 0 ? 1 : values.size() / rows;
  return npy_header_of(type, "(" + std::to_string(rows) + ", " + std::to_string(columns) + ")") +
         bytes_of_all(values);
}

/// A zip archive being written: entries as they are, and the directory.
class ZipWriter {
 public:
  struct Entry {
    std::string name;
    std::string content;
    std::uint16_t method = 0;
    std::uint16_t flags = 0;
    bool zip64 = false;  ///< Its sizes and place in 64 bits, as NumPy writes them.
  };

  void add(const Entry& entry) {
    const auto size = static_cast<std::uint64_t>(entry.content.size());
    const auto name_size = static_cast<std::uint16_t>(entry.name.size());
    const std::uint64_t offset = bytes_.size();
    const std::string wide =
        bytes_of<std::uint16_t>(1) + bytes_of<std::uint16_t>(16) + bytes_of(size) + bytes_of(size);
    const std::string sizes = entry.zip64 ? std::string(8, '\xff') : two(size);
    const std::string shared = bytes_of(entry.flags) + bytes_of(entry.method) +
                               std::string(8, '\0') + sizes + bytes_of(name_size);
    bytes_ += "PK\3\4" + bytes_of<std::uint16_t>(45) + shared +
              bytes_of<std::uint16_t>(entry.zip64 ? 20 : 0) + entry.name +
              (entry.zip64 ? wide : "") + entry.content;
    const std::string wider = bytes_of<std::uint16_t>(1) + bytes_of<std::uint16_t>(24) +
                              bytes_of(size) + bytes_of(size) + bytes_of(offset);
    directory_ +=
        "PK\1\2" + bytes_of<std::uint16_t>(45) + bytes_of<std::uint16_t>(45) + shared +
        bytes_of<std::uint16_t>(entry.zip64 ? 28 : 0) + std::string(10, '\0') +
        (entry.zip64 ? std::string(4, '\xff') : bytes_of(static_cast<std::uint32_t>(offset))) +
        entry.name + (entry.zip64 ? wider : "");
    ++entries_;
  }

  /// Returns the archive; `zip64` writes the end of the directory in 64 bits too.
  std::string finish(bool zip64 = false, const std::string& comment = "") const {
    const std::uint64_t at = bytes_.size();
    const std::uint64_t size = directory_.size();
    std::string end;
    if (zip64) {
      end = "PK\6\6" + bytes_of<std::uint64_t>(44) + std::string(12, '\0') + bytes_of(entries_) +
            bytes_of(entries_) + bytes_of(size) + bytes_of(at);
      end += "PK\6\7" + std::string(4, '\0') + bytes_of(at + size) + std::string(4, '\1');
    }
    const std::string count =
        zip64 ? std::string(2, '\xff') : bytes_of(static_cast<std::uint16_t>(entries_));
    end += "PK\5\6" + std::string(4, '\0') + count + count +
           (zip64 ? std::string(8, '\xff')
                  : bytes_of(static_cast<std::uint32_t>(size)) +
                        bytes_of(static_cast<std::uint32_t>(at))) +
           bytes_of(static_cast<std::uint16_t>(comment.size())) + comment;
    return bytes_ + directory_ + end;
  }

 private:
  static std::string two(std::uint64_t size) {
    const std::string one = bytes_of(static_cast<std::uint32_t>(size));
    return one + one;
  }

  std::string bytes_;
  std::string directory_;
  std::uint64_t entries_ = 0;
};

/// Returns a `.npz` of arrays by their keys, as np.savez writes it.
inline std::string npz_of(const std::vector<std::pair<std::string, std::string>>& arrays) {
  ZipWriter zip;
  for (const auto& [key, npy] : arrays)
    zip.add({.name = key + ".npy", .content = npy, .zip64 = true});
  return zip.finish();
}

}  // namespace forebay::test
