#pragma once

#include <cstddef>

namespace forebay {

/// Zeroed memory in pages of its own, which becomes resident as it is first written to; large ones
/// ask for huge pages, as embedding rows are read at random. Move-only.
///
/// Aborts when the address space is exhausted: how much a model takes is checked before.
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

  /// Zeroed again, and not resident until written to.
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
