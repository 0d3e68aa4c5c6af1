#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include <elf.h>

#include "actors/transform/user_function.h"
#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

std::string file_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Checks `bytes` as a library, and counts the bytes that were read.
struct Memory {
  std::string bytes;
  std::size_t read = 0;

  Status check() {
    read = 0;
    return check_shared_object(bytes.size(), [this](std::uint64_t offset, std::span<std::byte> to) {
      REQUIRE(offset <= bytes.size());
      REQUIRE(to.size() <= bytes.size() - offset);
      std::memcpy(to.data(), bytes.data() + offset, to.size());
      read += to.size();
      return true;
    });
  }
  std::string fault() {
    const auto status = check();
    return status ? "" : status.error().message;
  }
};

/// A header, one segment that takes the whole file, and a table of one section behind it.
struct Smallest {
  Elf64_Ehdr header{};
  Elf64_Phdr segment{};
  Elf64_Shdr section{};

  Smallest() {
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_phoff = offsetof(Smallest, segment);
    header.e_phentsize = sizeof segment;
    header.e_phnum = 1;
    header.e_shoff = offsetof(Smallest, section);
    header.e_shentsize = sizeof section;
    header.e_shnum = 1;
    segment.p_type = PT_LOAD;
    segment.p_filesz = sizeof(Smallest);
  }
  std::string fault() const {
    Memory memory{std::string(reinterpret_cast<const char*>(this), sizeof *this)};
    return memory.fault();
  }
};

}  // namespace

TEST_CASE("a library that was cut short anywhere is refused without a read past its end",
          "[actors][shared_object]") {
  Memory memory{file_of(FOREBAY_UDF_LIBRARY)};
  REQUIRE(memory.check());
  CHECK(memory.read < 4096);
  const std::string whole = memory.bytes;
  for (std::size_t size = 0; size < whole.size(); size += size < 8192 ? 1 : 997) {
    memory.bytes = whole.substr(0, size);
    const auto status = memory.check();
    INFO(size);
    REQUIRE_FALSE(status);
    CHECK(status.error().code == Code::kInvalid);
    CHECK(status.error().message.find("after " + std::to_string(size) + " bytes") !=
          std::string::npos);
  }
}

TEST_CASE("sizes and offsets that overflow 64 bits are past the end of the file",
          "[actors][shared_object]") {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  CHECK(Smallest().fault().empty());
  Smallest changed;
  changed.segment.p_offset = kMost - 10;
  CHECK(changed.fault().find("within its segments") != std::string::npos);
  changed = Smallest();
  changed.segment.p_filesz = kMost;
  CHECK(changed.fault().find("within its segments") != std::string::npos);
  changed = Smallest();
  changed.segment.p_filesz = sizeof changed + 1;
  CHECK(changed.fault().find("within its segments") != std::string::npos);
  changed.segment.p_type = PT_NOTE;  // not loaded
  CHECK(changed.fault().empty());
  changed.header.e_phoff = kMost - sizeof(Elf64_Phdr) + 1;
  CHECK(changed.fault().find("within its program headers") != std::string::npos);
  changed = Smallest();
  changed.header.e_shoff = kMost - 1;
  CHECK(changed.fault().find("within its section headers") != std::string::npos);
  changed.header.e_shoff = 0;  // stripped
  CHECK(changed.fault().empty());
  changed = Smallest();
  changed.header.e_shnum = 0;  // the number is in the first entry, which must be there
  changed.header.e_shoff = sizeof changed;
  CHECK(changed.fault().find("within its section headers") != std::string::npos);
}

TEST_CASE("more segments than any library has are refused before they are read",
          "[actors][shared_object]") {
  Smallest many;
  many.header.e_phnum = 4097;
  CHECK(many.fault().find("4097 segments") != std::string::npos);
}

TEST_CASE("a file that is not a shared library for this machine is refused",
          "[actors][shared_object]") {
  Memory text{std::string(1000, 'x')};
  CHECK(text.fault().find("no shared library of 64 bits") != std::string::npos);
  Smallest narrow;
  narrow.header.e_ident[EI_CLASS] = ELFCLASS32;
  CHECK(narrow.fault().find("no shared library of 64 bits") != std::string::npos);
}

TEST_CASE("a folder and a missing file are not libraries", "[actors][shared_object]") {
  const test::TempDir dir;
  auto folder = check_shared_object(dir.path());
  REQUIRE_FALSE(folder);
  CHECK(folder.error().message == "it is no regular file");
  auto absent = check_shared_object(dir.path("absent.so"));
  REQUIRE_FALSE(absent);
  CHECK(absent.error().message == "No such file or directory");
}

}  // namespace forebay
