#pragma once

#include <string>
#include <vector>

namespace forebay {

/// A table of text cells, for a terminal and for a page.
struct Table {
  std::string title;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows = {};
};

/// Returns the title and aligned columns; "" if the table has no row.
std::string text_of(const Table& table);

/// Returns a Markdown section, or a section of an HTML page. Cells are escaped.
std::string markdown_of(const Table& table);
std::string html_of(const Table& table);

/// Returns `text` with HTML's special characters escaped.
std::string html_escaped(const std::string& text);

}  // namespace forebay
