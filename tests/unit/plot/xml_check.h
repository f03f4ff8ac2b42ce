#pragma once

#include <string>
#include <vector>

namespace tribo {

/// What is wrong with a document of plain XML (as Svg writes it: no comments, no CDATA); empty when nothing is. Checks
/// that elements nest, attributes are quoted, and nothing unescaped or unheard of stands between.
inline std::string xml_mistake(const std::string& text) {
  std::vector<std::string> open;
  std::size_t i = text.starts_with("<?xml") ? text.find("?>") + 2 : 0;
  bool seen_root = false;
  while (i < text.size()) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    if (c < 0x20 && c != '\n') return "control character";
    if (c == '&') {
      const std::string entity = text.substr(i, text.find(';', i) + 1 - i);
      if (entity != "&amp;" && entity != "&lt;" && entity != "&gt;" && entity != "&quot;") return "stray " + entity;
    }
    if (c == '>') return "stray >";
    if (c != '<') {
      if (open.empty() && c != '\n') return "text outside the root";
      ++i;
      continue;
    }
    std::size_t end = i + 1;
    for (bool quoted = false; end < text.size() && (quoted || text[end] != '>'); ++end) {
      if (text[end] == '"') quoted = !quoted;
      if (text[end] == '<') return "< within a tag";
    }
    if (end == text.size()) return "unfinished tag";
    const std::string tag = text.substr(i + 1, end - i - 1);
    const std::string name = tag.substr(0, tag.find_first_of(" \n"));
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != tag.substr(1)) return "unmatched </" + tag.substr(1) + ">";
      open.pop_back();
    } else if (!tag.ends_with('/')) {
      if (open.empty() && seen_root) return "second root";
      seen_root = true;
      open.push_back(name);
    }
    i = end + 1;
  }
  return open.empty() && seen_root ? "" : "unclosed element";
}

}  // namespace tribo
