#include "engine/dashboard/page_access.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using Entry = PageAccess::Entry;

PageAccess local() { return PageAccess({.host = "127.0.0.1", .name = "node1", .token = ""}); }

PageAccess open_to_all() {
  return PageAccess({.host = "0.0.0.0", .name = "node1", .token = "0123456789abcdef"});
}

}  // namespace

TEST_CASE("a page on loopback serves the names of loopback alone", "[engine][dashboard]") {
  for (const char* host :
       {"127.0.0.1:8265", "localhost:9000", "LocalHost", "127.0.0.1", "[::1]:1"}) {
    CAPTURE(host);
    CHECK(local().knows_host(host));
  }
  for (const char* host : {"", "evil.example", "127.0.0.1.evil.example:80", "localhost.evil",
                           "10.0.0.1:8265", "node1:8265", "[::2]", "["}) {
    CAPTURE(host);
    CHECK_FALSE(local().knows_host(host));
  }
}

TEST_CASE("a page beyond loopback serves addresses and this machine's names",
          "[engine][dashboard]") {
  for (const char* host :
       {"10.0.0.1:8265", "[fe80::1]:8265", "node1", "NODE1.example.org:80", "localhost:1"}) {
    CAPTURE(host);
    CHECK(open_to_all().knows_host(host));
  }
  CHECK_FALSE(open_to_all().knows_host("evil.example:8265"));
  CHECK_FALSE(open_to_all().knows_host("node10"));
  const PageAccess named({.host = "gateway.example", .name = "node1", .token = "x"});
  CHECK(named.knows_host("gateway.example:80"));
}

TEST_CASE("a token is taken from the query or from the cookie", "[engine][dashboard]") {
  CHECK(local().entry_of({}) == Entry::kGranted);
  CHECK(open_to_all().entry_of({}) == Entry::kRefused);
  CHECK(open_to_all().entry_of({.query = "token=0123456789abcdee"}) == Entry::kRefused);
  CHECK(open_to_all().entry_of({.query = "token="}) == Entry::kRefused);
  CHECK(open_to_all().entry_of({.query = "seconds=1&token=0123456789abcdef"}) == Entry::kByQuery);
  CHECK(open_to_all().entry_of({.cookie = "a=b; forebay_token=0123456789abcdef"}) ==
        Entry::kGranted);
  CHECK(open_to_all().entry_of({.cookie = "other_forebay_token=0123456789abcdef"}) ==
        Entry::kRefused);
  CHECK(open_to_all().cookie() == "forebay_token=0123456789abcdef; Path=/; HttpOnly; SameSite=Lax");
}

TEST_CASE("a random token has 128 bits, and a given one enough letters", "[engine][dashboard]") {
  const auto one = random_token();
  REQUIRE(one);
  CHECK(one->size() == 32);
  CHECK(*one != random_token().value());
  CHECK(check_token(*one));
  CHECK_FALSE(check_token("tooshort"));
  CHECK_FALSE(check_token("0123456789abcdef&"));
  CHECK_FALSE(check_token(std::string(129, 'a')));
}

}  // namespace forebay
