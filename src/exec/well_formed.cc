#include "exec/well_formed.h"

#include <algorithm>

#include "ptx/lookup.h"
#include "ptx/opcode.h"

namespace lanescope::exec {
namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Suffix;

/// At least `count` operands, and behind them the policy of L2::cache_hint, and an address with a base in each of `addresses`.
bool has(const Instruction& instruction, size_t count, std::initializer_list<size_t> addresses = {}) {
    const bool hint = instruction.has(Suffix::kL2CacheHint);
    if (instruction.operands.size() < count + hint) return false;
    if (const auto kind = hint ? instruction.operands.back().kind : Operand::Kind::kRegister; kind != Operand::Kind::kRegister && kind != Operand::Kind::kImmediate) return false;
    for (const size_t a : addresses)
        if (instruction.operands[a].kind != Operand::Kind::kAddress || instruction.operands[a].elements.empty()) return false;
    return true;
}

/// A tensor's address holds its map and its coordinates; the other side is shared memory, and a load may have a barrier.
bool tensor_copy(const Instruction& i) {
    if (!has(i, 2, {0, 1})) return false;
    const bool waits = i.has(Suffix::kMbarrierCompleteTxBytes);
    const size_t tensor = i.operands[0].elements.size() > 1 ? 0 : 1;
    return i.operands[tensor].elements.size() > 1 && (!waits || (tensor == 1 && has(i, 3, {2})));
}

/// How many operands arithmetic has at least, with those that it writes.
size_t arithmetic_operands(Opcode opcode) {
    switch (opcode) {
        case Opcode::kAbs: case Opcode::kNeg: case Opcode::kNot: case Opcode::kCnot: case Opcode::kPopc: case Opcode::kClz: case Opcode::kBfind: case Opcode::kBrev:
        case Opcode::kRcp: case Opcode::kSqrt: case Opcode::kRsqrt: case Opcode::kSin: case Opcode::kCos: case Opcode::kLg2: case Opcode::kEx2: case Opcode::kTanh:
        case Opcode::kCvt: case Opcode::kTestp: return 2;
        case Opcode::kFma: case Opcode::kMad: case Opcode::kMad24: case Opcode::kMadc: case Opcode::kSad: case Opcode::kSelp: case Opcode::kSlct: case Opcode::kBfe:
        case Opcode::kPrmt: case Opcode::kShf: case Opcode::kDp2a: case Opcode::kDp4a: case Opcode::kFns: case Opcode::kVmad: case Opcode::kVabsdiff2: case Opcode::kVabsdiff4:
        case Opcode::kVadd2: case Opcode::kVadd4: case Opcode::kVavrg2: case Opcode::kVavrg4: case Opcode::kVmax2: case Opcode::kVmax4: case Opcode::kVmin2:
        case Opcode::kVmin4: case Opcode::kVset2: case Opcode::kVset4: case Opcode::kVsub2: case Opcode::kVsub4: return 4;
        case Opcode::kBfi: case Opcode::kLop3: return 5;
        default: return 3;
    }
}

bool has_optional_operand(Opcode opcode) {
    switch (opcode) {
        case Opcode::kSetp: case Opcode::kSet: case Opcode::kMin: case Opcode::kMax: case Opcode::kCvt: case Opcode::kCvtPack: case Opcode::kLop3: case Opcode::kVadd:
        case Opcode::kVsub: case Opcode::kVabsdiff: case Opcode::kVmin: case Opcode::kVmax: case Opcode::kVset: case Opcode::kVshl: case Opcode::kVshr: return true;
        default: return false;
    }
}

bool writable(const Operand& operand) {
    if (operand.kind == Operand::Kind::kVector || operand.kind == Operand::Kind::kPair) return std::all_of(operand.elements.begin(), operand.elements.end(), writable);
    return operand.kind == Operand::Kind::kRegister || operand.kind == Operand::Kind::kSink;
}

/// As many operands as its instruction has, and what it writes can be written.
bool arithmetic(const Instruction& i) {
    const size_t least = arithmetic_operands(i.opcode), written = ptx::destination_count(i);
    if (i.operands.size() < least || i.operands.size() > least + has_optional_operand(i.opcode)) return false;
    return std::all_of(i.operands.begin(), i.operands.begin() + ptrdiff_t(written), writable);
}

bool typed(const Instruction& instruction) { return instruction.types[0] != ptx::Type::kNone && ptx::bits(instruction.types[0]) >= 8; }

}  // namespace

bool well_formed(const Instruction& i, const ptx::Module& module, const ptx::Function& function) {
    const size_t sync = i.has(Suffix::kSync) ? 1 : 0;
    const auto kind = [&](size_t o) { return i.operands[o].kind; };
    switch (i.opcode) {
        case Opcode::kLd: case Opcode::kLdu: return has(i, 2, {1}) && typed(i);
        case Opcode::kSt: return has(i, 2, {0}) && typed(i);
        case Opcode::kAtom: return has(i, i.has(Suffix::kCas) ? 4 : 3, {1}) && typed(i);
        case Opcode::kRed: return has(i, i.has(Suffix::kCas) ? 3 : 2, {0}) && typed(i);
        case Opcode::kPrefetch: case Opcode::kCpAsyncMbarrierArrive: return has(i, 1, {0});
        case Opcode::kStBulk: case Opcode::kCpAsyncBulkPrefetch: return has(i, 2, {0});
        case Opcode::kBra: return has(i, 1) && kind(0) == Operand::Kind::kLabel && i.operands[0].index < function.labels.size();
        case Opcode::kBrxIdx:
            return has(i, 2) && kind(1) == Operand::Kind::kTable && i.operands[1].index < function.tables.size() && !function.tables[i.operands[1].index].functions;
        case Opcode::kCall:
            for (const Operand& operand : i.operands)
                if (operand.kind == Operand::Kind::kFunction && operand.index >= module.functions.size()) return false;
            return has(i, 1);
        case Opcode::kBar: case Opcode::kBarrier: return has(i, i.has(Suffix::kRed) ? 3 : 1);
        case Opcode::kBarWarpSync: case Opcode::kNanosleep: case Opcode::kActivemask: case Opcode::kStacksave: case Opcode::kStackrestore:
        case Opcode::kCpAsyncWaitGroup: return has(i, 1);
        case Opcode::kCreatepolicy: return i.has(Suffix::kRange) ? has(i, 4, {1}) : has(i, 1 + i.has(Suffix::kCvt));
        case Opcode::kDiscard: case Opcode::kApplypriority: return has(i, 2, {0});
        case Opcode::kMbarrierInit: case Opcode::kMbarrierExpectTx: case Opcode::kMbarrierCompleteTx: return has(i, 2, {0});
        case Opcode::kMbarrierInval: return has(i, 1, {0});
        case Opcode::kMbarrierArrive: case Opcode::kMbarrierArriveDrop: return has(i, 1) && (has(i, 1, {0}) || has(i, 2, {1}));
        case Opcode::kMbarrierTestWait: case Opcode::kMbarrierTryWait: return has(i, 3, {1});
        case Opcode::kMbarrierPendingCount: return has(i, 2) && kind(0) == Operand::Kind::kRegister;
        case Opcode::kShfl: return has(i, 4 + sync);
        case Opcode::kVote: return has(i, 2 + sync);
        case Opcode::kMatch: case Opcode::kRedux: case Opcode::kMapa: return has(i, 3);
        case Opcode::kElect: case Opcode::kCvta: case Opcode::kIsspacep: case Opcode::kGetctarank: case Opcode::kAlloca: case Opcode::kMov: return has(i, 2);
        case Opcode::kCpAsync: return has(i, 3, {0, 1});
        case Opcode::kCpAsyncBulk: return has(i, i.has(Suffix::kMbarrierCompleteTxBytes) ? 4 : 3, {0, 1}) && (!i.has(Suffix::kMbarrierCompleteTxBytes) || has(i, 4, {3}));
        case Opcode::kCpAsyncBulkTensor: return tensor_copy(i);
        case Opcode::kCpAsyncBulkPrefetchTensor: return has(i, 1, {0}) && i.operands[0].elements.size() > 1;
        case Opcode::kLdmatrix: case Opcode::kWmmaLoad: return has(i, 2, {1});
        case Opcode::kStmatrix: case Opcode::kWmmaStore: return has(i, 2, {0});
        case Opcode::kTex: case Opcode::kTld4: case Opcode::kSuld: return has(i, 2, {1}) && i.operands[1].elements.size() > 1 && typed(i);
        case Opcode::kTxq: case Opcode::kSuq: return has(i, 2, {1});
        case Opcode::kSust: return has(i, 2, {0}) && i.operands[0].elements.size() > 1 && typed(i);
        default: return ptx::class_of(i.opcode) == ptx::OpcodeClass::kArithmetic ? arithmetic(i) : i.operands.size() >= ptx::destination_count(i);
    }
}

}  // namespace lanescope::exec
