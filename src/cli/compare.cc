// lanescope check and diff: exit statuses for CI.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "analysis/check.h"
#include "analysis/compare.h"
#include "base/file.h"
#include "cli/commands.h"
#include "report/difference.h"

namespace lanescope::cli {
namespace {

int fail(const base::Diagnostics& errors) {
    complain(errors);
    return kOwnFailure;
}

/// Limits of the command line, and those of lanescope.toml where there is one.
base::Result<std::vector<analysis::Limit>> limits_of(const CheckOptions& options) {
    std::vector<analysis::Limit> limits;
    base::Diagnostics errors;
    const auto add = [&](const std::vector<std::string>& texts, bool is_max) {
        for (const std::string& text : texts) {
            auto limit = analysis::parse_limit(text, is_max);
            if (limit.ok()) {
                limit->kernel = options.kernel;
                if (!options.line.empty())
                    if (const base::Status placed = analysis::parse_place(options.line, *limit); !placed.ok()) errors.push_back(placed.errors().front());
                limits.push_back(std::move(*limit));
            } else {
                errors.insert(errors.end(), limit.errors().begin(), limit.errors().end());
            }
        }
    };
    add(options.max, true);
    add(options.min, false);
    std::string file = options.limits;
    std::error_code ignored;
    if (file.empty() && limits.empty() && errors.empty() && std::filesystem::exists("lanescope.toml", ignored)) file = "lanescope.toml";
    if (!file.empty()) {
        const auto text = base::read_file(file);
        if (!text.ok()) return text.errors();
        auto more = analysis::parse_limits(*text, file);
        if (!more.ok()) return more.errors();
        limits.insert(limits.end(), more->begin(), more->end());
    }
    if (!errors.empty()) return errors;
    return limits;
}

}  // namespace

int check(const CheckOptions& options, const Outputs& outputs) {
    const auto limits = limits_of(options);
    if (!limits.ok()) return fail(limits.errors());
    if (limits->empty() && options.baseline.empty())
        return fail({base::error("there is nothing to check: give --max, --min, --baseline, or limits in lanescope.toml")});
    const auto profile = read_profile(options.profile);
    if (!profile.ok()) return fail(profile.errors());
    analysis::CheckResult result = analysis::check(*profile, *limits);
    if (!options.baseline.empty()) {
        const auto baseline = read_profile(options.baseline);
        if (!baseline.ok()) return fail(baseline.errors());
        const auto grown = analysis::check_against(*profile, *baseline, options.tolerance / 100);
        result.broken.insert(result.broken.end(), grown.begin(), grown.end());
    }
    const report::Style style = style_for(STDOUT_FILENO, outputs);
    put(STDOUT_FILENO, report::broken_limits(result.broken, style));
    for (const std::string& unmatched : result.unmatched) complain({base::error("nothing was checked for " + unmatched)});
    if (result.broken.empty() && result.unmatched.empty())
        put(STDOUT_FILENO, paint(style, report::Color::kGreen, "all limits hold") + (result.compared == 0 ? std::string("\n") : fmt::format(" ({} compared)\n", result.compared)));
    return !result.broken.empty() ? 1 : result.unmatched.empty() ? 0 : kOwnFailure;
}

int diff(const std::string& before, const std::string& after, const Outputs& outputs) {
    const auto old_profile = read_profile(before), new_profile = read_profile(after);
    if (!old_profile.ok()) return fail(old_profile.errors());
    if (!new_profile.ok()) return fail(new_profile.errors());
    const analysis::Comparison comparison = analysis::compare(*old_profile, *new_profile);
    if (!outputs.quiet && outputs.html != "-") put(STDOUT_FILENO, report::difference(comparison, style_for(STDOUT_FILENO, outputs)));
    // Of a prediction beside a measurement the page shows the emulated side: it knows lanes, classes and what changes gain.
    const bool show_old = comparison.prediction && old_profile->backend == "emulated";
    if (const base::Status written = write_files(analysis::summarize(show_old ? *old_profile : *new_profile), outputs, &comparison); !written.ok()) return fail(written.errors());
    return 0;
}

}  // namespace lanescope::cli
