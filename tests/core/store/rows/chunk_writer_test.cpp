#include "core/store/rows/chunk_writer.h"

#include <fcntl.h>

#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

using namespace forebay;

TEST_CASE("a write error is returned by every later call, and the chunk's pages stay readable",
          "[store]") {
  const test::TempDir dir;
  const RowLogPlan plan(24, 1000);
  auto segment = std::make_shared<OpenSegment>();
  segment->path = dir.write("segment", "");
  segment->file = Descriptor(::open(segment->path.c_str(), O_RDONLY | O_CLOEXEC));
  ChunkWriter writer(plan, "folder", [] {});
  auto chunk = writer.take();
  REQUIRE(chunk);
  chunk->segment = segment;
  chunk->first_page = 3;
  chunk->pages = 2;
  writer.write(std::move(chunk));
  const Status drained = writer.drain();
  REQUIRE_FALSE(drained);
  CHECK_THAT(drained.error().message, Catch::StartsWith("the tables' folder folder cannot be"));
  CHECK(writer.take() == nullptr);
  CHECK_FALSE(writer.status());
  const auto has = [&](const OpenSegment& of, std::uint64_t page) {
    return writer.visit(of, page, [](char*) {});
  };
  CHECK(has(*segment, 3));
  CHECK(has(*segment, 4));
  CHECK_FALSE(has(*segment, 2));
  CHECK_FALSE(has(*segment, 5));
  CHECK_FALSE(has(OpenSegment(), 3));
}
