#pragma once

#include <string>
#include <vector>

namespace forebay {

/// Cells as text, for a terminal and for a page.
struct Table {
  std::string title;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows = {};
};

/// The title, then columns below each other; empty where the table has no row.
std::string text_of(const Table& table);

/// As a Markdown section, and as one of an HTML page. Cells are escaped.
std::string markdown_of(const Table& table);
std::string html_of(const Table& table);

/// `text` with what HTML gives a meaning to written out.
std::string html_escaped(const std::string& text);

}  // namespace forebay
