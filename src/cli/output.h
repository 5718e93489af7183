// Where reports go, and how a terminal wants them.
#pragma once

#include <string>

#include "analysis/compare.h"
#include "analysis/summary.h"
#include "report/text.h"

namespace lanescope::cli {

/// Options that all commands which show a profile share. File names: empty: not wanted, "-": standard output.
struct Outputs {
    std::string json, html, csv, sarif;
    std::string csv_layout = "ncu";   ///< or "nvprof"
    std::string color = "auto";       ///< always, never
    unsigned width = 0;               ///< 0: the terminal's
    bool verbose = false, quiet = false;
};

/// What the terminal behind `fd` can show. NO_COLOR and TERM=dumb are respected; COLUMNS, else the terminal, gives the width; 80 where
/// neither does.
report::Style style_for(int fd, const Outputs& outputs);

/// Writes the files that `outputs` asks for. `beside`: for the page, see report::html.
base::Status write_files(const analysis::Summary& summary, const Outputs& outputs, const analysis::Comparison* beside = nullptr);

/// A profile from a file ("-": standard input), its patterns classified.
base::Result<profile::Profile> read_profile(const std::string& file);

/// Diagnostics to standard error.
void complain(const base::Diagnostics& diagnostics);
/// Text to standard output or error, whole.
void put(int fd, const std::string& text);

}  // namespace lanescope::cli
