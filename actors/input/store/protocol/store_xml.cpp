#include "actors/input/store/protocol/store_xml.h"

#include <functional>
#include <memory>
#include <utility>

#include <expat.h>

#include "actors/input/store/protocol/response_head.h"
#include "actors/input/store/protocol/url.h"
#include "core/base/text/number.h"
#include "core/base/text/printable.h"

namespace forebay {
namespace {

constexpr std::size_t kMostDepth = 16;
constexpr std::size_t kMostTextBytes = 64 << 10;

/// Calls back at the begin of each element and, with its text, at its end.
class XmlWalk {
 public:
  using OnBegin = std::function<void(const std::string& name)>;
  using OnEnd = std::function<void(const std::string& name, const std::string& text)>;

  XmlWalk(OnBegin on_begin, OnEnd on_end)
      : parser_(XML_ParserCreate(nullptr), XML_ParserFree),
        on_begin_(std::move(on_begin)),
        on_end_(std::move(on_end)) {
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(parser_.get(), begin, end);
    XML_SetCharacterDataHandler(parser_.get(), text);
    // No store sends a document type; without one there are no entities that grow.
    XML_SetStartDoctypeDeclHandler(parser_.get(), doctype);
  }

  /// Whether `xml` is one whole document.
  bool read(std::string_view xml) {
    return XML_Parse(parser_.get(), xml.data(), static_cast<int>(xml.size()), 1) == XML_STATUS_OK;
  }

 private:
  static XmlWalk& self(void* data) { return *static_cast<XmlWalk*>(data); }
  void stop() { XML_StopParser(parser_.get(), XML_FALSE); }

  static void begin(void* data, const char* name, const char** /*attributes*/) {
    XmlWalk& walk = self(data);
    if (++walk.depth_ > kMostDepth) return walk.stop();
    walk.text_.clear();
    walk.on_begin_(name);
  }
  static void end(void* data, const char* name) {
    XmlWalk& walk = self(data);
    --walk.depth_;
    walk.on_end_(name, std::exchange(walk.text_, {}));
  }
  static void text(void* data, const char* bytes, int size) {
    XmlWalk& walk = self(data);
    if (walk.text_.size() > kMostTextBytes) return walk.stop();
    walk.text_.append(bytes, static_cast<std::size_t>(size));
  }
  static void doctype(void* data, const char*, const char*, const char*, int) { self(data).stop(); }

  std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser_;
  OnBegin on_begin_;
  OnEnd on_end_;
  std::size_t depth_ = 0;
  std::string text_;
};

/// Builds a page of what a walk meets.
class PageBuilder {
 public:
  void begin(const std::string& name) {
    if (depth_++ == 0) is_listing_ = name == "ListBucketResult";
    if (name == "Contents") {
      inside_ = true;
      object_ = {};
      has_size_ = false;
    }
  }

  void end(const std::string& name, const std::string& text) {
    --depth_;
    if (name == "EncodingType") encoded_ = text == "url";
    if (name == "IsTruncated") page_.truncated = text == "true";
    if (name == "NextContinuationToken") page_.next = text;
    if (!inside_) return;
    if (name == "Key") object_.key = text;
    if (name == "ETag") object_.etag = text;
    if (name == "Size") {
      const auto size = parse_number(text);
      has_size_ = size.has_value();
      object_.bytes = size.value_or(0);
    }
    if (name == "Contents") end_object();
  }

  Result<ListPage> finish() {
    if (!is_listing_) return fail(Code::kCorrupt, "what it answers is not a listing");
    if (!complete_) return fail(Code::kCorrupt, "an object in its listing lacks a key or a size");
    if (page_.truncated && page_.next.empty()) {
      return fail(Code::kCorrupt, "its listing goes on, but does not say where");
    }
    // EncodingType may follow the objects.
    for (ListPage::Object& object : page_.objects) {
      if (encoded_) object.key = decoded_key(object.key);
    }
    return std::move(page_);
  }

 private:
  // A `+` in an encoded key is a blank.
  static std::string decoded_key(std::string key) {
    for (char& c : key) c = c == '+' ? ' ' : c;
    return percent_decode(key);
  }

  void end_object() {
    inside_ = false;
    complete_ = complete_ && has_size_ && !object_.key.empty();
    page_.objects.push_back(std::move(object_));
  }

  ListPage page_;
  ListPage::Object object_;
  std::size_t depth_ = 0;
  bool is_listing_ = false;
  bool inside_ = false;
  bool has_size_ = false;
  bool complete_ = true;
  bool encoded_ = false;
};

}  // namespace

Result<ListPage> parse_list_page(std::string_view xml) {
  PageBuilder page;
  XmlWalk walk([&page](const std::string& name) { page.begin(name); },
               [&page](const std::string& name, const std::string& text) { page.end(name, text); });
  if (xml.size() > kMostListBytes || !walk.read(xml)) {
    return fail(Code::kCorrupt, "its listing is cut off or is not XML");
  }
  return page.finish();
}

Refusal parse_refusal(std::string_view xml) {
  constexpr std::size_t kMostShown = 300;
  Refusal refusal;
  XmlWalk walk([](const std::string&) {},
               [&refusal](const std::string& name, const std::string& text) {
                 const auto take = [&text](std::string& into) {
                   if (into.empty()) into = printable(text, kMostShown);
                 };
                 if (name == "Code") take(refusal.code);
                 if (name == "Message") take(refusal.message);
                 if (name == "Region") take(refusal.region);
                 if (name == "ServerTime") take(refusal.server_time);
               });
  static_cast<void>(walk.read(xml.substr(0, kMostTextBytes)));
  return refusal;
}

}  // namespace forebay
