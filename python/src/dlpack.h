#pragma once

#include <cstdint>

/// The structures of DLPack 1.0 (dmlc.github.io/dlpack), whose layout is fixed: libraries hand
/// arrays to each other as these. Field names are our own.
namespace forebay::python::dlpack {

constexpr std::int32_t kCpu = 1;             // kDLCPU
constexpr std::uint32_t kMajor = 1;          // the version of what is written
constexpr std::uint64_t kReadOnly = 1;       // DLPACK_FLAG_BITMASK_READ_ONLY
constexpr std::uint64_t kIsCopied = 1 << 1;  // DLPACK_FLAG_BITMASK_IS_COPIED

struct Device {
  std::int32_t type = kCpu;
  std::int32_t number = 0;
};

struct DataType {
  std::uint8_t code = 0;  // 0: integer, 1: unsigned integer, 2: float
  std::uint8_t bits = 0;
  std::uint16_t lanes = 1;
};

struct Tensor {
  void* data = nullptr;
  Device device;
  std::int32_t dimensions = 0;
  DataType type;
  std::int64_t* shape = nullptr;
  std::int64_t* strides = nullptr;  // in elements
  std::uint64_t byte_offset = 0;
};

/// What a capsule of the name `dltensor` holds.
struct Managed {
  static constexpr const char* kName = "dltensor";
  Tensor tensor;
  void* context = nullptr;
  void (*deleter)(Managed*) = nullptr;
};

/// What a capsule of the name `dltensor_versioned` holds.
struct ManagedVersioned {
  static constexpr const char* kName = "dltensor_versioned";
  std::uint32_t major = kMajor;
  std::uint32_t minor = 0;
  void* context = nullptr;
  void (*deleter)(ManagedVersioned*) = nullptr;
  std::uint64_t flags = 0;
  Tensor tensor;
};

}  // namespace forebay::python::dlpack
