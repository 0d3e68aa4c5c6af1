#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "actors/pipeline_spec.h"
#include "core/base/result.h"

namespace forebay {

/// One operator of the job's list while it is compiled. Keeps the first error, so that code that
/// reads parameters and columns need not check after each.
class OpRequest {
 public:
  /// `number` counts from 1; `spec` must outlive the request.
  OpRequest(std::size_t number, const TransformSpec& spec) : number_(number), spec_(spec) {}

  const TransformSpec& spec() const { return spec_; }

  /// "transform 3 (bucketize)"
  std::string name() const;

  /// Records the error "transform 3 (bucketize): where: what".
  void refuse(const std::string& where, const std::string& what);

  /// Records an error whose text names its location itself.
  void refuse(const std::string& what);

  bool refused() const { return !status_; }
  const Status& status() const { return status_; }

 private:
  std::size_t number_;
  const TransformSpec& spec_;
  Status status_;
};

/// `; did you mean "x"?` for the candidate nearest to `wrong`; empty if no candidate is near.
std::string did_you_mean(const std::string& wrong, const std::vector<std::string>& candidates);

}  // namespace forebay
