#include "actors/format/parquet/page_reader.h"

#include <algorithm>
#include <utility>

#include "actors/format/parquet/page_sum.h"
#include "core/base/text/mib.h"

namespace forebay::parquet {
namespace {

constexpr std::int32_t kDataPage = 0;
constexpr std::int32_t kDictionaryPage = 2;
constexpr std::int32_t kDataPageV2 = 3;
constexpr std::size_t kLeastPage = std::size_t{16} << 20;  // of this size, any memory is enough
constexpr std::size_t kPagesInMemory = 8;                  // of the largest size that is read

std::string bytes_text(std::int64_t bytes) { return std::to_string(bytes) + " bytes"; }

/// Reads a page's header and moves `bytes` behind the page. Returns "" or what is wrong with it.
std::string take_page(std::span<const char>& bytes, const PageReader::Limits& limits,
                      PageHeader& header, std::span<const char>& body) {
  ThriftReader reader(bytes);
  if (!reader.read(header)) return "a page's header is damaged: " + reader.problem();
  const auto left = static_cast<std::int64_t>(bytes.size() - reader.used());
  if (header.compressed_bytes < 0 || header.compressed_bytes > left) {
    return "a page of " + bytes_text(header.compressed_bytes) + " where " + bytes_text(left) +
           " are left";
  }
  const auto most = static_cast<std::int64_t>(limits.page_bytes);
  if (header.uncompressed_bytes < 0 || header.uncompressed_bytes > most) {
    return "a page of " + bytes_text(header.uncompressed_bytes) +
           " once decompressed, in a column chunk of " + bytes_text(most);
  }
  body = bytes.subspan(reader.used(), static_cast<std::size_t>(header.compressed_bytes));
  bytes = bytes.subspan(reader.used() + body.size());
  return "";
}

}  // namespace

bool PageReader::refuse(std::string problem) {
  problem_ = std::move(problem);
  return false;
}

bool PageReader::check_sum(const PageHeader& header, std::span<const char> body) {
  if (!header.crc) return true;
  return static_cast<std::uint32_t>(*header.crc) == page_sum(body) ||
         refuse("a page's checksum does not match its bytes");
}

bool PageReader::fits_memory(std::size_t bytes) {
  const std::size_t limit = unpacked_.pool().budget().limit();
  const std::size_t most = std::max(kLeastPage, limit / kPagesInMemory);
  if (bytes <= most) return true;
  const std::size_t missing = bytes * kPagesInMemory - limit;
  return refuse("a page of " + bytes_text(static_cast<std::int64_t>(bytes)) +
                " once decompressed, more than an eighth of the memory for the pipeline (" +
                bytes_text(static_cast<std::int64_t>(most)) + "); raise pipeline.memory by " +
                in_mib(missing) + " or write smaller pages");
}

bool PageReader::unpack(std::span<const char> packed, std::size_t size, bool is_packed,
                        std::span<const char>& out) {
  if (!is_packed || limits_.codec == Codec::kNone) {
    out = packed;
    return packed.size() == size || refuse("an uncompressed page has two sizes");
  }
  // A page without bytes may be compressed to nothing at all.
  if (!fits_memory(size)) return false;
  char* const to = unpacked_.of(size);
  out = {to, size};
  if (size == 0 && packed.empty()) return true;
  return decompress_page(limits_.codec, packed, {to, size}) ||
         refuse("a page's " + std::string(name_of(limits_.codec)) + " does not give its " +
                bytes_text(static_cast<std::int64_t>(size)));
}

bool PageReader::set_values(std::int32_t values, Page& out) {
  out.num_values = static_cast<std::size_t>(std::max(values, 0));
  return out.num_values <= limits_.values ||
         refuse("a page of " + std::to_string(values) + " values in a column chunk of " +
                std::to_string(limits_.values));
}

bool PageReader::data_page(const PageHeader& header, std::span<const char> body, Page& out) {
  if (!set_values(header.data->num_values, out)) return false;
  out.encoding = header.data->encoding;
  out.definition_encoding = header.data->definition_encoding;
  out.repetition_encoding = header.data->repetition_encoding;
  return unpack(body, static_cast<std::size_t>(header.uncompressed_bytes), true, out.values);
}

bool PageReader::data_page_v2(const PageHeader& header, std::span<const char> body, Page& out) {
  const DataPageHeaderV2& data = *header.data_v2;
  if (!set_values(data.num_values, out)) return false;
  out.encoding = data.encoding;
  const std::int64_t levels = std::int64_t{data.repetition_bytes} + data.definition_bytes;
  if (data.repetition_bytes < 0 || data.definition_bytes < 0 ||
      levels > std::min(header.compressed_bytes, header.uncompressed_bytes)) {
    return refuse("a page whose levels are larger than the page");
  }
  out.has_levels = true;
  out.repetition = body.first(static_cast<std::size_t>(data.repetition_bytes));
  out.definition =
      body.subspan(out.repetition.size(), static_cast<std::size_t>(data.definition_bytes));
  return unpack(body.subspan(static_cast<std::size_t>(levels)),
                static_cast<std::size_t>(header.uncompressed_bytes - levels),
                data.is_compressed.value_or(true), out.values);
}

bool PageReader::dictionary_page(const PageHeader& header, std::span<const char> body, Page& out) {
  out.is_dictionary = true;
  out.num_values = static_cast<std::size_t>(std::max(header.dictionary->num_values, 0));
  out.encoding = header.dictionary->encoding;
  return unpack(body, static_cast<std::size_t>(header.uncompressed_bytes), true, out.values);
}

bool PageReader::next(Page& out) {
  PageHeader header;
  std::span<const char> body;
  out = {};
  if (auto problem = take_page(bytes_, limits_, header, body); !problem.empty())
    return refuse(std::move(problem));
  if (!check_sum(header, body)) return false;
  if (header.type == kDataPage && header.data) return data_page(header, body, out);
  if (header.type == kDataPageV2 && header.data_v2) return data_page_v2(header, body, out);
  if (header.type == kDictionaryPage && header.dictionary)
    return dictionary_page(header, body, out);
  const bool holds_values =
      header.type == kDataPage || header.type == kDataPageV2 || header.type == kDictionaryPage;
  return !holds_values || refuse("a page's header lacks the part that its type needs");
}

Result<std::size_t> PageReader::values_left() const { return count_values(bytes_, limits_); }

Result<std::size_t> count_values(std::span<const char> bytes, const PageReader::Limits& limits) {
  std::size_t values = 0;
  while (!bytes.empty()) {
    PageHeader header;
    std::span<const char> body;
    if (auto problem = take_page(bytes, limits, header, body); !problem.empty())
      return fail(Code::kCorrupt, problem);
    std::int32_t held = 0;
    if (header.type == kDataPage && header.data) held = header.data->num_values;
    if (header.type == kDataPageV2 && header.data_v2) held = header.data_v2->num_values;
    values += static_cast<std::size_t>(std::max(held, 0));
  }
  return values;
}

}  // namespace forebay::parquet
