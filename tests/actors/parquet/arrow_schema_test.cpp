#include "actors/format/parquet/arrow_schema.h"

#include <map>
#include <string>

#include "tests/support/catch.h"

namespace forebay::parquet {
namespace {

using Sizes = std::map<std::string, std::uint32_t>;

// id: int64, pair: two floats, list: int32s, in: {x: int8, four: four int64}, as pyarrow writes it.
const char* const kSchema =
    "/////wACAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAMAAAACAAIAAAABAAIAAAABAAAAAQAAACcAQAAJAEAAMAA"
    "AAAEAAAAhP7//wAAAQ0YAAAAHAAAAAQAAAACAAAAdAAAABAAAAACAAAAaW4AAEj///+w/v//AAABEBQAAAAcAAAA"
    "BAAAAAEAAAAYAAAABAAAAGZvdXIAAAAAFv///wQAAADg/v//AAABAhAAAAAYAAAABAAAAAAAAAAEAAAAaXRlbQAA"
    "AADU/v//AAAAAUAAAAAQ////AAABAhAAAAAUAAAABAAAAAAAAAABAAAAeAAAAAD///8AAAABCAAAADz///8AAAEM"
    "FAAAACAAAAAEAAAAAQAAABgAAAAEAAAAbGlzdAAAAAAEAAQABAAAAGz///8AAAECEAAAABgAAAAEAAAAAAAAAAQA"
    "AABpdGVtAAAAAGD///8AAAABIAAAAJz///8AAAEQFAAAACAAAAAEAAAAAQAAABwAAAAEAAAAcGFpcgAABgAIAAQA"
    "BgAAAAIAAADQ////AAABAxAAAAAcAAAABAAAAAAAAAAEAAAAaXRlbQAABgAIAAYABgAAAAAAAQAQABQACAAGAAcA"
    "DAAAABAAEAAAAAAAAQIQAAAAHAAAAAQAAAAAAAAAAgAAAGlkAAAIAAwACAAHAAgAAAAAAAABQAAAAA==";

TEST_CASE("fixed sizes of lists are found in an Arrow schema", "[parquet]") {
  CHECK(fixed_lists_of(kSchema) == Sizes{{"pair", 2}, {"in.four", 4}});
}

TEST_CASE("a damaged Arrow schema is read without harm", "[parquet]") {
  const std::string schema = kSchema;
  CHECK(fixed_lists_of("").empty());
  CHECK(fixed_lists_of("no base64!").empty());
  for (std::size_t size = 0; size < schema.size(); ++size) fixed_lists_of(schema.substr(0, size));
  for (std::size_t i = 0; i < schema.size(); ++i) {
    for (const char letter : {'A', '/', 'f'}) {
      std::string damaged = schema;
      damaged[i] = letter;
      fixed_lists_of(damaged);
    }
  }
}

}  // namespace
}  // namespace forebay::parquet
