#include "actors/transform/kernels.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "actors/transform/kernel_choice.h"
#include "core/base/random.h"
#include "core/data/column_set.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

std::vector<Kernels> levels() {
  std::vector<Kernels> found;
  for (const CpuLevel level : {CpuLevel::kBaseline, CpuLevel::kAvx2, CpuLevel::kAvx512}) {
    if (const auto kernels = kernels_at(level)) found.push_back(*kernels);
  }
  return found;
}

/// Values of all kinds: small and large, subnormal, infinite, NaNs of many payloads, missing. Their
/// number is odd, so that vector loops have a remainder.
std::vector<float> all_kinds_of_floats() {
  std::vector<float> values{0.0F,
                            -0.0F,
                            1.0F,
                            -1.0F,
                            missing_value(),
                            std::bit_cast<float>(kNanBits),
                            std::bit_cast<float>(0xffc00001U),
                            std::bit_cast<float>(0x7f800001U)};
  using Limits = std::numeric_limits<float>;
  for (const float value : {Limits::infinity(), Limits::max(), Limits::min(), Limits::denorm_min(),
                            Limits::epsilon(), 0.5F, 0x1.6a09e6p-1F, 0x1.6a09e6p+0F}) {
    values.push_back(value);
    values.push_back(-value);
  }
  Random random(1);
  for (int i = 0; i < 20001; ++i) {
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random.next())));
    values.push_back(static_cast<float>(random.uniform()));
  }
  values.push_back(3.0F);
  return values;
}

std::vector<std::int64_t> all_kinds_of_ids() {
  using Limits = std::numeric_limits<std::int64_t>;
  std::vector<std::int64_t> ids;
  for (const std::int64_t near : {Limits::min(), Limits::max(), std::int64_t{0},
                                  std::int64_t{1} << 32, -(std::int64_t{1} << 32)}) {
    for (std::int64_t step = -3; step <= 3; ++step) {
      ids.push_back(static_cast<std::int64_t>(static_cast<std::uint64_t>(near) +
                                              static_cast<std::uint64_t>(step)));
    }
  }
  Random random(2);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t bits = random.next();
    ids.push_back(static_cast<std::int64_t>(bits >> random.below(64)));
    ids.push_back(static_cast<std::int64_t>(bits));
  }
  return ids;
}

const std::vector<std::int64_t> kDivisors{1,
                                          2,
                                          3,
                                          7,
                                          10,
                                          100,
                                          (1LL << 12) - 1,
                                          1LL << 12,
                                          (1LL << 12) + 1,
                                          1000000,
                                          (1LL << 31) - 1,
                                          1LL << 31,
                                          1LL << 32,
                                          (1LL << 32) + 1,
                                          (1LL << 60) - 1,
                                          1LL << 60,
                                          (1LL << 60) + 1,
                                          1LL << 62,
                                          (1LL << 62) + 1,
                                          std::numeric_limits<std::int64_t>::max()};

/// The ids of all kinds, and neighbours of the divisor's multiples, most of them far from 0.
std::vector<std::int64_t> ids_around_multiples(std::int64_t divisor) {
  std::vector<std::int64_t> ids = all_kinds_of_ids();
  const std::size_t kinds = ids.size();
  for (std::size_t i = 0; i < kinds; ++i) {
    const std::uint64_t multiple =
        static_cast<std::uint64_t>(ids[i] / divisor) * static_cast<std::uint64_t>(divisor);
    ids.push_back(static_cast<std::int64_t>(multiple + i % 3 - 1));
  }
  return ids;
}

/// Runs `run(kernels, values)` on each level and compares every bit with the first.
template <class T, class Run>
void check_same_bits(const std::vector<T>& input, Run run) {
  std::vector<std::vector<T>> results;
  for (const Kernels& kernels : levels()) {
    results.push_back(input);
    run(kernels, results.back());
  }
  for (const auto& result : results) {
    for (std::size_t i = 0; i < input.size(); ++i) {
      if (std::bit_cast<std::array<std::byte, sizeof(T)>>(result[i]) !=
          std::bit_cast<std::array<std::byte, sizeof(T)>>(results[0][i])) {
        FAIL("value " << i << " of " << input[i] << ": " << result[i] << " and " << results[0][i]);
      }
    }
  }
}

using Floats = std::vector<float>;
using Ids = std::vector<std::int64_t>;

TEST_CASE("dense kernels give the same bits on every level", "[actors][transform]") {
  const auto floats = all_kinds_of_floats();
  check_same_bits(floats, [](const Kernels& k, Floats& v) { k.log1p(v.data(), v.size()); });
  check_same_bits(floats, [](const Kernels& k, Floats& v) { k.log_plus(v.data(), v.size(), 3); });
  check_same_bits(floats, [](const Kernels& k, Floats& v) { k.logit(v.data(), v.size(), 1e-6); });
  for (const double lambda : {0.0, 0.5, -1.0, 3.0, 1e-9, 99.0, -99.0}) {
    check_same_bits(
        floats, [=](const Kernels& k, Floats& v) { k.box_cox(v.data(), v.size(), lambda, 1e-6); });
  }
  check_same_bits(floats, [](const Kernels& k, Floats& v) { k.clamp(v.data(), v.size(), -1, 2); });
  check_same_bits(floats, [](const Kernels& k, Floats& v) { k.fill(v.data(), v.size(), 5); });
}

TEST_CASE("id kernels give the same bits on every level", "[actors][transform]") {
  const auto ids = all_kinds_of_ids();
  for (const std::int64_t divisor : kDivisors) {
    const FloorMod mod = FloorMod::by(divisor);
    check_same_bits(ids,
                    [&](const Kernels& k, Ids& v) { k.sigrid_hash(v.data(), v.size(), 42, mod); });
    check_same_bits(ids, [&](const Kernels& k, Ids& v) { k.floor_mod(v.data(), v.size(), mod); });
  }
  check_same_bits(ids, [](const Kernels& k, Ids& v) { k.clamp_ids(v.data(), v.size(), -5, 9); });
}

TEST_CASE("bucketize gives the same buckets on every level", "[actors][transform]") {
  const auto floats = all_kinds_of_floats();
  Random random(3);
  for (const std::size_t num_borders : {1, 5, 64, 65, 300}) {
    Floats borders;
    for (std::size_t i = 0; i < num_borders; ++i) {
      borders.push_back(static_cast<float>(random.below(200)) / 100);
    }
    std::sort(borders.begin(), borders.end());
    for (std::size_t i = 2; i < borders.size(); ++i) {  // at most twice each
      if (borders[i] <= borders[i - 2]) borders[i] = std::nextafter(borders[i - 1], HUGE_VALF);
    }
    for (const Kernels& kernels : levels()) {
      Ids buckets(floats.size());
      kernels.bucketize(floats.data(), floats.size(), borders.data(), borders.size(),
                        buckets.data());
      for (std::size_t i = 0; i < floats.size(); ++i) {
        const float value = floats[i];
        const auto at = std::lower_bound(borders.begin(), borders.end(), value);
        std::int64_t expected = at - borders.begin();
        if (std::count(borders.begin(), borders.end(), value) == 2) ++expected;
        if (std::isnan(value)) expected = -1;
        if (buckets[i] != expected) FAIL(value << " of " << num_borders << " borders");
      }
    }
  }
}

TEST_CASE("the floor modulus is the remainder of a true division", "[actors][transform]") {
  for (const std::int64_t divisor : kDivisors) {
    const auto ids = ids_around_multiples(divisor);
    for (const Kernels& kernels : levels()) {
      auto result = ids;
      kernels.floor_mod(result.data(), result.size(), FloorMod::by(divisor));
      for (std::size_t i = 0; i < ids.size(); ++i) {
        if (result[i] != floor_mod(ids[i], divisor)) {
          FAIL(ids[i] << " mod " << divisor << " gave " << result[i]);
        }
      }
    }
  }
}

TEST_CASE("sigrid_hash gives its reference vector", "[actors][transform]") {
  const Ids expected{6, 60, 54, 54, 9, 4, 91, 11, 67, 79, 2, 25, 92, 98, 83, 66};
  for (const Kernels& kernels : levels()) {
    Ids ids;
    for (std::int64_t i = 0; i < 16; ++i) ids.push_back(i);
    kernels.sigrid_hash(ids.data(), ids.size(), 0, FloorMod::by(100));
    CHECK(ids == expected);
  }
}

TEST_CASE("sigrid_hash is the signed hash modulo the size, with any salt", "[actors][transform]") {
  const auto ids = all_kinds_of_ids();
  for (const std::uint64_t salt : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
    auto result = ids;
    levels().back().sigrid_hash(result.data(), result.size(), salt, FloorMod::by(12345));
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto hash = hash_128_to_64(salt, twang_mix64(static_cast<std::uint64_t>(ids[i])));
      if (result[i] != floor_mod(static_cast<std::int64_t>(hash), 12345)) FAIL(ids[i]);
    }
  }
}

TEST_CASE("log1p is within 2 ulp of the true value", "[actors][transform]") {
  // Every 4099th float from 0 to infinity, against the double function.
  double worst = 0;
  for (std::uint32_t bits = 0; bits < 0x7f800000; bits += 4099) {
    const auto x = std::bit_cast<float>(bits);
    float y = x;
    levels().back().log1p(&y, 1);
    const double exact = std::log1p(static_cast<double>(x));
    const auto rounded = static_cast<float>(exact);
    const double ulp = std::nextafter(rounded, HUGE_VALF) - rounded;
    worst = std::max(worst, std::fabs(static_cast<double>(y) - exact) / ulp);
  }
  CHECK(worst < 1.5);
}

/// The error of `values` against `exact` in units of a float's last place.
double worst_ulp(const Floats& values, const std::vector<double>& exact) {
  double worst = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto rounded = std::fabs(static_cast<float>(exact[i]));
    if (std::isinf(rounded) && std::fabs(values[i]) == rounded) continue;
    const double ulp = std::nextafter(rounded, HUGE_VALF) - rounded;
    worst = std::max(worst, std::fabs(static_cast<double>(values[i]) - exact[i]) / ulp);
  }
  return worst;
}

TEST_CASE("log_plus is the true value rounded once", "[actors][transform]") {
  Floats values;
  std::vector<double> logs;
  for (std::uint32_t word = 0; word < 0x7f800000; word += 40099) {
    values.push_back(std::bit_cast<float>(word));
    logs.push_back(std::log(static_cast<double>(values.back()) + 3));
  }
  for (const Kernels& kernels : levels()) {
    Floats changed = values;
    kernels.log_plus(changed.data(), changed.size(), 3);
    CHECK(worst_ulp(changed, logs) < 0.501);
  }
}

TEST_CASE("logit and box_cox are the true values rounded once", "[actors][transform]") {
  Random random(4);
  Floats shares;
  std::vector<double> logits;
  for (int i = 0; i < 20000; ++i) {
    shares.push_back(static_cast<float>(random.uniform()));
    const double p = std::min(std::max(static_cast<double>(shares.back()), 1e-3), 1 - 1e-3);
    logits.push_back(std::log(p / (1 - p)));
  }
  levels().back().logit(shares.data(), shares.size(), 1e-3);
  CHECK(worst_ulp(shares, logits) < 0.51);

  for (const double lambda : {0.0, 0.5, -1.0, 2.0, 1e-7, -12.5}) {
    Floats values;
    std::vector<double> exact;
    for (int i = 0; i < 20000; ++i) {
      values.push_back(static_cast<float>(std::exp(80 * random.uniform() - 40)));
      const double x = std::max(static_cast<double>(values.back()), 1e-6);
      exact.push_back(lambda == 0 ? std::log(x) : std::expm1(lambda * std::log(x)) / lambda);
    }
    levels().back().box_cox(values.data(), values.size(), lambda, 1e-6);
    INFO("lambda " << lambda);
    CHECK(worst_ulp(values, exact) < 0.51);
  }
}

TEST_CASE("log1p keeps missing, has one NaN and takes negatives as 0", "[actors][transform]") {
  for (const Kernels& kernels : levels()) {
    Floats values{missing_value(), std::bit_cast<float>(0xffc12345U), -3.0F, -0.0F, HUGE_VALF,
                  -HUGE_VALF};
    kernels.log1p(values.data(), values.size());
    CHECK(is_missing(values[0]));
    CHECK(std::bit_cast<std::uint32_t>(values[1]) == kNanBits);
    CHECK(std::bit_cast<std::uint32_t>(values[2]) == 0);
    CHECK(std::bit_cast<std::uint32_t>(values[3]) == 0);
    CHECK(values[4] == HUGE_VALF);
    CHECK(values[5] == 0);
  }
}

}  // namespace
}  // namespace forebay
