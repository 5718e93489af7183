#include "analysis/candidate.h"

#include <algorithm>

namespace lanescope::analysis {
namespace {

constexpr ChangeText kTexts[] = {
    {ChangeKind::kStructureOfArrays, "structure_of_arrays", "structure of arrays", "give each field of the record an array of its own"},
    {ChangeKind::kBlockedArrays, "blocked_arrays", "array of structures of arrays", "keep blocks of 32 records and, in a block, the 32 values of each field side by side"},
    {ChangeKind::kInterleave, "interleaved_threads", "interleaved threads", "let neighbouring threads take neighbouring words: swap the loops, or step by the number of threads"},
    {ChangeKind::kTile, "tile_staging", "tile in shared memory", "read tiles of 32 x 32 along the rows into shared memory (rows of 33 words) and turn them there"},
    {ChangeKind::kPad, "shared_padding", "padded shared rows", "make the rows of the shared array longer, so that a column lies in different banks"},
    {ChangeKind::kSwizzle, "shared_swizzle", "swizzled shared array", "combine the column index with the row by exclusive or when storing and loading; it takes no more shared memory"},
    {ChangeKind::kAlign, "alignment", "aligned start", "let the data begin at a multiple of 32 bytes, better 128"},
    {ChangeKind::kPitch, "pitch", "pitched rows", "let each row begin at a sector (cudaMallocPitch, or a longer row)"},
    {ChangeKind::kWiden, "wider_access", "wider accesses", "ask for the record's neighbouring fields at once with an aligned vector type (float2, float4)"},
    {ChangeKind::kReadOnly, "read_only_path", "loads through L1", "load read-only data through L1: const __restrict__, __ldg, or -Xptxas -dlcm=ca"},
    {ChangeKind::kBypassL1, "l1_bypass", "loads past L1", "load what is used once with __ldcg, so that L1 keeps what is used again"},
    {ChangeKind::kStreamStores, "streaming_stores", "streaming stores", "store what this kernel does not read with __stcs, so that L2 keeps what is used again"},
    {ChangeKind::kDeviceMemory, "device_memory", "device instead of mapped memory", "copy the mapped host memory to the device once and use it there (its time is that of kernel and copies)"},
    {ChangeKind::kTableInGlobal, "table_in_global", "table in global memory", "keep the table that lanes index differently in global memory, where L1 serves it"},
    {ChangeKind::kArrayInShared, "array_in_shared", "array in shared memory", "keep the thread's array in shared memory, word k of lane i at 32 k + i"},
    {ChangeKind::kCombine, "combined_atomics", "combined atomics", "combine the lanes of one address in the warp first (__reduce_add_sync, __match_any_sync), then one atomic for them"},
    {ChangeKind::kSharedBins, "shared_bins", "bins in shared memory", "let each block update an array of its own in shared memory, and add that to the one in global memory at its end"},
};

}  // namespace

std::span<const ChangeText> change_texts() { return kTexts; }

const ChangeText& text_of(ChangeKind kind) {
    return *std::find_if(std::begin(kTexts), std::end(kTexts), [&](const ChangeText& text) { return text.kind == kind; });
}

const ChangeText* find_change(std::string_view key) {
    const auto found = std::find_if(std::begin(kTexts), std::end(kTexts), [&](const ChangeText& text) { return text.key == key; });
    return found == std::end(kTexts) ? nullptr : found;
}

profile::WhatIf describe(const Candidate& change, const profile::Launch& launch) {
    profile::WhatIf out;
    out.change = text_of(change.kind).key;
    out.instructions.assign(change.instructions.begin(), change.instructions.begin() + change.accesses);
    const bool records = change.kind == ChangeKind::kStructureOfArrays || change.kind == ChangeKind::kBlockedArrays || change.kind == ChangeKind::kWiden;
    const auto put = [&](const char* name, uint64_t value) {
        if (value != 0) out.parameters.emplace(name, double(value));
    };
    put(records ? "record_bytes" : "row_bytes", change.pitch);
    put("new_row_bytes", change.new_pitch);
    put("element_bytes", change.element);
    if (change.kind != ChangeKind::kDeviceMemory) put("access_bytes", change.width);
    put("more_shared_bytes", change.more_shared_bytes);
    if (records) put("fields", change.field_count);
    if (change.kind == ChangeKind::kAlign) put("shift_bytes", change.origin);
    if (change.kind == ChangeKind::kDeviceMemory) put("copied_bytes", change.bytes);
    for (const profile::Line& line : launch.lines)
        for (const profile::Access& access : line.accesses)
            if (change.accesses > 0 && access.instruction == change.instructions[0] && !line.file.empty() && out.where.empty()) {
                out.where = {{line.file, line.line, line.function}};
                out.where.insert(out.where.end(), line.inlined_from.begin(), line.inlined_from.end());
            }
    return out;
}

}  // namespace lanescope::analysis
