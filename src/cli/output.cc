#include "cli/output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "analysis/pattern.h"
#include "base/file.h"
#include "cli/process.h"
#include "profile/catalogue.h"
#include "report/csv.h"
#include "report/html.h"
#include "report/sarif.h"

namespace lanescope::cli {

report::Style style_for(int fd, const Outputs& outputs) {
    report::Style style;
    style.verbose = outputs.verbose;
    const bool terminal = ::isatty(fd) == 1;
    const std::string term = environment("TERM");
    style.color = outputs.color == "always" || (outputs.color == "auto" && terminal && environment("NO_COLOR").empty() && term != "dumb");
    winsize size{};
    const long from_environment = std::strtol(environment("COLUMNS").c_str(), nullptr, 10);
    if (outputs.width != 0) style.width = outputs.width;
    else if (from_environment > 0) style.width = static_cast<unsigned>(std::min(from_environment, 1000l));
    else if (terminal && ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) style.width = size.ws_col;
    style.width = std::max(style.width, 60u);
    // UTF-8 unless the locale names another character set: containers often name none and show it well.
    std::string locale = environment("LC_ALL");
    if (locale.empty()) locale = environment("LC_CTYPE");
    if (locale.empty()) locale = environment("LANG");
    const size_t dot = locale.find('.');
    const std::string charset = dot == std::string::npos ? "" : locale.substr(dot + 1);
    style.unicode = term != "dumb" && (charset.empty() || charset.starts_with("UTF") || charset.starts_with("utf"));
    return style;
}

base::Status write_files(const analysis::Summary& summary, const Outputs& outputs, const analysis::Comparison* beside) {
    base::Diagnostics errors;
    const auto write = [&](const std::string& file, auto make) {
        if (file.empty()) return;
        if (file == "-") return put(STDOUT_FILENO, make());
        const base::Status status = base::write_file(file, make());
        errors.insert(errors.end(), status.errors().begin(), status.errors().end());
    };
    const profile::Profile& profile = *summary.profile;
    std::error_code ignored;
    write(outputs.json, [&] { return profile::to_json(profile); });
    write(outputs.html, [&] { return report::html(summary, beside); });
    write(outputs.csv, [&] { return outputs.csv_layout == "nvprof" ? report::nvprof_csv(profile) : report::ncu_csv(profile); });
    write(outputs.sarif, [&] { return report::sarif(summary, std::filesystem::current_path(ignored).string()); });
    return errors;
}

base::Result<profile::Profile> read_profile(const std::string& file) {
    const auto text = base::read_file(file == "-" ? "/dev/stdin" : file);
    if (!text.ok()) return text.errors();
    auto profile = profile::from_json(*text, file);
    if (profile.ok() && profile->backend == "emulated")  // a hardware profile's accesses hold only what was measured
        for (profile::Launch& launch : profile->launches) profile::roll_up(launch);
    if (profile.ok()) analysis::classify(*profile);
    return profile;
}

void complain(const base::Diagnostics& diagnostics) {
    for (const base::Diagnostic& diagnostic : diagnostics) put(STDERR_FILENO, "lanescope: " + base::to_string(diagnostic) + "\n");
}

void put(int fd, const std::string& text) {
    for (size_t done = 0; done < text.size();) {
        const ssize_t count = ::write(fd, text.data() + done, text.size() - done);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return;  // a closed pipe: nobody reads on
        done += static_cast<size_t>(count);
    }
}

}  // namespace lanescope::cli
