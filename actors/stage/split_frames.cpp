#include "actors/stage/split_frames.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "core/wire/codec.h"

namespace forebay {

template <>
struct WireField<BadRow> {
  static auto fields(auto& row) {
    return std::tie(row.file, row.offset, row.line, row.reason, row.text, row.group);
  }
  static void write(Encoder& encoder, const BadRow& row) { write_fields(encoder, fields(row)); }
  static bool read(Decoder& decoder, BadRow& row) { return read_fields(decoder, fields(row)); }
};

namespace {

/// The fields of a split beside its columns. Fields are append-only.
struct SplitRest {
  std::uint64_t number = 0;
  std::uint64_t filtered = 0;
  std::vector<BadRow> bad;
  std::vector<std::int64_t> times;  // begin and end of each stage, then the time of sending
  std::uint64_t sampled = 0;
  std::vector<std::uint64_t> repeats;  // rows, unique rows and bytes of each group
  static auto fields(auto& self) {
    return std::tie(self.number, self.filtered, self.bad, self.times, self.sampled, self.repeats);
  }
};

constexpr std::int64_t kLatest = std::int64_t{1} << 61;  // Sums of two do not overflow.

std::vector<std::int64_t> listed(const SplitTimes& times) {
  std::vector<std::int64_t> list;
  list.reserve(2 * times.stages.size() + 1);
  for (const SplitTimes::Span& stage : times.stages) {
    list.push_back(stage.begin.count());
    list.push_back(stage.end.count());
  }
  list.push_back(times.sent.count());
  return list;
}

SplitTimes times_of(const std::vector<std::int64_t>& list) {
  SplitTimes times;
  times.stages.reserve(list.size() / 2);
  for (std::size_t i = 0; i + 1 < list.size(); i += 2) {
    times.stages.push_back({SplitTimes::Time(list[i]), SplitTimes::Time(list[i + 1])});
  }
  times.sent = SplitTimes::Time(list.back());
  return times;
}

std::vector<std::uint64_t> listed(const std::vector<RepeatCount>& repeats) {
  std::vector<std::uint64_t> list;
  for (const RepeatCount& group : repeats) {
    list.insert(list.end(), {group.rows, group.unique, group.bytes});
  }
  return list;
}

std::vector<RepeatCount> repeats_of(const std::vector<std::uint64_t>& list) {
  std::vector<RepeatCount> repeats;
  for (std::size_t i = 0; i + 2 < list.size(); i += 3) {
    repeats.push_back({.rows = list[i], .unique = list[i + 1], .bytes = list[i + 2]});
  }
  return repeats;
}

Status check(const SplitRest& rest, const SplitLimits& limits) {
  for (const BadRow& row : rest.bad) {
    if (row.file >= limits.files) {
      return fail(Code::kCorrupt, "split with a damaged row of a file that the dataset lacks: " +
                                      std::to_string(row.file));
    }
    if (row.text.size() > BadRow::kMaxText) {
      return fail(Code::kCorrupt, "split with too long a damaged row: " +
                                      std::to_string(row.text.size()) + " bytes");
    }
  }
  const bool possible = std::all_of(rest.times.begin(), rest.times.end(),
                                    [](std::int64_t time) { return time >= 0 && time <= kLatest; });
  if (rest.times.size() != 2 * limits.stages + 1 || !possible) {
    return fail(Code::kCorrupt, "split with impossible times of its stages");
  }
  return {};
}

}  // namespace

Frames pack_split(const Split& split, const PackOptions& options, BufferPool& pool) {
  WireBuffer rest;
  encode_value(SplitRest{.number = split.id.number,
                         .filtered = split.filtered,
                         .bad = split.bad,
                         .times = listed(split.times),
                         .sampled = split.sampled,
                         .repeats = listed(split.repeats)},
               rest);
  return pack_columns(split.columns, rest.bytes(), options, pool);
}

namespace {

Result<Split> unpack_part(const Frames& frames, const SplitLimits& limits, BufferPool& pool) {
  auto unpacked = unpack_columns(frames, limits.columns, pool);
  if (!unpacked) return pass(unpacked);
  auto rest = decode_value<SplitRest>("split", unpacked->extra);
  if (!rest) return pass(rest);
  if (auto status = check(*rest, limits); !status) return pass(status);
  return Split{.id = {.number = rest->number},
               .columns = std::move(unpacked->columns),
               .bad = std::move(rest->bad),
               .filtered = rest->filtered,
               .times = times_of(rest->times),
               .sampled = rest->sampled,
               .repeats = repeats_of(rest->repeats)};
}

}  // namespace

Result<std::vector<Split>> unpack_split(const Frames& frames, const SplitLimits& limits,
                                        BufferPool& pool) {
  const std::size_t each = column_frames(limits.columns.repeated.size());
  if (frames.size() != limits.parts * each) {
    return fail(Code::kCorrupt, "split of " + std::to_string(frames.size()) + " frames, not " +
                                    std::to_string(limits.parts * each));
  }
  std::vector<Split> parts;
  for (std::size_t i = 0; i < limits.parts; ++i) {
    const auto first = frames.begin() + static_cast<std::ptrdiff_t>(i * each);
    const auto end = first + static_cast<std::ptrdiff_t>(each);
    auto part = unpack_part({first, end}, limits, pool);
    if (!part) return pass(part);
    if (i > 0 && part->id.number != parts.front().id.number) {
      return fail(Code::kCorrupt, "split with a part of another split");
    }
    part->part = static_cast<std::uint32_t>(i);
    part->parts = static_cast<std::uint32_t>(limits.parts);
    parts.push_back(std::move(*part));
  }
  return parts;
}

}  // namespace forebay
