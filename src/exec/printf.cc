#include "exec/printf.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <vector>

namespace lanescope::exec {
namespace {

constexpr size_t kMostCharacters = 1 << 20;  // of one conversion, whatever width it asks for

template <class T>
void append(std::string& out, const std::string& specification, T value) {
    char small[256];
    const int length = std::snprintf(small, sizeof small, specification.c_str(), value);
    if (length < 0 || size_t(length) > kMostCharacters) return;
    if (size_t(length) < sizeof small) {
        out.append(small, size_t(length));
        return;
    }
    std::vector<char> large(size_t(length) + 1);
    std::snprintf(large.data(), large.size(), specification.c_str(), value);
    out.append(large.data(), size_t(length));
}

}  // namespace

std::string format_print(std::string_view format, const PrintArguments& arguments, int& count) {
    std::string out;
    uint32_t offset = 0;
    count = 0;
    const auto next = [&](uint32_t bytes) {
        offset = (offset + bytes - 1) / bytes * bytes;
        const uint64_t value = arguments.value(offset, bytes);
        offset += bytes;
        ++count;
        return value;
    };
    for (size_t i = 0; i < format.size(); ++i) {
        if (format[i] != '%') {
            out.push_back(format[i]);
            continue;
        }
        const size_t begin = i++;
        std::string specification = "%";
        const auto take = [&](std::string_view set) {
            while (i < format.size() && set.find(format[i]) != std::string_view::npos) specification.push_back(format[i++]);
        };
        const auto number = [&] {  // digits, or `*` from the arguments
            if (i < format.size() && format[i] == '*') {
                ++i;
                specification += std::to_string(std::clamp<int64_t>(int32_t(next(4)), -int64_t(kMostCharacters), int64_t(kMostCharacters)));
                return;
            }
            std::string digits;
            while (i < format.size() && format[i] >= '0' && format[i] <= '9') digits.push_back(format[i++]);
            if (digits.size() > 7) digits = std::to_string(kMostCharacters);
            specification += digits;
        };
        take("-+ #0");
        number();
        if (i < format.size() && format[i] == '.') {
            specification.push_back('.');
            ++i;
            number();
        }
        unsigned longs = 0, halves = 0;
        for (; i < format.size() && std::string_view("hlLqjzt").find(format[i]) != std::string_view::npos; ++i) {
            if (format[i] == 'h') ++halves;
            else ++longs;
        }
        const char conversion = i < format.size() ? format[i] : '\0';
        const uint32_t bytes = longs != 0 ? 8 : 4;
        const std::string lengthened = specification + (halves == 1 ? "h" : halves > 1 ? "hh" : "ll") + conversion;
        switch (conversion) {
            case 'd':
            case 'i': {
                const uint64_t value = next(bytes);
                if (halves != 0) append(out, lengthened, int(value));
                else append(out, lengthened, bytes == 8 ? static_cast<long long>(value) : static_cast<long long>(int32_t(value)));
                break;
            }
            case 'u': case 'x': case 'X': case 'o': {
                const uint64_t value = next(bytes);
                if (halves != 0) append(out, lengthened, unsigned(value));
                else append(out, lengthened, static_cast<unsigned long long>(value));
                break;
            }
            case 'c': append(out, specification + 'c', int(next(4))); break;
            case 'p': append(out, specification + 'p', reinterpret_cast<void*>(next(8))); break;
            case 's': append(out, specification + 's', arguments.text(next(8)).c_str()); break;
            case 'e': case 'E': case 'f': case 'F': case 'g': case 'G': case 'a': case 'A':
                append(out, specification + conversion, std::bit_cast<double>(next(8)));
                break;
            case '%': out.push_back('%'); break;
            default:
                out.append(format.substr(begin, i - begin + 1));
                break;
        }
    }
    return out;
}

}  // namespace lanescope::exec
