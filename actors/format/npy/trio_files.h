#pragma once

#include <cstddef>
#include <memory>

#include "actors/input/file_system.h"

namespace forebay::npy {

/// The parts of a trio's JoinedFile, in this order.
enum Part : std::size_t { kDense, kSparse, kLabels, kParts };

/// Returns a view of `stored` that has one file, a JoinedFile, for each trio `P_dense.npy`,
/// `P_sparse.npy` (or `P_sparse_multi_hot.npz`) and `P_labels.npy`. A path or glob that matches any
/// file of a trio gives the trio, once. Its path, name and key are those of its sparse file.
///
/// Errors besides those of `stored`: kInvalid for a file whose name is not of a trio, and for a P
/// that has both sparse files where the pattern does not match exactly one of them; kNotFound for a
/// trio that lacks a file.
std::shared_ptr<const FileSystem> trios_in(std::shared_ptr<const FileSystem> stored);

}  // namespace forebay::npy
