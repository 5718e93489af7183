#include "ptx/scopes.h"

#include <charconv>

namespace lanescope::ptx {

void Scopes::pop() {
    const auto restore = [](auto& index, std::string_view name, uint32_t previous) {
        if (previous == kNone)
            index.erase(name);
        else
            index[name] = previous;
    };
    for (const std::string_view name : scopes_.back().names) restore(names_, name, entries_[names_[name]].previous);
    for (const std::string_view prefix : scopes_.back().prefixes) restore(prefixes_, prefix, ranges_[prefixes_[prefix]].previous);
    if (depth() > 0) nested_ranges_ -= uint32_t(scopes_.back().prefixes.size());
    scopes_.pop_back();
}

Symbol* Scopes::declare_at(uint32_t depth, std::string_view name, Symbol symbol) {
    const auto [it, fresh] = names_.try_emplace(name, uint32_t(entries_.size()));
    uint32_t previous = kNone;
    if (!fresh) {
        previous = it->second;
        if (entries_[previous].depth >= depth) return nullptr;
        it->second = uint32_t(entries_.size());
    }
    scopes_[depth].names.push_back(name);
    entries_.push_back({symbol, depth, previous});
    return &entries_.back().symbol;
}

bool Scopes::declare_range(std::string_view prefix, uint32_t count, Type type, uint8_t vector) {
    const auto [it, fresh] = prefixes_.try_emplace(prefix, uint32_t(ranges_.size()));
    uint32_t previous = kNone;
    if (!fresh) {
        previous = it->second;
        if (ranges_[previous].depth == depth()) return false;
        it->second = uint32_t(ranges_.size());
    }
    scopes_.back().prefixes.push_back(prefix);
    if (depth() > 0) ++nested_ranges_;
    ranges_.push_back({count, type, vector, depth(), previous});
    return true;
}

const Scopes::Range* Scopes::find_range(std::string_view name) const {
    const Range* innermost = nullptr;
    for (size_t digits = 1; digits <= 10 && digits < name.size(); ++digits) {
        const std::string_view number = name.substr(name.size() - digits);
        if (number[0] < '0' || number[0] > '9') break;
        if (number[0] == '0' && digits > 1) continue;
        const auto it = prefixes_.find(name.substr(0, name.size() - digits));
        if (it == prefixes_.end()) continue;
        uint64_t value = 0;
        std::from_chars(number.data(), number.data() + number.size(), value);
        for (uint32_t i = it->second; i != kNone; i = ranges_[i].previous) {
            if (value >= ranges_[i].count) continue;
            if (innermost == nullptr || ranges_[i].depth > innermost->depth) innermost = &ranges_[i];
            break;
        }
    }
    return innermost;
}

Symbol* Scopes::find(std::string_view name) {
    const auto it = names_.find(name);
    Entry* const entry = it == names_.end() ? nullptr : &entries_[it->second];
    if (entry != nullptr && nested_ranges_ == 0) return &entry->symbol;
    const Range* const range = find_range(name);
    if (range == nullptr || (entry != nullptr && entry->depth >= range->depth)) return entry == nullptr ? nullptr : &entry->symbol;
    return declare_at(range->depth, name, {Symbol::Kind::kRegister, range->type, range->vector, kNone});
}

Symbol* Scopes::find_here(std::string_view name) {
    const auto it = names_.find(name);
    return it != names_.end() && entries_[it->second].depth == depth() ? &entries_[it->second].symbol : nullptr;
}

std::string_view Scopes::unique(std::string_view name) {
    if (taken_.insert(name).second) return name;
    for (unsigned i = 1;; ++i) {
        std::string candidate = std::string(name) + '_' + std::to_string(i);
        if (taken_.contains(candidate)) continue;
        renamed_.push_back(std::move(candidate));
        taken_.insert(renamed_.back());
        return renamed_.back();
    }
}

}  // namespace lanescope::ptx
