// Runs PTX texts in tests: a program with buffers, launched like a CUDA kernel.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "exec/grid.h"
#include "exec/kernels_testing.h"
#include "ptx/parser.h"

namespace lanescope::exec {

class PtxRun {
public:
    explicit PtxRun(const std::string& text, uint64_t capacity = uint64_t(1) << 30) : memory(std::move(DeviceMemory::create(capacity)).value()) {
        auto parsed = ptx::parse(kPtxHeader + text, "test.ptx");
        if (!parsed.ok()) {
            ADD_FAILURE() << base::to_string(parsed.errors());
            return;
        }
        module = std::make_shared<ptx::Module>(std::move(parsed).value());
        program = std::move(Program::load(module, *memory)).value();
        sinks.print = [this](std::string_view s) { printed += s; };
        sinks.error = [this](std::string_view s) { errors += s; };
        sinks.heap = &heap;
    }

    template <class T>
    uint64_t buffer(const std::vector<T>& values) {
        const uint64_t address = memory->allocate(std::max<size_t>(values.size(), 1) * sizeof(T))->begin;
        if (!values.empty()) std::memcpy(memory->host(address, values.size() * sizeof(T)), values.data(), values.size() * sizeof(T));
        return address;
    }
    template <class T>
    std::vector<T> read(uint64_t address, size_t count) const {
        std::vector<T> values(count);
        std::memcpy(values.data(), memory->host(address, count * sizeof(T)), count * sizeof(T));
        return values;
    }
    template <class T>
    PtxRun& argument(T value) {
        const size_t at = (arguments.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T);
        arguments.resize(at + sizeof(T));
        std::memcpy(arguments.data() + at, &value, sizeof(T));
        return *this;
    }
    /// Launches the kernel `name` with the arguments so far, and forgets them.
    GridResult launch(Dim3 grid, Dim3 block, std::string_view name = "k") {
        if (program == nullptr) return {};
        const Kernel* kernel = program->kernel(name);
        if (kernel == nullptr) {
            ADD_FAILURE() << "no kernel " << name;
            return {};
        }
        options.grid = grid;
        options.block = block;
        options.parameters = arguments;
        GridResult result = run_grid(*kernel, options, *memory, machine, listener, sinks);
        arguments.clear();
        return result;
    }
    /// The same for a launch that must not fault.
    GridResult pass(Dim3 grid, Dim3 block, std::string_view name = "k") {
        GridResult result = launch(grid, block, name);
        if (result.fault) ADD_FAILURE() << to_string(result.fault->kind) << ": " << result.fault->message;
        return result;
    }

    std::unique_ptr<DeviceMemory> memory;
    std::shared_ptr<ptx::Module> module;
    std::unique_ptr<Program> program;
    Machine machine{.sms = 4, .resident_blocks = 2};
    Listener* listener = nullptr;
    Launch options;
    DeviceHeap heap;
    Sinks sinks;
    std::vector<std::byte> arguments;
    std::string printed, errors;
};

}  // namespace lanescope::exec
