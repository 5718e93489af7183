// What experiments found, for a terminal, as JSON and as a page.
#pragma once

#include <string>
#include <vector>

#include "lab/laboratory.h"
#include "report/text.h"

namespace lanescope::lab {

/// One experiment: a table with a column for each value and GPU, small plots, and each claim with its verdict. Ends with a newline.
std::string terminal(const ExperimentResult& result, const report::Style& style);
/// "41 claims confirmed, 1 refuted, 2 undecided" over all of them. Ends with a newline.
std::string totals(const std::vector<ExperimentResult>& results, const report::Style& style);

/// Schema `lanescope-lab/1`: every case with its values and metrics, every claim with its verdict and numbers.
std::string to_json(const std::vector<ExperimentResult>& results);
/// One self-contained page.
std::string html(const std::vector<ExperimentResult>& results);

/// A value as people read it, in the column's unit.
std::string shown(double value, const std::string& unit);
/// "5", "4 … 5": the numbers that a claim compared.
std::string shown(const std::vector<double>& subject);
/// The name of a case: its values of the experiment's row fields.
std::string name_of(const Row& row, const std::vector<std::string>& fields);

}  // namespace lanescope::lab
