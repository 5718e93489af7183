// A loaded module: its variables laid out in device memory, and its kernels decoded for execution.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "exec/access.h"
#include "exec/device_memory.h"
#include "ptx/module.h"

namespace lanescope::exec {

struct Code;      // decoded functions, see decode.h
class Program;

struct Parameter {
    std::string name;
    uint32_t offset = 0, bytes = 0, alignment = 1;
};

/// An entry function with everything it can call, decoded once. Lives as long as its Program.
class Kernel {
public:
    Kernel(const Program& program, uint32_t function);
    ~Kernel();

    const Program& program() const { return program_; }
    const ptx::Function& function() const;
    uint32_t function_index() const { return function_; }
    const std::vector<AccessSite>& sites() const { return sites_; }           ///< what AccessEvent::site indexes
    const std::vector<Parameter>& parameters() const { return parameters_; }
    uint32_t parameter_bytes() const { return parameter_bytes_; }
    uint32_t static_shared_bytes() const { return static_shared_bytes_; }     ///< all .shared variables that the kernel can reach
    struct SharedArray {
        uint32_t begin = 0, bytes = 0;        ///< offset in the block's shared memory
    };
    /// The .shared variables with a known size, in order; .extern arrays begin behind them.
    const std::vector<SharedArray>& shared_arrays() const;
    uint32_t local_bytes() const { return local_bytes_; }                     ///< .local of the entry: bytes a thread
    const Code& code() const { return *code_; }

private:
    friend class Decoder;
    const Program& program_;
    uint32_t function_;
    std::vector<AccessSite> sites_;
    std::vector<Parameter> parameters_;
    uint32_t parameter_bytes_ = 0, static_shared_bytes_ = 0, local_bytes_ = 0;
    std::unique_ptr<Code> code_;
};

class Program {
public:
    /// Allocates and initialises the module's .global and .const variables in `memory`, which must outlive the program.
    static base::Result<std::unique_ptr<Program>> load(std::shared_ptr<const ptx::Module> module, DeviceMemory& memory);
    ~Program();  ///< releases the variables

    const ptx::Module& module() const { return *module_; }
    /// Decodes the kernel on first use; nullptr: the module has no such entry. Names are as in the PTX (mangled).
    const Kernel* kernel(std::string_view name);

    struct Symbol {
        uint64_t address = 0, bytes = 0;
        ptx::Space space = ptx::Space::kGlobal;
        bool managed = false;
    };
    /// A module variable's place in device memory (constants too: their bank is an allocation).
    std::optional<Symbol> symbol(std::string_view name) const;

    uint64_t variable_address(uint32_t variable) const { return variable_addresses_[variable]; }  ///< generic; index into Module::variables
    uint64_t constant_base() const { return constant_base_; }   ///< device address of the constant bank, 0: there is none
    uint64_t constant_bytes() const { return constant_bytes_; }
    /// Functions have addresses too (for pointers to them): never 0, not readable.
    static constexpr uint64_t function_address(uint32_t function) { return (uint64_t(function) + 1) * 16; }
    static constexpr uint32_t function_at(uint64_t address) {
        return address % 16 == 0 && address != 0 && address / 16 - 1 < UINT32_MAX ? uint32_t(address / 16 - 1) : ptx::kNone;
    }

private:
    Program(std::shared_ptr<const ptx::Module> module, DeviceMemory& memory) : module_(std::move(module)), memory_(memory) {}
    std::shared_ptr<const ptx::Module> module_;
    DeviceMemory& memory_;
    std::vector<uint64_t> variable_addresses_;                  ///< 0: not in device memory (shared, extern without definition)
    std::vector<uint64_t> owned_;                               ///< allocations to release
    uint64_t constant_base_ = 0, constant_bytes_ = 0;
    std::map<uint32_t, std::unique_ptr<Kernel>> kernels_;
};

}  // namespace lanescope::exec
