// What copies that complete later have in common.
#pragma once

#include "exec/decoder.h"
#include "exec/run.h"

namespace lanescope::exec {

/// An address operand, lane by lane.
struct Address {
    Row row;
    int64_t offset = 0;
    bool is_32bit = false;

    uint64_t of(const Run& run, unsigned lane) const {
        uint64_t base = 0;
        if (row) base = is_32bit ? run.row<const uint32_t>(row)[lane] : run.row<const uint64_t>(row)[lane];
        const uint64_t sum = base + uint64_t(offset);
        return is_32bit ? uint32_t(sum) : sum;
    }
};
Address address_of(Decoder& decoder, const ptx::Operand& operand);

/// Offset in shared space of an address that may be a generic one.
inline uint64_t in_shared(uint64_t address) { return address >= kSharedWindow && address < kLocalWindow ? address - kSharedWindow : address; }

/// The copy engine's accesses to global memory: 16 bytes a lane, as if whole warps copied. One object is one copy.
class EngineTraffic {
public:
    EngineTraffic(Run& run, const std::vector<Access>& accesses, unsigned issuer) : run_(run), accesses_(accesses), issuer_(issuer) {}
    ~EngineTraffic() { flush(); }
    EngineTraffic(const EngineTraffic&) = delete;
    EngineTraffic& operator=(const EngineTraffic&) = delete;
    void add(uint64_t address, uint32_t bytes);

private:
    void flush();
    Run& run_;
    const std::vector<Access>& accesses_;
    const unsigned issuer_;               ///< the lane that copies
    unsigned lanes_ = 0;
    bool continued_ = false;
};

/// Tells the monitor of one side of the copy engine's work, which is done for its one lane: 16 bytes at a time.
void watch_engine(Run& run, const MemoryPlan& watched, unsigned lane, Touch touch, bool shared, uint64_t address, uint32_t bytes);

/// barrier.cc: transactions of the mbarrier at a shared address. False: it faulted.
bool complete_transactions(Run& run, const Step& step, unsigned lane, uint64_t address, uint32_t bytes, bool arrive);

/// tensor_copy.cc: cp.async.bulk.tensor and its prefetch.
bool decode_tensor_copy(Decoder& decoder, const ptx::Instruction& instruction);

}  // namespace lanescope::exec
