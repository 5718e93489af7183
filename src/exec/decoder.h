// Turns the functions that a kernel can reach into steps. The instruction families' files each decode their own instructions with it.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "exec/flow.h"
#include "exec/lowering.h"
#include "exec/machine_code.h"
#include "exec/program.h"
#include "exec/step.h"

namespace lanescope::exec {

class Decoder {
public:
    Decoder(const Kernel& kernel, Code& code, std::vector<AccessSite>& sites) : kernel_(kernel), code_(code), sites_(sites) {}
    void decode();

    // --- for the instruction families, about the instruction being decoded ---
    const ptx::Module& module() const { return kernel_.program().module(); }
    const Program& program() const { return kernel_.program(); }
    const Kernel& kernel() const { return kernel_; }
    const ptx::Function& function() const { return *function_; }  ///< its body in the order of issue
    uint32_t index() const { return original_[index_]; }  ///< of the instruction in the module's body
    Code& code() { return code_; }
    FunctionCode& function_code() { return *function_code_; }
    const MachineCode& machine_code() const { return machine_code_[index_]; }
    uint32_t dead() const { return flow_->dead[index_]; }  ///< Flow::dead of the instruction

    bool compared(const ptx::Operand& operand) const { return operand.kind == ptx::Operand::Kind::kRegister && flow_->compared[operand.index]; }  ///< as in Flow

    /// The row of an operand that is read as `type`: a register's, or one filled with an immediate, an address or a special register's
    /// value (that one by a step of its own before this instruction's).
    Row source(const ptx::Operand& operand, ptx::Type type);
    /// The row of a written operand; none for `_`.
    Row destination(const ptx::Operand& operand) const;
    /// Rows of a scalar or of each element of a vector.
    void sources(const ptx::Operand& operand, ptx::Type type, std::vector<Row>& rows);
    void destinations(const ptx::Operand& operand, std::vector<Row>& rows) const;
    Row policy(const ptx::Instruction& instruction);    ///< the operand of L2::cache_hint, which is the last; none: it has no such hint
    unsigned register_bits(const ptx::Operand& operand) const;  ///< of a register operand (of its component), 0: not a register
    /// The value of an operand that is known now: immediates, addresses of variables (but .local and .param ones) and functions.
    std::optional<uint64_t> known(const ptx::Operand& operand, ptx::Type type) const;
    Row constant(uint64_t value, unsigned bits) { return Row::at(code_.constants.splat(value, bits)); }
    const Row* keep(std::vector<Row> rows);             ///< for Step::rows

    /// Appends a step of this instruction, guarded as it is.
    Step& emit(Handler handler, std::vector<Row> rows, uint8_t flags = 0);
    /// The instruction's target when all steps are there: fills Step::plan of the step just emitted, and its `control` with the meeting
    /// step (0: none).
    void branch_to(uint32_t label);
    void unsupported(std::string why = {});             ///< a step that reports the instruction when it is executed

    template <class T>
    T* plan() {
        auto made = std::make_shared<T>();
        T* raw = made.get();
        code_.others.push_back(std::move(made));
        return raw;
    }
    MemoryPlan& memory_plan();
    uint32_t add_site(AccessSite site);                 ///< function, instruction and location are filled in
    const Lowering& lowering() const { return *lowering_; }
    /// Splits `[base + offset]`: row (none if all is known), offset, and whether a .local variable's base is to be added.
    void address(const ptx::Operand& operand, MemoryPlan& plan);
    uint32_t shared_offset(const ptx::Operand& variable) const;
    uint32_t local_offset(uint32_t variable) const { return variable_offsets_[variable]; }
    /// Offset in the frame of a .param variable's words (functions), or in the parameter buffer (entry's parameters).
    struct ParamPlace { bool kernel = false; uint32_t offset = 0, bytes = 0; };
    ParamPlace param_place(uint32_t variable) const;
    /// The address of a function's .param variable in .param space: byte a is byte a % 4 of the word row at (a / 4) × kWordRow.
    uint64_t param_address(uint32_t variable) const { return uint64_t(variable_offsets_[variable]) / kWarpLanes; }
    /// Asks for a function to be decoded too.
    void reach(uint32_t function) { todo_.push_back(function); }
    void reach_any();                                   ///< every function whose address is taken
    uint8_t scoreboard_slot() const;                    ///< of this instruction's destinations
    /// Rows for values of one instruction only.
    Row scratch(unsigned bits);

    struct TargetList { std::vector<const Step*> targets; const Step* meet = nullptr; };
    void branch_table(TargetList* list, const std::vector<uint32_t>& labels);

private:
    struct Fixup { uint32_t step; uint32_t target; TargetList* list = nullptr; std::vector<uint32_t> labels; uint32_t meet = ptx::kNone; };
    void layout_shared();
    void decode_function(uint32_t index);
    void place_registers();
    void place_variables();
    void find_waits();
    void decode_instruction(const ptx::Instruction& instruction);
    bool decode_lanes(const ptx::Instruction& instruction);
    Row guard_row(const ptx::Instruction& instruction);

    const Kernel& kernel_;
    Code& code_;
    std::vector<AccessSite>& sites_;
    std::vector<uint32_t> todo_;
    // of the function being decoded
    const ptx::Function* function_ = nullptr;
    uint32_t function_index_ = 0, index_ = 0;
    FunctionCode* function_code_ = nullptr;
    const Flow* flow_ = nullptr;
    const Lowering* lowering_ = nullptr;
    std::vector<uint32_t> original_;                    ///< position in the order of issue → in the module's body
    std::vector<bool> malformed_;                       ///< by index in the module's body
    std::vector<uint32_t> register_offsets_, variable_offsets_;
    std::vector<MachineCode> machine_code_;
    std::vector<uint32_t> waits_;
    std::vector<uint8_t> slots_, cycles_;
    std::vector<Fixup> fixups_;
    uint32_t scratch_begin_ = 0, scratch_used_ = 0, scratch_bytes_ = 0, carry_offset_ = 0;
};

// Each decodes the instructions of its family; false: not one of them.
bool decode_control(Decoder& decoder, const ptx::Instruction& instruction);     // control.cc
bool decode_call(Decoder& decoder, const ptx::Instruction& instruction);        // call.cc
bool decode_memory(Decoder& decoder, const ptx::Instruction& instruction);      // memory_steps.cc
bool decode_param(Decoder& decoder, const ptx::Instruction& instruction);       // call.cc: ld.param, st.param
bool decode_atomic(Decoder& decoder, const ptx::Instruction& instruction);      // atomic.cc
bool decode_barrier(Decoder& decoder, const ptx::Instruction& instruction);     // barrier.cc
bool decode_collective(Decoder& decoder, const ptx::Instruction& instruction);  // collective.cc
bool decode_address(Decoder& decoder, const ptx::Instruction& instruction);     // address.cc
bool decode_async(Decoder& decoder, const ptx::Instruction& instruction);       // async.cc
bool decode_matrix(Decoder& decoder, const ptx::Instruction& instruction);      // matrix.cc
bool decode_texture(Decoder& decoder, const ptx::Instruction& instruction);     // texture_steps.cc

/// Reads a special register into rows[0] (address.cc).
const Step* read_special(Run& run, const Step& step, uint32_t active);
/// rows[0] = `control` (+ the frame's local base, if there is a rows[1]) (address.cc).
const Step* read_local_address(Run& run, const Step& step, uint32_t active);
/// Where lanes meet (control.cc).
const Step* meet_lanes(Run& run, const Step& step, uint32_t active);
const Step* leave_function(Run& run, const Step& step, uint32_t active);

}  // namespace lanescope::exec
