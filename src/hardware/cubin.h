// What lanescope needs of a cubin: the code of its functions, and for each instruction the chain of source positions that it
// stands for. CUPTI's own correlation call knows the innermost position only; the rest is in the cubin's line table.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "profile/profile.h"

namespace lanescope::hardware {

class Cubin {
public:
    /// A row of the line table. `context` is the number (from 1) of the row that made the inlined call, 0: not inlined.
    struct Row {
        uint64_t address = 0;       ///< within the function
        uint32_t file = 0;          ///< index into the files
        uint32_t line = 0;
        uint32_t context = 0;
        std::string inlined;        ///< mangled name of the inlined function, empty where context is 0
    };
    struct Function {
        std::string symbol;         ///< mangled
        std::string code;           ///< 16 bytes an instruction on sm_70 and later
        std::vector<Row> rows;      ///< in the order of the table, addresses never fall
    };

    /// Accepts a cubin without a line table: its functions then have no rows. `name` appears in errors.
    static base::Result<Cubin> parse(std::string_view bytes, const std::string& name);

    const std::vector<Function>& functions() const { return functions_; }
    const Function* find(std::string_view symbol) const;

    /// Where the instruction at byte `pc` comes from, innermost first; empty when the table doesn't say.
    std::vector<profile::Frame> frames(const Function& function, uint64_t pc) const;

private:
    std::vector<Function> functions_;
    std::vector<std::string> files_;
    friend class LineTable;
};

}  // namespace lanescope::hardware
