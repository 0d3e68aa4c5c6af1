#pragma once

#include <cstddef>

namespace forebay {

/// Zeroed memory in pages of its own, which become resident on first write. Large ones request huge
/// pages, since embedding rows are read at random. Move-only.
///
/// Aborts if the address space is exhausted: a model's memory is checked before.
class Pages {
 public:
  Pages() = default;
  explicit Pages(std::size_t bytes);
  Pages(Pages&& other) noexcept { swap(other); }
  Pages& operator=(Pages&& other) noexcept {
    Pages(static_cast<Pages&&>(other)).swap(*this);
    return *this;
  }
  ~Pages();

  std::size_t size() const { return size_; }

  /// Zeroes the memory; pages are not resident until written to.
  void clear();

  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void swap(Pages& other) noexcept;

  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace forebay
