#include <map>
#include <optional>
#include <string>

#include "actors/input/store/protocol/credentials.h"
#include "actors/input/store/protocol/response_head.h"
#include "actors/input/store/protocol/store_xml.h"
#include "actors/input/store/protocol/url.h"
#include "tests/support/temp_dir.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

TEST_CASE("an address is split, its host in lower case, and forbidden characters encoded",
          "[actors][store]") {
  const auto url = parse_url("HTTP://Host:8080/a b/\xc3\xa9?x=1&y= 2#part");
  REQUIRE(url);
  CHECK(url->scheme == "http");
  CHECK(url->authority == "host:8080");
  CHECK(url->path == "/a%20b/%C3%A9");
  CHECK(url->query == "x=1&y=%202");
  CHECK(url->text() == "http://host:8080/a%20b/%C3%A9?x=1&y=%202");
  CHECK(parse_url("https://h:443")->text() == "https://h/");
}

TEST_CASE("addresses that differ in spelling alone have one form", "[actors][store]") {
  for (const char* text : {"http://h/a~b/c%2Fd", "http://h/a%7Eb/c%2fd", "http://h/a%7eb/c%2Fd",
                           "http://H:80/x/../a~b/./c%2Fd", "http://h/x/%2E%2e/%61~b/c%2Fd"}) {
    INFO(text);
    CHECK(parse_url(text)->text() == "http://h/a~b/c%2Fd");
  }
  CHECK(parse_url("http://h/a?b=%7e%2f/../.")->text() == "http://h/a?b=~%2F/../.");
  CHECK(parse_url("http://h/..")->text() == "http://h/");
  CHECK(parse_url("http://h/a/b/..")->text() == "http://h/a/");
  CHECK(parse_url("http://h/a//b/.")->text() == "http://h/a//b/");
}

TEST_CASE("what an address could lose its meaning by stays in it", "[actors][store]") {
  CHECK(parse_url("http://h/a%3Fb%23c%2525d+e")->path == "/a%3Fb%23c%2525d+e");
  CHECK(parse_url("http://h/.../..a")->path == "/.../..a");
  // The % that begins no escape would make one of the next characters: %412 is A2.
  CHECK(parse_url("http://h/%%412/50%")->path == "/%25A2/50%25");
}

TEST_CASE("an address keeps a port of its own, and loses an empty one and that of its scheme",
          "[actors][store]") {
  CHECK(parse_url("http://h:/a")->text() == "http://h/a");
  CHECK(parse_url("http://h:0080/a")->text() == "http://h/a");
  CHECK(parse_url("http://h:65535/a")->text() == "http://h:65535/a");
  CHECK(parse_url("http://[::1]")->authority == "[::1]");
  CHECK(parse_url("http://[::1]:80/a")->authority == "[::1]");
  CHECK(parse_url("https://[::1]:80/a")->authority == "[::1]:80");
}

TEST_CASE("an address whose port is not one number is refused", "[actors][store]") {
  for (const char* text :
       {"https://:443", "https://h:443:443", "http://h:8a", "http://h:123456", "http://[::1",
        "http://[]", "http://[::1]8", "http://::1", "http://h:0", "http://h:65536"}) {
    INFO(text);
    CHECK_FALSE(parse_url(text));
  }
}

TEST_CASE("an address of another kind is refused, and never shows a password", "[actors][store]") {
  for (const char* text : {"ftp://h/a", "h/a", "http://", "http:///a", "http://user:word@h/a"}) {
    const auto url = parse_url(text);
    INFO(text);
    REQUIRE_FALSE(url);
    CHECK(url.error().code == Code::kInvalid);
    CHECK(url.error().message.find("word") == std::string::npos);
  }
}

TEST_CASE("keys are encoded as S3 signs them, and decoded again", "[actors][store]") {
  const std::string key = "a/b c+d%~\xe2\x82\xac";
  CHECK(percent_encode(key, Slash::kKeep) == "a/b%20c%2Bd%25~%E2%82%AC");
  CHECK(percent_encode("a/b", Slash::kEncode) == "a%2Fb");
  CHECK(percent_decode(percent_encode(key, Slash::kEncode)) == key);
  CHECK(percent_decode("%4") == "%4");
  CHECK(percent_decode("%zz%41") == "%zzA");
}

Environment with(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const char* name) -> std::optional<std::string> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

TEST_CASE("keys, endpoint and region come from the environment", "[actors][store]") {
  const auto access = find_access({}, with({{"AWS_ACCESS_KEY_ID", "id"},
                                            {"AWS_SECRET_ACCESS_KEY", "word"},
                                            {"AWS_SESSION_TOKEN", "token"},
                                            {"AWS_ENDPOINT_URL", "http://e"},
                                            {"AWS_REGION", "eu-west-1"}}));
  REQUIRE(access);
  CHECK(access->credentials.access_key == "id");
  CHECK(access->credentials.secret == "word");
  CHECK(access->credentials.token == "token");
  CHECK(access->endpoint == "http://e");
  CHECK(access->region == "eu-west-1");
}

TEST_CASE("the job's endpoint and region come before the environment's", "[actors][store]") {
  StorageSpec spec;
  spec.endpoint = "http://mine";
  spec.region = "my-region";
  spec.credentials = "anonymous";
  const auto access =
      find_access(spec, with({{"AWS_ENDPOINT_URL", "http://e"}, {"AWS_REGION", "eu-west-1"}}));
  REQUIRE(access);
  CHECK(access->credentials.anonymous());
  CHECK(access->endpoint == "http://mine");
  CHECK(access->region == "my-region");
  spec.region.clear();
  CHECK(find_access(spec, with({}))->region == "us-east-1");
}

TEST_CASE("a missing variable is named, and no other one shown", "[actors][store]") {
  const auto none = find_access({}, with({}));
  REQUIRE_FALSE(none);
  CHECK(none.error().message.starts_with("AWS_ACCESS_KEY_ID is not set"));
  const auto half = find_access({}, with({{"AWS_ACCESS_KEY_ID", "hidden"}}));
  REQUIRE_FALSE(half);
  CHECK(half.error().message.starts_with("AWS_SECRET_ACCESS_KEY is not set"));
  CHECK(half.error().message.find("hidden") == std::string::npos);
}

TEST_CASE("a profile is read of both files, and a missing one named", "[actors][store]") {
  const test::TempDir folder;
  folder.write("credentials",
               "[default]\naws_access_key_id = other\n# note\n[ mine ]\r\n"
               "aws_access_key_id=id\n aws_secret_access_key = a=b \n");
  folder.write("config", "[profile mine]\nregion = eu-north-1\nendpoint_url = http://e\n");
  const auto environment = with({{"AWS_SHARED_CREDENTIALS_FILE", folder.path("credentials")},
                                 {"AWS_CONFIG_FILE", folder.path("config")}});
  StorageSpec spec;
  spec.credentials = "profile:mine";
  const auto access = find_access(spec, environment);
  REQUIRE(access);
  CHECK(access->credentials.access_key == "id");
  CHECK(access->credentials.secret == "a=b");
  CHECK(access->region == "eu-north-1");
  CHECK(access->endpoint == "http://e");
  spec.credentials = "profile:yours";
  const auto missing = find_access(spec, environment);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().message.find("no profile yours in") != std::string::npos);
  spec.credentials = "profile:default";
  CHECK_FALSE(find_access(spec, environment));  // it has no secret
}

TEST_CASE("the head of an answer is read line by line, the last answer's", "[actors][store]") {
  ResponseHead head;
  for (const char* line :
       {"HTTP/1.1 302 Found\r\n", "ETag: \"old\"\r\n", "HTTP/1.1 206 Partial Content\r\n",
        "content-LENGTH: 6\r\n", "Content-Range: bytes 4-9/20\r\n", "ETag:  \"abc\" \r\n", "\r\n",
        "no colon\r\n"}) {
    head.add_line(line);
  }
  CHECK(head.status == 206);
  CHECK(head.content_length == 6);
  CHECK(head.content_range == ContentRange{.first = 4, .end = 10, .total = 20});
  CHECK(head.etag == "\"abc\"");
  head.add_line("ETag: " + std::string(2000, 'x'));
  CHECK(head.etag == "\"abc\"");
}

TEST_CASE("a range that cannot be is no range", "[actors][store]") {
  CHECK(parse_content_range("bytes */7") == ContentRange{.total = 7});
  for (const char* text : {"bytes 5-4/9", "bytes 0-9/9", "bytes 0-/9", "bytes -1/9", "0-1/9", "",
                           "bytes 0-1/*", "bytes 0-1", "bytes 99999999999999999999-1/2"}) {
    INFO(text);
    CHECK_FALSE(parse_content_range(text));
  }
}

const std::string kPage =
    "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
    "<IsTruncated>true</IsTruncated><NextContinuationToken>t&amp;1</NextContinuationToken>"
    "<Contents><Key>a%2Bb+c%C3%A9</Key><ETag>&quot;e&quot;</ETag><Size>12</Size>"
    "<Owner><ID>x</ID></Owner></Contents>"
    "<EncodingType>url</EncodingType></ListBucketResult>";

TEST_CASE("a page of a listing is read, keys decoded", "[actors][store]") {
  const auto page = parse_list_page(kPage);
  REQUIRE(page);
  CHECK(page->truncated);
  CHECK(page->next == "t&1");
  REQUIRE(page->objects.size() == 1);
  CHECK(page->objects[0].key == "a+b c\xc3\xa9");
  CHECK(page->objects[0].bytes == 12);
  CHECK(page->objects[0].etag == "\"e\"");
}

TEST_CASE("no part of a page is taken for the whole", "[actors][store]") {
  for (std::size_t size = 0; size < kPage.size(); ++size) {
    const auto page = parse_list_page(std::string_view(kPage).substr(0, size));
    REQUIRE_FALSE(page);
    CHECK(page.error().code == Code::kCorrupt);
  }
}

TEST_CASE("what is not a listing is refused", "[actors][store]") {
  for (const char* xml :
       {"<html></html>", "<ListBucketResult><Contents><Key>a</Key></Contents></ListBucketResult>",
        "<ListBucketResult><Contents><Key>a</Key><Size>-1</Size></Contents></ListBucketResult>",
        "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
        "<!DOCTYPE a [<!ENTITY b \"c\">]><ListBucketResult></ListBucketResult>"}) {
    INFO(xml);
    CHECK_FALSE(parse_list_page(xml));
  }
  CHECK(parse_list_page("<ListBucketResult></ListBucketResult>"));
}

TEST_CASE("a refusal is read as far as it goes, printable and short", "[actors][store]") {
  const Refusal whole = parse_refusal(
      "<Error><Code>AccessDenied</Code><Message>No\nway</Message><Region>r</Region></Error>");
  CHECK(whole.code == "AccessDenied");
  CHECK(whole.message == "No\\x0away");
  CHECK(whole.region == "r");
  CHECK(parse_refusal("<Error><Code>SlowDown</Code><Mess").code == "SlowDown");
  CHECK(parse_refusal("").code.empty());
  const std::string text(5000, 'x');
  CHECK(parse_refusal("<Error><Code>" + text + "</Code></Error>").code.size() < 310);
}

}  // namespace
}  // namespace forebay
