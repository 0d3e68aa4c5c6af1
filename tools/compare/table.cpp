#include "tools/compare/table.h"

#include "tools/inspect/text_table.h"

namespace forebay {
namespace {

std::string bar_escaped(const std::string& cell) {
  std::string escaped;
  for (const char letter : cell) {
    if (letter == '|') escaped += '\\';
    escaped += letter;
  }
  return escaped;
}

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += " " + bar_escaped(cell) + " |";
  return line + "\n";
}

std::string html_row(const std::vector<std::string>& cells, const std::string& tag) {
  std::string line = "<tr>";
  for (const std::string& cell : cells) {
    line.append("<").append(tag).append(">");
    line.append(html_escaped(cell)).append("</").append(tag).append(">");
  }
  return line + "</tr>\n";
}

}  // namespace

std::string text_of(const Table& table) {
  if (table.rows.empty()) return {};
  std::vector<std::vector<std::string>> all = {table.header};
  all.insert(all.end(), table.rows.begin(), table.rows.end());
  std::string text = table.title + "\n";
  for (const std::string& line : align_columns(all)) text += "  " + line + "\n";
  return text;
}

std::string markdown_of(const Table& table) {
  if (table.rows.empty()) return {};
  std::string text = "## " + table.title + "\n\n" + markdown_row(table.header);
  text += markdown_row(std::vector<std::string>(table.header.size(), "---"));
  for (const auto& row : table.rows) text += markdown_row(row);
  return text + "\n";
}

std::string html_of(const Table& table) {
  if (table.rows.empty()) return {};
  std::string text = "<h2>" + html_escaped(table.title) + "</h2>\n<table>\n";
  text += html_row(table.header, "th");
  for (const auto& row : table.rows) text += html_row(row, "td");
  return text + "</table>\n";
}

std::string html_escaped(const std::string& text) {
  std::string escaped;
  for (const char letter : text) {
    switch (letter) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += letter;
    }
  }
  return escaped;
}

}  // namespace forebay
