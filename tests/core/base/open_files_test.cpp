#include "core/base/open_files.h"

#include <fcntl.h>
#include <sys/resource.h>

#include <cerrno>
#include <string>

#include "core/base/descriptor.h"
#include "tests/support/descriptor_limit.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

TEST_CASE("an open file takes one of the descriptors that are left", "[core]") {
  const std::size_t before = free_descriptors();
  CHECK(before < descriptor_limit());
  {
    const Descriptor file(open_file("/dev/null", O_RDONLY));
    REQUIRE(file);
    CHECK(free_descriptors() == before - 1);
  }
  CHECK(free_descriptors() == before);
}

TEST_CASE("opening a file without a free descriptor fails with advice", "[core]") {
  int file = 0;
  int error = 0;
  std::size_t left = 1;
  {
    const test::DescriptorLimit none(0);
    file = open_file("/dev/null", O_RDONLY);
    error = errno;
    left = free_descriptors();
  }
  CHECK(file == -1);
  CHECK(error == EMFILE);
  CHECK(left == 0);
  CHECK(is_out_of_descriptors(error));
  CHECK(system_words(error).find("raise ulimit -n") != std::string::npos);
  CHECK_FALSE(is_out_of_descriptors(ENOENT));
  CHECK(system_words(ENOENT) == "No such file or directory");
}

TEST_CASE("only an open without a free descriptor is repeated for a while", "[core]") {
  DescriptorWait wait;
  CHECK_FALSE(wait.again(0));
  CHECK_FALSE(wait.again(ENOENT));
  int tries = 1;
  while (wait.again(EMFILE)) ++tries;
  CHECK(tries == 20);
}

}  // namespace
}  // namespace forebay
