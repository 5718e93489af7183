// Any bytes as a profile: refused with a message, or read such that writing and reading again changes nothing. What is read can be shown in
// every form, and none of its names reaches a terminal, a table or a page raw.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "analysis/pattern.h"
#include "profile/catalogue.h"
#include "profile/profile.h"
#include "report/csv.h"
#include "report/html.h"
#include "report/sarif.h"
#include "report/terminal.h"

namespace {

void refuse_control_characters(const std::string& text) {
    if (std::any_of(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f; })) std::abort();
    for (size_t at = text.find('\xC2'); at < text.size() - 1; at = text.find('\xC2', at + 1))
        if (static_cast<unsigned char>(text[at + 1]) < 0xA0) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace lanescope;
    const auto read = profile::from_json({reinterpret_cast<const char*>(data), size}, "fuzz.json");
    if (!read.ok()) {
        const std::string why = base::to_string(read.errors());
        if (why.empty()) std::abort();
        refuse_control_characters(why);
        return 0;
    }
    profile::Profile profile = *read;
    const std::string json = profile::to_json(profile);
    refuse_control_characters(json);
    const auto again = profile::from_json(json, "again.json");
    if (!again.ok() || profile::to_json(*again) != json) std::abort();
    for (profile::Launch& launch : profile.launches) profile::roll_up(launch);
    analysis::classify(profile);
    const analysis::Summary summary = analysis::summarize(profile, true);
    refuse_control_characters(report::terminal(summary, {}));
    refuse_control_characters(report::ncu_csv(profile));
    refuse_control_characters(report::nvprof_csv(profile));
    refuse_control_characters(report::sarif(summary, "/"));
    (void)report::html(summary);
    return 0;
}
