// One experiment as its folder states it: the program, the runs, what to tabulate and plot, and what it claims.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "lab/expression.h"

namespace lanescope::lab {

/// For people, in both languages.
struct Text {
    std::string en, zh;
};

struct Run {
    std::string name;                     ///< the field `run` of its cases; empty if there is only one run
    std::string l1;                       ///< "on", "off" or empty: the GPU's default
    bool warm = false;                    ///< caches kept between kernels
    std::vector<std::string> quick, full; ///< the program's arguments
    std::vector<std::string> full_emulated;  ///< of --full on an emulated GPU, where repeating changes nothing and size takes time
};

struct Column {
    std::string name;                     ///< usable in later columns and in claims
    Text label;
    std::string unit;                     ///< "ns", "B", "%", … as report::… formats it; empty: a plain number
    bool shown = true;
    Expression value;
};

struct Plot {
    enum class Kind : uint8_t {
        kLine,     ///< y over x, a line for each series and GPU
        kBars,     ///< y for each case
        kJourney,  ///< each case's way through the levels: `steps` are columns, in order
        kWarps,    ///< the lanes of a warp on the sectors they touch, for each case
    } kind = Kind::kLine;
    Text title;
    std::string x, y, series;
    std::vector<std::string> steps;
    std::vector<Expression::Condition> where;
    bool log_x = false;
};

struct Claim {
    Text says;
    std::vector<std::string> gpus;        ///< empty: of every GPU
    std::string backend, mode;            ///< "emulated" or "hardware", "quick" or "full"; empty: either
    std::string text;                     ///< of `that`
    Expression that;
};

struct Experiment {
    std::string name;                     ///< "05-alignment": its folder
    std::filesystem::path folder;
    Text title, question;
    std::filesystem::path program;
    std::vector<std::string> gpus;        ///< which it is run for when the user names none
    std::vector<std::string> rows;        ///< fields that name a case in tables
    std::vector<Run> runs;
    std::vector<Column> columns;
    std::vector<Plot> plots;
    std::vector<Claim> claims;
    std::string explanation;              ///< README.md
};

/// Whatever the columns, plots and claims speak of: fields that the program prints, columns, metrics.
std::vector<std::string> names_in(const Experiment& experiment);

/// Checks experiment.toml strictly: every error carries file:line:col.
base::Result<Experiment> parse(std::string_view toml, const std::string& file);
/// Reads a folder: experiment.toml, README.md and the program must be there.
base::Result<Experiment> load(const std::filesystem::path& folder);

/// The folder of experiments: $LANESCOPE_LAB, else share/lanescope/lab beside the executable's folder, else the first `lab/` with a
/// lab.h in it on the way from the executable to the root. Empty: not found.
std::filesystem::path find_folder(const std::filesystem::path& executable);
/// Names of the experiments in a folder, in order.
std::vector<std::string> names(const std::filesystem::path& folder);
/// "05-alignment" for itself, "05", "5" or "alignment"; nothing if no or several experiments match.
std::string complete(const std::vector<std::string>& names, const std::string& word);

}  // namespace lanescope::lab
