#include "profile/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>

namespace lanescope::profile {
namespace {

constexpr Counter kCounters[] = {
#define COUNTER(name, unit, meaning) {#name, unit, meaning},
#define METRIC(...)
#include "profile/catalogue.def"
#undef COUNTER
#undef METRIC
};

constexpr Metric kMetrics[] = {
#define COUNTER(...)
#define METRIC(name, nvprof, unit, kind, formula, meaning) {#name, nvprof, unit, Kind::k##kind, formula, meaning},
#include "profile/catalogue.def"
#undef COUNTER
#undef METRIC
};

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// Bit of a name in a list; 0: not in it.
template <size_t N>
uint32_t bit_of(const std::array<std::string_view, N>& names, std::string_view name) {
    const auto at = std::find(names.begin(), names.end(), name);
    return at == names.end() ? 0 : 1u << (at - names.begin());
}

/// A formula as postfix steps over a stack of numbers; unknown is NaN and spreads.
struct Step {
    enum class Op : uint8_t { kNumber, kMetric, kSum, kAdd, kSubtract, kMultiply, kDivide, kElse } op;
    double number = 0;
    std::string_view name;                ///< of the metric or counter
    uint32_t spaces = 0, operations = 0;  ///< kSum
};

struct Formula {
    std::vector<Step> steps;
    bool has_sum = false;
};

/// Recursive descent over the grammar of catalogue.def. The table is ours, so a mistake in it is found by the test that
/// evaluates every formula; here it yields a formula that is never known.
class FormulaParser {
public:
    explicit FormulaParser(std::string_view text) : rest_(text) {}
    Formula parse() {
        alternatives();
        if (!skip_space().empty()) out_.steps = {{Step::Op::kNumber, kUnknown}};
        return std::move(out_);
    }

private:
    std::string_view skip_space() {
        while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
        return rest_;
    }
    bool accept(std::string_view token) {
        if (!skip_space().starts_with(token)) return false;
        rest_.remove_prefix(token.size());
        return true;
    }
    std::string_view word() {
        skip_space();
        size_t length = 0;
        while (length < rest_.size() &&
               (std::isalnum(static_cast<unsigned char>(rest_[length])) || rest_[length] == '_' || rest_[length] == '.'))
            ++length;
        const std::string_view found = rest_.substr(0, length);
        rest_.remove_prefix(length);
        return found;
    }
    void push(Step::Op op) { out_.steps.push_back({op}); }
    void alternatives() {
        sum();
        while (accept("else ")) {
            sum();
            push(Step::Op::kElse);
        }
    }
    void sum() {
        product();
        for (;;) {
            const bool add = accept("+");
            if (!add && !accept("-")) return;
            product();
            push(add ? Step::Op::kAdd : Step::Op::kSubtract);
        }
    }
    void product() {
        primary();
        for (;;) {
            const bool multiply = accept("*");
            if (!multiply && !accept("/")) return;
            primary();
            push(multiply ? Step::Op::kMultiply : Step::Op::kDivide);
        }
    }
    template <size_t N>
    uint32_t names(const std::array<std::string_view, N>& known) {
        if (accept("*")) return (1u << N) - 1;
        uint32_t bits = 0;
        do bits |= bit_of(known, word());
        while (accept("|"));
        return bits;
    }
    void primary() {
        if (accept("(")) {
            alternatives();
            accept(")");
            return;
        }
        const std::string_view name = word();
        if (name == "sum" && accept("(")) {
            Step step{Step::Op::kSum};
            step.name = word();
            accept(",");
            step.spaces = names(kSpaces);
            accept(",");
            step.operations = names(kOperations);
            accept(")");
            out_.has_sum = true;
            out_.steps.push_back(step);
        } else if (!name.empty() && std::isdigit(static_cast<unsigned char>(name.front()))) {
            out_.steps.push_back({Step::Op::kNumber, std::strtod(std::string(name).c_str(), nullptr)});
        } else {
            out_.steps.push_back({Step::Op::kMetric, 0, name});
        }
    }

    std::string_view rest_;
    Formula out_;
};

const std::vector<Formula>& formulas() {
    static const std::vector<Formula> all = [] {
        std::vector<Formula> out;
        for (const Metric& metric : kMetrics) out.push_back(metric.formula.empty() ? Formula{} : FormulaParser(metric.formula).parse());
        return out;
    }();
    return all;
}

/// An access with its names resolved to bits.
struct Term {
    uint32_t space, operation;
    const Metrics* metrics;
};

Term term_of(const Access& access) {
    return {bit_of(kSpaces, access.space), bit_of(kOperations, access.operation), &access.metrics};
}

using Absent = std::map<std::string, std::string>;

double sum_of(const Step& step, std::span<const Term> terms, const Absent* absent) {
    if (absent != nullptr && absent->contains(std::string(step.name))) return kUnknown;
    double total = 0;
    for (const Term& term : terms) {
        if ((term.space & step.spaces) == 0 || (term.operation & step.operations) == 0) continue;
        if (const auto at = term.metrics->find(step.name); at != term.metrics->end()) total += at->second;
    }
    return total;
}

/// `terms` null: sums are unknown.
double evaluate(const Formula& formula, const Metrics& metrics, const std::vector<Term>* terms, const Absent* absent) {
    double stack[16];
    size_t top = 0;
    for (const Step& step : formula.steps) {
        if (step.op == Step::Op::kNumber) {
            stack[top++] = step.number;
        } else if (step.op == Step::Op::kMetric) {
            const auto at = metrics.find(step.name);
            stack[top++] = at == metrics.end() ? kUnknown : at->second;
        } else if (step.op == Step::Op::kSum) {
            stack[top++] = terms == nullptr ? kUnknown : sum_of(step, *terms, absent);
        } else {
            const double right = stack[--top];
            double& left = stack[top - 1];
            switch (step.op) {
                case Step::Op::kAdd: left += right; break;
                case Step::Op::kSubtract: left -= right; break;
                case Step::Op::kMultiply: left *= right; break;
                case Step::Op::kDivide: left = right == 0 ? kUnknown : left / right; break;
                default: left = std::isnan(left) || left == 0 ? right : left; break;
            }
        }
    }
    return top == 1 ? stack[0] : kUnknown;
}

/// Optimal-string-alignment distance, as far as suggestions need it.
size_t distance(std::string_view a, std::string_view b) {
    std::vector<size_t> row(b.size() + 1), next(b.size() + 1);
    for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (size_t i = 1; i <= a.size(); ++i) {
        next[0] = i;
        for (size_t j = 1; j <= b.size(); ++j)
            next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
        std::swap(row, next);
    }
    return row[b.size()];
}

std::string scaled(double value, double step, std::initializer_list<std::string_view> units) {
    auto unit = units.begin();
    while (std::abs(value) >= step * 0.9995 && unit + 1 != units.end()) {
        value /= step;
        ++unit;
    }
    return value == std::floor(value) && std::abs(value) < 1000 ? fmt::format("{:.0f} {}", value, *unit) : fmt::format("{:.3g} {}", value, *unit);
}

}  // namespace

std::span<const Counter> counters() { return kCounters; }
std::span<const Metric> catalogue() { return kMetrics; }

const Metric* find_metric(std::string_view name) {
    static const std::unordered_map<std::string_view, const Metric*> by_name = [] {
        std::unordered_map<std::string_view, const Metric*> out;
        for (const Metric& metric : kMetrics) out.emplace(metric.name, &metric);
        for (const Metric& metric : kMetrics)
            if (!metric.nvprof.empty()) out.emplace(metric.nvprof, &metric);  // does not replace a metric of that name
        return out;
    }();
    const auto at = by_name.find(name);
    return at == by_name.end() ? nullptr : at->second;
}

const Counter* find_counter(std::string_view name) {
    const auto at = std::find_if(std::begin(kCounters), std::end(kCounters), [&](const Counter& counter) { return counter.name == name; });
    return at == std::end(kCounters) ? nullptr : at;
}

std::vector<std::string_view> similar_names(std::string_view name, size_t most) {
    std::vector<std::pair<double, std::string_view>> ranked;
    const auto rank = [&](std::string_view known) {
        if (known.empty() || name.empty()) return;
        const bool part = known.find(name) != std::string_view::npos;
        const double score = part ? 0.1 : double(distance(name, known)) / double(std::max(name.size(), known.size()));
        if (score <= 0.45) ranked.emplace_back(score, known);
    };
    for (const Metric& metric : kMetrics) {
        rank(metric.name);
        if (metric.nvprof != metric.name) rank(metric.nvprof);
    }
    for (const Counter& counter : kCounters) rank(counter.name);
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::string_view> out;
    for (const auto& [score, known] : ranked)
        if (out.size() < most) out.push_back(known);
    return out;
}

void roll_up(Launch& launch) {
    std::vector<Term> all, own;
    for (const Line& line : launch.lines)
        for (const Access& access : line.accesses) all.push_back(term_of(access));
    const std::vector<Formula>& compiled = formulas();
    for (Line& line : launch.lines) {
        own.clear();
        for (const Access& access : line.accesses) own.push_back(term_of(access));
        for (size_t i = 0; i < std::size(kMetrics); ++i) {
            if (!compiled[i].has_sum || kMetrics[i].kind == Kind::kRatio || kMetrics[i].kind == Kind::kPercent) continue;
            const double value = evaluate(compiled[i], line.metrics, &own, &launch.absent);
            if (!std::isnan(value) && value != 0) line.metrics.emplace(kMetrics[i].name, value);
        }
    }
    for (size_t i = 0; i < std::size(kMetrics); ++i) {
        if (compiled[i].steps.empty() || launch.metrics.contains(kMetrics[i].name)) continue;
        const double value = evaluate(compiled[i], launch.metrics, &all, &launch.absent);
        if (!std::isnan(value)) launch.metrics.emplace(kMetrics[i].name, value);
    }
}

void derive(Metrics& metrics) {
    const std::vector<Formula>& compiled = formulas();
    for (size_t i = 0; i < std::size(kMetrics); ++i) {
        if (compiled[i].steps.empty() || metrics.contains(kMetrics[i].name)) continue;
        const double value = evaluate(compiled[i], metrics, nullptr, nullptr);
        if (!std::isnan(value)) metrics.emplace(kMetrics[i].name, value);
    }
}

std::optional<double> value_of(const Metric& metric, const Metrics& metrics, std::span<const Access* const> accesses) {
    if (const auto at = metrics.find(metric.name); at != metrics.end()) return at->second;
    std::vector<Term> terms;
    for (const Access* access : accesses) terms.push_back(term_of(*access));
    // What the formula needs may itself be derived: complete a copy first.
    Metrics known = metrics;
    const std::vector<Formula>& compiled = formulas();
    const size_t wanted = static_cast<size_t>(&metric - kMetrics);
    for (size_t i = 0; i <= wanted; ++i) {
        if (compiled[i].steps.empty() || known.contains(kMetrics[i].name)) continue;
        const double value = evaluate(compiled[i], known, accesses.empty() ? nullptr : &terms, nullptr);
        if (!std::isnan(value)) known.emplace(kMetrics[i].name, value);
    }
    const auto at = known.find(metric.name);
    return at == known.end() ? std::nullopt : std::optional(at->second);
}

std::string number(double value) {
    if (std::abs(value) < 9007199254740992.0 && value == std::floor(value)) return fmt::format("{}", static_cast<int64_t>(value));
    return fmt::format("{:.6g}", value);
}

std::string human(const Metric& metric, double value) {
    switch (metric.kind) {
        case Kind::kCount: return number(value);
        case Kind::kBytes: return scaled(value, 1000, {"B", "kB", "MB", "GB", "TB", "PB"});
        case Kind::kNanoseconds: return scaled(value, 1000, {"ns", "µs", "ms", "s"});
        case Kind::kRatio: return fmt::format("{:.4g}", value);
        case Kind::kPercent: return fmt::format("{:.4g} %", value);
        case Kind::kRate:
            return metric.unit == "byte/s" ? scaled(value, 1000, {"B/s", "kB/s", "MB/s", "GB/s", "TB/s"})
                                           : scaled(value, 1000, {"Hz", "kHz", "MHz", "GHz"});
    }
    return number(value);
}

}  // namespace lanescope::profile
