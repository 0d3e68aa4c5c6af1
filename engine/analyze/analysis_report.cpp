#include "engine/analyze/analysis_report.h"

#include <algorithm>

#include "engine/job/quantity.h"

namespace forebay {
namespace {

std::string line(const char* format, const std::string& name, double share, double microseconds) {
  return printed(format, name.c_str(), share * 100, microseconds);
}

double per_row(double busy, const Analysis& analysis) {
  return analysis.rows > 0 ? busy * 1e6 / static_cast<double>(analysis.rows) : 0;
}

JsonObject to_json(const WhatIf& what_if, double today) {
  JsonObject json;
  json.add("change", what_if.change)
      .add("predicted_rows_per_second", what_if.rows_per_second)
      .add("gain", today > 0 ? what_if.rows_per_second / today : 1.0)
      .add("by", what_if.by_trial ? "trial" : "model");
  if (!what_if.note.empty()) json.add("note", what_if.note);
  return json;
}

}  // namespace

JsonObject to_json(const Analysis& analysis) {
  const double all = total_busy(analysis.pieces);
  JsonObject shares;
  const auto by_part = shares_of(analysis.pieces);
  for (std::size_t i = 0; i < kParts; ++i) shares.add(name_of(static_cast<Part>(i)), by_part[i]);
  JsonObject parts;
  JsonObject costs;
  for (const Piece& piece : analysis.pieces) {
    parts.add(piece.name, all > 0 ? piece.busy / all : 0.0);
    costs.add(piece.name, per_row(piece.busy, analysis));
  }
  JsonObject json;
  json.add("rows", analysis.rows)
      .add("seconds", analysis.seconds)
      .add("rows_per_second", analysis.rows_per_second)
      .add("shares", shares)
      .add("parts", parts)
      .add("costs", costs)
      .add("what_if", analysis.what_ifs,
           [&](const WhatIf& each) { return to_json(each, analysis.rows_per_second); })
      .add("limiting_part", analysis.limit.part)
      .add("verdict", analysis.limit.sentence)
      .add("advice", analysis.advice);
  return json;
}

std::string format_analysis(const Analysis& analysis) {
  const double all = total_busy(analysis.pieces);
  std::string text = format_count(analysis.rows) + " rows in " +
                     format_number(analysis.seconds, 1) + " s, " +
                     format_count(static_cast<std::uint64_t>(analysis.rows_per_second)) +
                     " rows/s\n  part                            share    µs a row\n";
  const auto by_part = shares_of(analysis.pieces);
  for (std::size_t i = 0; i < kParts; ++i) {
    const auto part = static_cast<Part>(i);
    text += line("  %-30s %5.1f %% %11.3f\n", std::string(name_of(part)), by_part[i],
                 per_row(by_part[i] * all, analysis));
    for (const Piece& piece : analysis.pieces) {
      if (piece.part != part || piece.name == name_of(part) || piece.busy <= 0) continue;
      text += line("    %-28s %5.1f %% %11.3f\n", piece.name, piece.busy / all,
                   per_row(piece.busy, analysis));
    }
  }
  text += "what if\n";
  for (const WhatIf& each : analysis.what_ifs) {
    text += "  " + each.change + ": " +
            format_count(static_cast<std::uint64_t>(std::max(0.0, each.rows_per_second))) +
            " rows/s (" + (each.by_trial ? "tried out" : "by the model") + ")" +
            (each.note.empty() ? "" : "; " + each.note) + "\n";
  }
  text += analysis.limit.sentence + "\nthree things to do, in order of gain:\n";
  for (std::size_t i = 0; i < analysis.advice.size(); ++i) {
    text += "  " + std::to_string(i + 1) + ". " + analysis.advice[i] + "\n";
  }
  return text;
}

}  // namespace forebay
