#include "trainer/device_memory.h"

#include "trainer/network_shape.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

/// Two tables of 1000 rows of 8 weights and 8 values of state: 64 bytes a row.
struct OnDevice {
  TrainerSpec spec;
  ModelShape shape;

  OnDevice() {
    spec.device = "cuda";
    spec.embedding_dim = 8;
    spec.max_table_rows = 1000;
    shape = shape_of(spec, {.dense = {"a"}, .sparse = {{"b"}, {"c"}}}).value();
  }
};

}  // namespace

TEST_CASE_METHOD(OnDevice, "rows on the device are as many as its memory or the host's holds",
                 "[trainer][device]") {
  CHECK(device_rows(spec, shape) == 2000);
  spec.tables.device_memory_bytes = 64000;
  CHECK(device_rows(spec, shape) == 1000);
  spec.tables.storage = TrainerSpec::Storage::kTiered;
  spec.tables.memory_bytes = 32000;
  CHECK(device_rows(spec, shape) == 500);
  spec.tables.device_memory_bytes = 0;
  CHECK(device_rows(spec, shape) == 500);
}

TEST_CASE_METHOD(OnDevice, "a device takes memory of its own and of the host",
                 "[trainer][device]") {
  const std::uint64_t on_device = device_bytes(spec, shape, 100, MostIds::one_each(100, 2));
  const std::uint64_t on_host = model_bytes(spec, shape, 100, MostIds::one_each(100, 2));
  CHECK(on_device > 64 * 2000);
  // A row less on the device frees 64 bytes there, and 24 of the host's index.
  spec.tables.device_memory_bytes = 64 * 1999;
  CHECK(device_bytes(spec, shape, 100, MostIds::one_each(100, 2)) == on_device - 64);
  CHECK(model_bytes(spec, shape, 100, MostIds::one_each(100, 2)) == on_host - 24);
  ModelShape weighted = shape;
  weighted.weighted = true;
  CHECK(device_bytes(spec, weighted, 100, MostIds::one_each(100, 2)) >
        device_bytes(spec, shape, 100, MostIds::one_each(100, 2)));
  const std::uint64_t locked = host_bytes_for_device(spec, shape, 100, MostIds::one_each(100, 2));
  const MostIds ids = MostIds::one_each(100, 2);
  const std::uint64_t team = finder_bytes(shape, ids, true) - finder_bytes(shape, ids, false);
  spec.device = "cpu";
  CHECK(device_bytes(spec, shape, 100, MostIds::one_each(100, 2)) == 0);
  CHECK(host_bytes_for_device(spec, shape, 100, MostIds::one_each(100, 2)) == 0);
  CHECK(model_bytes(spec, shape, 100, MostIds::one_each(100, 2)) + locked + team == on_host - 24);
}

TEST_CASE_METHOD(OnDevice, "rounded weights and activations take half their bytes once more",
                 "[trainer][device]") {
  spec.embedding_dim = 16;
  shape = shape_of(spec, {.dense = {"a"}, .sparse = {{"b"}, {"c"}}}).value();
  const std::uint64_t exact = device_bytes(spec, shape, 100, MostIds::one_each(100, 2));
  spec.precision = TrainerSpec::Precision::kBf16;
  CHECK(rounded_parameters(shape) > 0);
  CHECK(device_bytes(spec, shape, 100, MostIds::one_each(100, 2)) ==
        exact + 4 * rounded_parameters(shape) + 2 * 100 * row_activations(shape));
}
