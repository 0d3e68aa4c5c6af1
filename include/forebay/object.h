/// Values that Forebay's actors hand around by reference: put once, copied once to each process.
///
///   auto table = context.put(std::vector<float>(1'000'000));   // or cluster->put, system->put
///   if (!table) return table.error();
///   (void)shard.tell(Use{*table});                             // Use has a field Object<…>
///
/// and in the handler of Use, on any node:
///
///   context.then(use.table.get(), [this](Result<View<std::vector<float>>> view) {
///     if (view) sum += (*view)[0];
///   });
///
/// An object lives in the process that put it, its owner, as long as any process holds a reference:
/// an `Object`, also one in a message on its way. `get` gives a view; the first `get` in another
/// process fetches the bytes, from the owner or from a process that has them, and all others in
/// that process share them. When the owner ends, `get` gives kUnavailable where the bytes are not.
///
/// Objects take memory up to ObjectLimits; beyond it those without a view go to disk.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <forebay/future.h>
#include <forebay/message.h>

namespace forebay::actors {

/// What the objects in one process may take: those that it put and those that it fetched.
struct ObjectLimits {
  std::uint64_t memory_bytes = std::uint64_t{1} << 30;  ///< An object of more is refused.
  std::uint64_t disk_bytes = 0;
  std::string folder = {};  ///< On that disk; "": the folder for temporary files.
};

/// Read-only bytes, and what keeps them in memory.
struct ObjectBytes {
  std::shared_ptr<const void> keeper;
  std::span<const std::byte> bytes;
};

/// What a reference to an object points to; it counts as long as it exists. Forebay implements it;
/// thread-safe.
class ObjectTarget {
 public:
  using Done = std::function<void(Result<ObjectBytes>)>;

  virtual ~ObjectTarget() = default;
  virtual std::uint64_t size() const = 0;
  /// Calls `done` once.
  virtual void get(Done done) = 0;
  /// The value that was packed into `bytes`.
  virtual Result<Box> open(const ObjectBytes& bytes, const ValueType* type) const = 0;
  /// Equal for references to one object.
  virtual std::array<std::uint64_t, 2> id() const = 0;
};

/// The objects of one process. Forebay implements it; thread-safe.
class ObjectSpace {
 public:
  virtual ~ObjectSpace() = default;
  /// Makes an object of these bytes, without a copy; they must not change any more.
  virtual Result<ObjectPtr> put(ObjectBytes bytes) = 0;
  /// Makes an object of a value, packed as a field of a message is.
  virtual Result<ObjectPtr> put(const Box& value) = 0;
};

/// The value of an object in this process, read-only. A handle; its bytes stay in memory as long as
/// a view exists, also when the object is gone.
template <class T>
class View {
 public:
  static Result<View> of(const ObjectTarget& target, const ObjectBytes& bytes) {
    auto value = target.open(bytes, kTypeOf<T>);
    if (!value) return value.error();
    return View(std::make_shared<Box>(std::move(*value)));
  }

  const T& operator*() const { return value_->template as<T>(); }
  const T* operator->() const { return &**this; }

 private:
  explicit View(std::shared_ptr<Box> value) : value_(std::move(value)) {}

  std::shared_ptr<Box> value_;
};

template <class T>
inline constexpr bool kIsPlainVector = false;
template <Plain E>
inline constexpr bool kIsPlainVector<std::vector<E>> = true;

/// Numbers, where they lie.
template <Plain E>
class View<std::vector<E>> {
 public:
  static Result<View> of(const ObjectTarget&, ObjectBytes bytes) {
    if (bytes.bytes.size() % sizeof(E) != 0) {
      return Error{Code::kCorrupt, "the object has a part of a number"};
    }
    return View(std::move(bytes));
  }

  std::span<const E> operator*() const {
    return {reinterpret_cast<const E*>(held_.bytes.data()), held_.bytes.size() / sizeof(E)};
  }
  const E& operator[](std::size_t index) const { return (**this)[index]; }
  std::size_t size() const { return (**this).size(); }
  auto begin() const { return (**this).begin(); }
  auto end() const { return (**this).end(); }

 private:
  explicit View(ObjectBytes held) : held_(std::move(held)) {}

  ObjectBytes held_;
};

/// A reference to an object with a T: a vector of numbers or bytes, which is viewed where it lies,
/// or any other value that a field of a message may be, which each `get` unpacks. A value: copy,
/// keep, or send it in a message. Thread-safe.
template <class T>
class Object {
  static_assert(Writable<T>, "An object's value must be what a field of a message may be.");

 public:
  Object() = default;
  explicit Object(ObjectPtr target) : target_(std::move(target)) {}

  /// The value, fetched if this process does not have it. kNotFound: the reference is empty;
  /// kUnavailable: the owner has ended or cannot be reached; kOverloaded: no room in this process;
  /// kCorrupt: the bytes differ from those that were put.
  Future<View<T>> get() const {
    const Promise<View<T>> promise;
    if (target_ == nullptr) {
      promise.set(Error{Code::kNotFound, "the reference to an object is empty"});
      return promise.future();
    }
    target_->get([promise, target = target_](Result<ObjectBytes> bytes) {
      if (!bytes) return promise.set(bytes.error());
      promise.set(View<T>::of(*target, std::move(*bytes)));
    });
    return promise.future();
  }

  /// In bytes.
  std::uint64_t size() const { return target_ == nullptr ? 0 : target_->size(); }
  explicit operator bool() const { return target_ != nullptr; }
  const ObjectPtr& target() const { return target_; }
  bool operator==(const Object& other) const { return id() == other.id(); }

 private:
  std::array<std::uint64_t, 2> id() const {
    return target_ == nullptr ? std::array<std::uint64_t, 2>{} : target_->id();
  }

  ObjectPtr target_;
};

template <class T>
struct Field<Object<T>> {
  static void write(Writer& writer, const Object<T>& object) { writer.object(object.target()); }
  static bool read(Reader& reader, Object<T>& object) {
    ObjectPtr target;
    if (!reader.object(target)) return false;
    object = Object<T>(std::move(target));
    return true;
  }
};

/// Puts a value into `space`. A vector of numbers is taken over without a copy. kOverloaded: the
/// objects here leave no room for it; kInvalid: it is larger than all of them may be, or holds
/// references.
template <class T>
Result<Object<T>> put_at(ObjectSpace& space, T value) {
  Result<ObjectPtr> put;
  if constexpr (kIsPlainVector<T>) {
    const auto held = std::make_shared<const T>(std::move(value));
    put = space.put(ObjectBytes{held, std::as_bytes(std::span(*held))});
  } else {
    put = space.put(Box::of(std::move(value)));
  }
  if (!put) return put.error();
  return Object<T>(std::move(*put));
}

/// Puts bytes that lie elsewhere, such as in a mapped file, without a copy.
inline Result<Object<std::vector<std::byte>>> put_at(ObjectSpace& space, ObjectBytes bytes) {
  auto put = space.put(std::move(bytes));
  if (!put) return put.error();
  return Object<std::vector<std::byte>>(std::move(*put));
}

}  // namespace forebay::actors
