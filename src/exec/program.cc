#include "exec/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "exec/decoder.h"
#include "exec/run.h"

namespace lanescope::exec {
namespace {

constexpr uint64_t round_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

Kernel::Kernel(const Program& program, uint32_t function) : program_(program), function_(function), code_(std::make_unique<Code>()) {
    uint64_t offset = 0;
    for (const ptx::Variable& parameter : this->function().parameters) {
        const auto alignment = std::max<uint32_t>(parameter.alignment, 1);
        offset = round_up(offset, alignment);
        parameters_.push_back({parameter.name, uint32_t(offset), uint32_t(parameter.bytes()), alignment});
        offset += parameter.bytes();
    }
    parameter_bytes_ = exec::parameter_bytes(this->function());
    Decoder(*this, *code_, sites_).decode();
    static_shared_bytes_ = code_->static_shared_bytes;
    local_bytes_ = code_->entry->local_bytes;
}

uint32_t parameter_bytes(const ptx::Function& function) {
    uint64_t offset = 0;
    for (const ptx::Variable& parameter : function.parameters) offset = round_up(offset, std::max<uint32_t>(parameter.alignment, 1)) + parameter.bytes();
    return uint32_t(offset);
}

Kernel::~Kernel() = default;

const std::vector<Kernel::SharedArray>& Kernel::shared_arrays() const { return code_->shared_arrays; }
const ptx::Function& Kernel::function() const { return program_.module().functions[function_]; }

base::Result<std::unique_ptr<Program>> Program::load(std::shared_ptr<const ptx::Module> module, DeviceMemory& memory) {
    std::unique_ptr<Program> program(new Program(std::move(module), memory));
    const ptx::Module& m = program->module();
    program->variable_addresses_.resize(m.variables.size());

    const auto out_of_memory = [&](const std::string& name, uint64_t bytes) {
        return base::error(fmt::format("out of device memory for {} ({} bytes)", name, bytes), {m.name});
    };
    std::vector<uint64_t> constant_offsets(m.variables.size());
    for (size_t v = 0; v < m.variables.size(); ++v) {
        const ptx::Variable& variable = m.variables[v];
        if (variable.space != ptx::Space::kConst) continue;
        program->constant_bytes_ = round_up(program->constant_bytes_, std::max<uint32_t>(variable.alignment, 1));
        constant_offsets[v] = program->constant_bytes_;
        program->constant_bytes_ += variable.bytes();
    }
    if (program->constant_bytes_ != 0) {
        const Allocation* bank = memory.allocate(program->constant_bytes_, Region::kDevice, "the constant bank of " + m.name);
        if (bank == nullptr) return out_of_memory("constants", program->constant_bytes_);
        program->constant_base_ = bank->begin;
        program->owned_.push_back(bank->begin);
    }
    for (size_t v = 0; v < m.variables.size(); ++v) {
        const ptx::Variable& variable = m.variables[v];
        if (variable.space == ptx::Space::kConst) {
            program->variable_addresses_[v] = program->constant_base_ + constant_offsets[v];
        } else if (variable.space == ptx::Space::kGlobal && variable.linkage != ptx::Linkage::kExtern) {
            const Allocation* allocation =
                memory.allocate(std::max<uint64_t>(variable.bytes(), 1), variable.managed ? Region::kManaged : Region::kDevice,
                                "variable " + variable.name, std::max<uint64_t>(variable.alignment, DeviceMemory::kAlignment));
            if (allocation == nullptr) return out_of_memory("variable " + variable.name, variable.bytes());
            program->variable_addresses_[v] = allocation->begin;
            program->owned_.push_back(allocation->begin);
        }
    }
    for (size_t v = 0; v < m.variables.size(); ++v) {
        const ptx::Variable& variable = m.variables[v];
        const uint64_t address = program->variable_addresses_[v];
        if (address == 0 || variable.initializer.empty()) continue;
        const uint64_t bytes = std::min<uint64_t>(variable.initializer.size(), variable.bytes());
        std::byte* to = memory.host(address, std::max<uint64_t>(bytes, 1));
        std::memcpy(to, variable.initializer.data(), bytes);
        for (const ptx::Relocation& relocation : variable.relocations) {
            uint64_t value = 0;
            if (relocation.function) {
                value = function_address(relocation.index);
            } else {
                const ptx::Variable& target = m.variables[relocation.index];
                value = program->variable_addresses_[relocation.index];
                if (target.space == ptx::Space::kConst && !relocation.generic) value -= program->constant_base_;
            }
            value = (value + uint64_t(relocation.addend)) >> relocation.shift;
            if (relocation.offset + relocation.bytes <= bytes) std::memcpy(to + relocation.offset, &value, relocation.bytes);
        }
    }
    if (program->constant_base_ != 0) memory.set_read_only(program->constant_base_, true);
    return program;
}

Program::~Program() {
    kernels_.clear();
    for (const uint64_t address : owned_) memory_.release(address);
}

const Kernel* Program::kernel(std::string_view name) {
    for (uint32_t f = 0; f < module_->functions.size(); ++f) {
        const ptx::Function& function = module_->functions[f];
        if (!function.entry || !function.defined || function.name != name) continue;
        std::unique_ptr<Kernel>& kernel = kernels_[f];
        if (kernel == nullptr) kernel = std::make_unique<Kernel>(*this, f);
        return kernel.get();
    }
    return nullptr;
}

std::optional<Program::Symbol> Program::symbol(std::string_view name) const {
    for (size_t v = 0; v < module_->variables.size(); ++v) {
        const ptx::Variable& variable = module_->variables[v];
        if (variable.name == name && variable_addresses_[v] != 0)
            return Symbol{variable_addresses_[v], variable.bytes(), variable.space, variable.managed};
    }
    return std::nullopt;
}

}  // namespace lanescope::exec
