// A profile as JSON text. Written by hand rather than through a tree: profiles of 100 000 launches are ordinary, and counts must
// come out as integers.
#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include <nlohmann/json.hpp>

#include "profile/catalogue.h"
#include "profile/profile.h"

namespace lanescope::profile {
namespace {

/// Length of the valid UTF-8 sequence at the start of `text`; 0: none.
size_t utf8_length(std::string_view text) {
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(0);
    const size_t length = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
    if (length == 0 || length > text.size()) return 0;
    for (size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xC0) != 0x80) return 0;
    // Overlong forms, surrogates and what lies beyond U+10FFFF.
    if (length == 3 && ((lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xED && byte(1) > 0x9F))) return 0;
    if (length == 4 && ((lead == 0xF0 && byte(1) < 0x90) || (lead == 0xF4 && byte(1) > 0x8F))) return 0;
    return length;
}

/// Appends JSON to a string. Members and elements get their commas by themselves.
class Writer {
public:
    explicit Writer(std::string& out) : out_(out) {}

    Writer& key(std::string_view name) {
        comma();
        quote(name);
        out_ += ": ";
        after_key_ = true;
        return *this;
    }
    void text(std::string_view value) {
        comma();
        quote(value);
    }
    void integer(uint64_t value) {
        comma();
        out_ += fmt::format_int(value).c_str();
    }
    void boolean(bool value) {
        comma();
        out_ += value ? "true" : "false";
    }
    /// Integers as integers, others by the shortest text that reads back to the same double. JSON has no infinity: null.
    void real(double value) {
        comma();
        char buffer[32];
        if (!std::isfinite(value)) {
            out_ += "null";
        } else if (value == std::floor(value) && std::abs(value) < 9007199254740992.0) {
            out_ += fmt::format_int(static_cast<int64_t>(value)).c_str();
        } else {
            out_.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
        }
    }
    void raw(std::string_view json) {
        comma();
        out_ += json;
    }
    template <class Body>
    void object(Body body) {
        nest('{', '}', body);
    }
    template <class Body>
    void array(Body body) {
        nest('[', ']', body);
    }
    /// A line break before the next member or element.
    void line(unsigned indent) {
        if (!first_) out_ += ',';
        out_ += '\n';
        out_.append(indent, ' ');
        after_key_ = true;  // the comma is already there
    }

private:
    void comma() {
        if (!after_key_ && !first_) out_ += ", ";
        after_key_ = false;
        first_ = false;
    }
    template <class Body>
    void nest(char open, char close, Body body) {
        comma();
        out_ += open;
        first_ = true;
        body();
        out_ += close;
        first_ = false;
        after_key_ = false;
    }
    void quote(std::string_view text) {
        out_ += '"';
        while (!text.empty()) {
            const auto c = static_cast<unsigned char>(text[0]);
            const size_t length = utf8_length(text);
            if (length == 0) {
                out_ += "\xEF\xBF\xBD";
            } else if (c == '"' || c == '\\') {
                out_ += '\\';
                out_ += text[0];
            } else if (c == '\n') {
                out_ += "\\n";
            } else if (c == '\t') {
                out_ += "\\t";
            } else if (c < 0x20 || c == 0x7F) {
                out_ += fmt::format("\\u{:04x}", c);
            } else if (c == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0) {  // C1: terminals take them for controls
                out_ += fmt::format("\\u{:04x}", static_cast<unsigned char>(text[1]));
            } else {
                out_ += text.substr(0, length);
            }
            text.remove_prefix(length == 0 ? 1 : length);
        }
        out_ += '"';
    }

    std::string& out_;
    bool first_ = true, after_key_ = false;
};

void write(Writer& json, const Metrics& metrics) {
    json.object([&] {
        for (const auto& [name, value] : metrics)
            if (std::isfinite(value)) json.key(name).real(value);
    });
}

void write(Writer& json, const Frame& frame) {
    json.object([&] {
        json.key("file").text(frame.file);
        json.key("line").integer(frame.line);
        if (!frame.function.empty()) json.key("function").text(frame.function);
    });
}

template <class Texts>
void write_texts(Writer& json, const Texts& texts) {
    json.array([&] {
        for (const auto& text : texts) json.text(text);
    });
}

void write_map(Writer& json, const std::map<std::string, std::string>& map) {
    json.object([&] {
        for (const auto& [name, value] : map) json.key(name).text(value);
    });
}

void write(Writer& json, const Access& access) {
    json.object([&] {
        json.key("space").text(access.space);
        json.key("op").text(access.operation);
        json.key("bytes").integer(access.bytes);
        json.key("instruction").integer(access.instruction);
        for (const Counter& counter : counters())
            if (const auto at = access.metrics.find(counter.name); at != access.metrics.end()) json.key(counter.name).real(at->second);
        for (const auto& [name, value] : access.metrics)
            if (find_counter(name) == nullptr && std::isfinite(value)) json.key(name).real(value);
        if (!access.pattern.empty()) json.key("pattern").text(access.pattern);
        if (access.example) {
            json.key("example").object([&] {
                json.key("block").integer(access.example->block);
                json.key("warp").integer(access.example->warp);
                json.key("active").integer(access.example->active);
                json.key("addresses").array([&] {
                    for (const uint64_t address : access.example->addresses) json.integer(address);
                });
            });
        }
    });
}

void write(Writer& json, const Line& line) {
    json.object([&] {
        json.key("file").text(line.file);
        json.key("line").integer(line.line);
        if (!line.function.empty()) json.key("function").text(line.function);
        json.key("inlined_from").array([&] {
            for (const Frame& frame : line.inlined_from) write(json, frame);
        });
        write(json.key("metrics"), line.metrics);
        json.key("accesses").array([&] {
            for (const Access& access : line.accesses) write(json, access);
        });
    });
}

void write(Writer& json, const WhatIf& tried) {
    json.object([&] {
        json.key("change").text(tried.change);
        json.key("where").array([&] {
            for (const Frame& frame : tried.where) write(json, frame);
        });
        json.key("instructions").array([&] {
            for (const uint32_t instruction : tried.instructions) json.integer(instruction);
        });
        write(json.key("parameters"), tried.parameters);
        write(json.key("before"), tried.before);
        write(json.key("after"), tried.after);
    });
}

void write_dim(Writer& json, const uint32_t (&dim)[3]) {
    json.array([&] {
        for (const uint32_t d : dim) json.integer(d);
    });
}

void write(Writer& json, const Launch& launch, bool broken) {
    json.object([&] {
        json.key("index").integer(launch.index);
        json.key("kernel").text(launch.kernel);
        json.key("symbol").text(launch.symbol);
        write_dim(json.key("grid"), launch.grid);
        write_dim(json.key("block"), launch.block);
        json.key("stream").integer(launch.stream);
        if (launch.start_ns) json.key("start_ns").real(*launch.start_ns);
        if (broken) json.line(4);
        write(json.key("metrics"), launch.metrics);
        if (broken) json.line(4);
        json.key("lines").array([&] {
            for (const Line& line : launch.lines) {
                if (broken) json.line(6);
                write(json, line);
            }
        });
        if (!launch.bound.empty()) json.key("bound").text(launch.bound);
        if (!launch.second_bound.empty()) json.key("second_bound").text(launch.second_bound);
        if (!launch.units.empty())
            json.key("units").object([&] {
                for (const Unit& unit : launch.units)
                    json.key(unit.name).object([&] {
                        json.key("of_peak").real(unit.of_peak);
                        json.key("busy").real(unit.busy);
                    });
            });
        if (!launch.notes.empty()) write_texts(json.key("notes"), launch.notes);
        if (!launch.absent.empty()) write_map(json.key("absent"), launch.absent);
        if (!launch.what_if.empty())
            json.key("what_if").array([&] {
                for (const WhatIf& tried : launch.what_if) {
                    if (broken) json.line(6);
                    write(json, tried);
                }
            });
    });
}

void write(Writer& json, const Transfer& transfer) {
    json.object([&] {
        json.key("kind").text(transfer.kind);
        json.key("memory").text(transfer.memory);
        json.key("bytes").integer(transfer.bytes);
        json.key("stream").integer(transfer.stream);
        json.key("start_ns").real(transfer.start_ns);
        json.key("duration_ns").real(transfer.duration_ns);
        if (transfer.launch) json.key("launch").integer(*transfer.launch);
    });
}

void write(Writer& json, const Fault& fault) {
    json.object([&] {
        json.key("kind").text(fault.kind);
        json.key("message").text(fault.message);
        json.key("warning").boolean(fault.warning);
        json.key("launch").integer(fault.launch);
        json.key("where").array([&] {
            for (const Frame& frame : fault.where) write(json, frame);
        });
        if (!fault.other.empty())
            json.key("other").array([&] {
                for (const Frame& frame : fault.other) write(json, frame);
            });
        write(json.key("numbers"), fault.numbers);
    });
}

/// The GPU's description with its name in front. Text that is no JSON object is left out.
std::string gpu_json(const Profile& profile) {
    nlohmann::ordered_json gpu = {{"name", profile.gpu_name}};
    const auto description = nlohmann::json::parse(profile.gpu_json, nullptr, false);  // members in order of name
    if (description.is_object())
        for (const auto& [key, value] : description.items())
            if (key != "name") gpu[key] = value;
    return gpu.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
}

template <class Piece, class... More>
std::string one_line(const Piece& piece, More... more) {
    std::string out;
    Writer json(out);
    write(json, piece, more...);
    return out;
}

}  // namespace

std::string to_json(const Launch& launch) { return one_line(launch, false); }
std::string to_json(const Transfer& transfer) { return one_line(transfer); }
std::string to_json(const Fault& fault) { return one_line(fault); }

std::string to_json(const Profile& profile) {
    std::string out;
    Writer json(out);
    json.object([&] {
        json.key("schema").text("lanescope-profile/1");
        json.key("backend").text(profile.backend);
        json.line(1);
        json.key("gpu").raw(gpu_json(profile));
        json.line(1);
        json.key("program").object([&] { write_texts(json.key("argv"), profile.argv); });
        json.line(1);
        write_map(json.key("settings"), profile.settings);
        json.line(1);
        json.key("launches").array([&] {
            for (const Launch& launch : profile.launches) {
                json.line(2);
                write(json, launch, true);
            }
        });
        json.line(1);
        json.key("transfers").array([&] {
            for (const Transfer& transfer : profile.transfers) {
                json.line(2);
                write(json, transfer);
            }
        });
        json.line(1);
        json.key("faults").array([&] {
            for (const Fault& fault : profile.faults) {
                json.line(2);
                write(json, fault);
            }
        });
        json.line(1);
        json.key("sources").object([&] {
            for (const auto& [file, lines] : profile.sources) {
                json.line(2);
                write_texts(json.key(file), lines);
            }
        });
    });
    out += '\n';
    return out;
}

}  // namespace lanescope::profile
