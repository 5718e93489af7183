// Recorded tables: comma-separated values as the CSV files of this folder have them.
#pragma once

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace lanescope::accuracy {

using Row = std::map<std::string, std::string>;

/// Comma-separated values with a line of names first; `#` starts a comment line, fields may be quoted.
inline std::vector<Row> read_table(const std::string& path) {
    std::ifstream in(path);
    std::vector<std::string> names;
    std::vector<Row> rows;
    for (std::string line; std::getline(in, line);) {
        if (line.empty() || line[0] == '#') continue;
        std::vector<std::string> fields(1);
        bool quoted = false;
        for (char c : line) {
            if (c == '"') quoted = !quoted;
            else if (c == ',' && !quoted) fields.emplace_back();
            else fields.back() += c;
        }
        if (names.empty()) {
            names = fields;
            continue;
        }
        Row row;
        for (size_t i = 0; i < names.size() && i < fields.size(); ++i) row[names[i]] = fields[i];
        rows.push_back(std::move(row));
    }
    return rows;
}

inline double number(const Row& row, const std::string& name) {
    const auto at = row.find(name);
    return at == row.end() || at->second.empty() ? std::nan("") : std::strtod(at->second.c_str(), nullptr);
}

}  // namespace lanescope::accuracy
