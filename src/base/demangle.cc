#include "base/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <string_view>

namespace lanescope::base {

std::string demangle(const std::string& symbol) {
    int status = 0;
    char* text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
    if (status != 0 || !text) return symbol;
    std::string name(text);
    std::free(text);
    // "float const*" → "const float*", as people and NVIDIA's tools write it; "float* const" stays.
    static constexpr std::string_view kConst = " const";
    for (size_t at = 0; (at = name.find(kConst, at)) != std::string::npos;) {
        size_t after = at + kConst.size();
        bool ends = after == name.size() || std::string_view("*&,)> ").find(name[after]) != std::string_view::npos;
        size_t begin = at;
        bool type = true;                      // a const behind a `*` or `&` belongs to the pointer
        for (int depth = 0; begin > 0; --begin) {
            char c = name[begin - 1];
            if (c == '>') ++depth;
            if (depth == 0 && (c == '(' || c == ',' || c == '<')) break;
            if (depth == 0 && (c == '*' || c == '&' || c == ')')) type = false;
            if (c == '<') --depth;
        }
        if (begin < at && name[begin] == ' ') ++begin;
        if (!ends || !type || begin == at) {
            at = after;
            continue;
        }
        name.erase(at, kConst.size());
        name.insert(begin, "const ");
        at = after;
    }
    return name;
}

}  // namespace lanescope::base
