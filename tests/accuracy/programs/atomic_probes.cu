// Which lanes of an atomic share a sector: one warp, one atomic instruction a pattern of addresses. A launch runs several patterns, the first one
// once, the second `radix` times, the third radix² times and so on, so that one counter of the launch says the sectors of each.
//   atomic_probes SECTION        launches them (to be run under ncu)
//   atomic_probes list SECTION   prints them instead: launch,operation,bytes,warp,radix,base,repeats,active,addresses
// Build with -lcuda. Recorded beside: ../h200/atomics.csv. Decode: (sectors of the launch − Σ base × repeats), digit by digit in base radix, + base.
#include "check.h"

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <vector>

constexpr int kLanes = 32, kMost = 20;
constexpr int kOff = -1;

struct Pattern {
    long long at[kLanes];       ///< byte offsets, kOff: inactive
};
struct Table {
    int patterns, warp;
    int repeats[kMost];
    Pattern pattern[kMost];
};

#define PROBE(NAME, TYPE, STATEMENT)                                                  \
    __global__ void NAME(char* base, const Table* table, int* out) {                  \
        if (int(threadIdx.x / 32) != table->warp) return;                             \
        int sum = 0;                                                                  \
        for (int p = 0; p < table->patterns; ++p) {                                   \
            const long long at = table->pattern[p].at[threadIdx.x % 32];                    \
            TYPE* const to = (TYPE*)(base + at);                                      \
            _Pragma("unroll 1") for (int r = table->repeats[p]; r > 0; --r) if (at != kOff) { STATEMENT; } \
        }                                                                             \
        if (sum == 0x7654321) *out = sum;                                             \
    }
PROBE(red_add_u32, unsigned, atomicAdd(to, 1u))
PROBE(red_add_lane, unsigned, atomicAdd(to, threadIdx.x * 3 + r))
PROBE(red_max_s32, int, atomicMax(to, int(threadIdx.x) + r))
PROBE(red_or_b32, unsigned, atomicOr(to, threadIdx.x + r))
PROBE(red_add_f32, float, atomicAdd(to, 1.f))
PROBE(red_add_f16x2, __half2, atomicAdd(to, __float2half2_rn(1.f)))
PROBE(red_add_u64, unsigned long long, atomicAdd(to, 1ull))
PROBE(red_add_f64, double, atomicAdd(to, 1.0))
PROBE(red_add_v2f32, float2, atomicAdd(to, make_float2(1.f, 2.f)))
PROBE(red_add_v4f32, float4, atomicAdd(to, make_float4(1.f, 2.f, 3.f, 4.f)))
PROBE(atom_add_u32, unsigned, sum += int(atomicAdd(to, 1u)))
PROBE(atom_exch_b32, unsigned, sum += int(atomicExch(to, threadIdx.x + r)))
PROBE(atom_cas_b32, unsigned, sum += int(atomicCAS(to, 0u, threadIdx.x + r)))
PROBE(atom_cas_b64, unsigned long long, sum += int(atomicCAS(to, 0ull, (unsigned long long)threadIdx.x + r)))
PROBE(atom_max_s32, int, sum += atomicMax(to, int(threadIdx.x) + r))
PROBE(red_add_bf16x2, __nv_bfloat162, atomicAdd(to, __float2bfloat162_rn(1.f)))
PROBE(atom_add_u64, unsigned long long, sum += int(atomicAdd(to, 1ull)))

struct Operation {
    const char* name;
    int bytes;
    void (*kernel)(char*, const Table*, int*);
};
const Operation kOperations[] = {
    {"red_add_u32", 4, red_add_u32},     {"red_add_lane", 4, red_add_lane},   {"red_max_s32", 4, red_max_s32},     {"red_or_b32", 4, red_or_b32},
    {"red_add_f32", 4, red_add_f32},     {"red_add_f16x2", 4, red_add_f16x2}, {"red_add_u64", 8, red_add_u64},     {"red_add_f64", 8, red_add_f64},
    {"red_add_v2f32", 8, red_add_v2f32}, {"red_add_v4f32", 16, red_add_v4f32}, {"atom_add_u32", 4, atom_add_u32},  {"atom_exch_b32", 4, atom_exch_b32},
    {"atom_cas_b32", 4, atom_cas_b32},   {"atom_add_u64", 8, atom_add_u64},
    {"atom_cas_b64", 8, atom_cas_b64},   {"atom_max_s32", 4, atom_max_s32},  {"red_add_bf16x2", 4, red_add_bf16x2},
};

bool listing;
int reserved_bits = 44;      ///< section hash: the size of the address range
int launches = 0;
char* memory;
Table* device_table;
int* out;

uint32_t state = 1;
uint32_t random_bits() {
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

/// An address range of 2^reserved_bits bytes, aligned to its size; pages (all the same memory) are mapped where a pattern needs them.
char* reserved;
void map(const Pattern& pattern) {
    static std::set<long long> mapped;
    static CUmemGenericAllocationHandle handle;
    const long long page_bytes = 2 << 20;
    CUmemAllocationProp wanted{};
    wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    wanted.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    if (mapped.empty() && cuMemCreate(&handle, page_bytes, &wanted, 0) != CUDA_SUCCESS) std::exit(2);
    const CUmemAccessDesc access{wanted.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    for (const long long at : pattern.at)
        if (at != kOff && mapped.insert(at / page_bytes).second) {
            const CUdeviceptr page = CUdeviceptr(reserved) + CUdeviceptr(at / page_bytes * page_bytes);
            if (cuMemMap(page, page_bytes, 0, handle, 0) != CUDA_SUCCESS || cuMemSetAccess(page, page_bytes, &access, 1) != CUDA_SUCCESS) std::exit(3);
        }
}

/// Digits of one launch: sectors of a pattern lie in [base, base + radix)
void launch(const std::string& name, const std::vector<Pattern>& patterns, int radix, int base, int warp = 0, int repeats = 0) {
    const Operation* operation = kOperations;
    while (name != operation->name) ++operation;
    Table table{};
    table.patterns = int(patterns.size());
    table.warp = warp;
    int weight = 1;
    for (size_t i = 0; i < patterns.size(); ++i, weight *= radix) {
        table.repeats[i] = repeats ? repeats : weight;
        table.pattern[i] = patterns[i];
        if (!listing) continue;
        uint32_t active = 0;
        for (int lane = 0; lane < kLanes; ++lane) active |= uint32_t(patterns[i].at[lane] != kOff) << lane;
        std::printf("%d,%s,%d,%d,%d,%d,%d,%08x,", launches, name.c_str(), operation->bytes, warp, radix, base, table.repeats[i], active);
        for (int lane = 0; lane < kLanes; ++lane)
            if (patterns[i].at[lane] != kOff) std::printf(" %lld", patterns[i].at[lane]);
        std::printf("\n");
    }
    ++launches;
    if (listing) return;
    CHECK(cudaMemcpy(device_table, &table, sizeof table, cudaMemcpyHostToDevice));
    if (reserved)
        for (const Pattern& pattern : patterns) map(pattern);
    operation->kernel<<<1, 128>>>(reserved ? reserved : memory, device_table, out);
    CHECK(cudaGetLastError());
}

/// Collects patterns, and launches as many at a time as the digits allow.
struct Batch {
    std::string operation;
    int radix, base, most, warp = 0;
    std::vector<Pattern> patterns{};
    void add(const Pattern& pattern) {
        patterns.push_back(pattern);
        if (int(patterns.size()) == most) flush();
    }
    void flush() {
        if (!patterns.empty()) launch(operation, patterns, radix, base, warp);
        patterns.clear();
    }
    ~Batch() { flush(); }
};
Batch wide(const char* operation, int warp = 0) { return {operation, 32, 1, 4, warp}; }    // 1 … 32 sectors

Pattern nobody() {
    Pattern out;
    for (long long& at : out.at) at = kOff;
    return out;
}
Pattern random_pattern(int sectors, int bytes) {
    Pattern out;
    for (long long& at : out.at) {
        const int sector = int(random_bits() % unsigned(sectors));
        at = sector * 32 + int(random_bits() % unsigned(32 / bytes)) * bytes;
    }
    return out;
}
Pattern masked(Pattern from, uint32_t active) {
    for (int lane = 0; lane < kLanes; ++lane)
        if (!(active >> lane & 1)) from.at[lane] = kOff;
    return from;
}
template <class Map>
Pattern permuted(const Pattern& from, Map map) {     // lane i takes the address of lane map(i)
    Pattern out;
    for (int lane = 0; lane < kLanes; ++lane) out.at[lane] = from.at[map(lane) & 31];
    return out;
}
template <class Map>
Pattern moved(Pattern from, Map map) {
    for (long long& at : from.at)
        if (at != kOff) at = map(at);
    return from;
}

const int kSectors[] = {1, 2, 3, 4, 8, 16, 32, 64, 128, 512};

void randoms(const char* operation, int count, int warp = 0) {
    int bytes = 0;
    for (const Operation& o : kOperations)
        if (!std::strcmp(operation, o.name)) bytes = o.bytes;
    Batch batch = wide(operation, warp);
    for (const int sectors : kSectors) {
        state = 77u + unsigned(sectors);
        for (int i = 0; i < count; ++i) batch.add(random_pattern(sectors, bytes));
    }
}

/// The same pattern once, 64 times and 1000 times: does the count repeat?
void repeats() {
    for (const int sectors : {2, 8, 32, 128}) {
        state = 5u + unsigned(sectors);
        for (int i = 0; i < 4; ++i) {
            const Pattern pattern = random_pattern(sectors, 4);
            for (const int times : {1, 64, 1000}) launch("red_add_u32", {pattern}, 32, 1, 0, times);
        }
    }
}

/// Two lanes of one sector, alone: all pairs of lanes, some pairs of words; all pairs of words, some of lanes.
void pairs() {
    const int words[][2] = {{0, 1}, {1, 0}, {0, 2}, {0, 4}, {3, 4}, {7, 0}};
    Batch batch{"red_add_u32", 2, 1, 16};
    for (const auto& word : words)
        for (int i = 0; i < kLanes; ++i)
            for (int j = i + 1; j < kLanes; ++j) {
                Pattern pattern = nobody();
                pattern.at[i] = word[0] * 4, pattern.at[j] = word[1] * 4;
                batch.add(pattern);
            }
    const int lanes[][2] = {{0, 1}, {0, 2}, {0, 16}, {7, 8}, {15, 16}, {3, 29}};
    for (const auto& lane : lanes)
        for (int a = 0; a < 8; ++a)
            for (int b = 0; b < 8; ++b) {
                if (a == b) continue;
                Pattern pattern = nobody();
                pattern.at[lane[0]] = a * 4, pattern.at[lane[1]] = b * 4;
                batch.add(pattern);
            }
}

/// Two lanes of one sector, the others have each a sector of its own: in its own line, or four to a line; their words 0, or by lane.
void pairs_among() {
    Batch batch{"red_add_u32", 4, 30, 10};
    for (const int variant : {0, 1, 2, 3})
        for (int i = 0; i < kLanes; ++i)
            for (int j = i + 1; j < kLanes; ++j) {
                Pattern pattern;
                for (int lane = 0; lane < kLanes; ++lane) pattern.at[lane] = 4096 + lane * (variant & 1 ? 32 : 128) + (variant & 2 ? lane % 8 * 4 : 0);
                pattern.at[i] = 0, pattern.at[j] = 4;
                batch.add(pattern);
            }
}

/// A pattern's first lanes, its last lanes, and all but one; lanes exchanged; addresses moved.
void parts(const char* operation) {
    Batch batch = wide(operation);
    for (const int sectors : {2, 4, 8, 32, 32, 128}) {
        state = 1000u + unsigned(sectors) + unsigned(launches);
        const Pattern whole = random_pattern(sectors, 4);
        for (int lane = 0; lane < kLanes; ++lane) batch.add(masked(whole, 0xffffffffu >> (31 - lane)));
        for (int lane = 1; lane < kLanes; ++lane) batch.add(masked(whole, 0xffffffffu << lane));
        for (int lane = 0; lane < kLanes; ++lane) batch.add(masked(whole, ~(1u << lane)));
        for (const int bits : {1, 2, 4, 8, 16, 3, 31}) batch.add(permuted(whole, [&](int lane) { return lane ^ bits; }));
        for (const int steps : {1, 2, 4, 8, 16, 31}) batch.add(permuted(whole, [&](int lane) { return lane + steps; }));
        for (const int odd : {3, 5, 17}) batch.add(permuted(whole, [&](int lane) { return lane * odd; }));
        for (const int bits : {4, 8, 16, 28, 32, 64, 96}) batch.add(moved(whole, [&](long long at) { return at ^ bits; }));
        for (const int distance : {128, 256, 512, 1024, 4096, 65536}) batch.add(moved(whole, [&](long long at) { return at + distance; }));
        for (const int times : {2, 4, 32}) batch.add(moved(whole, [&](long long at) { return at / 128 * 128 * times + at % 128; }));
        batch.add(moved(whole, [&](long long at) { return at / 32 * 128 + at % 32; }));    // each sector in a line of its own
        batch.add(moved(whole, [&](long long at) { return at / 32 * 32; }));               // all of a sector want its first word
    }
}

/// All in few sectors, by design.
void designed() {
    Batch batch = wide("red_add_u32");
    const auto each = [&](auto address) {
        Pattern pattern;
        for (int lane = 0; lane < kLanes; ++lane) pattern.at[lane] = address(lane);
        batch.add(pattern);
    };
    for (const int step : {0, 1, 2, 3, 4, 5, 6, 7}) each([&](int i) { return i * step % 8 * 4; });              // one sector
    for (const int step : {1, 3, 5, 7, 9, 11}) each([&](int i) { return i * step % 16 * 4; });                  // two
    for (const int step : {1, 3, 5, 7, 9, 15, 17, 31}) each([&](int i) { return i * step % 32 * 4; });          // a line
    for (const int step : {1, 3, 5, 9, 17, 33}) each([&](int i) { return i * step % 64 * 4; });                 // two lines
    for (const int step : {2, 4, 6, 8, 12, 16, 24, 32}) each([&](int i) { return i * step * 4; });
    for (const int group : {2, 4, 8, 16}) each([&](int i) { return i / group * 4; });                           // neighbours want the same
    for (const int group : {2, 4, 8, 16}) each([&](int i) { return i % group * 4; });
    for (const int group : {2, 4, 8, 16}) each([&](int i) { return i / group * 32; });
    for (const int group : {2, 4, 8, 16}) each([&](int i) { return i % group * 32; });
    for (const int group : {2, 4, 8, 16}) each([&](int i) { return i / group * 128; });
    for (const int group : {2, 4, 8, 16}) each([&](int i) { return i % group * 128; });
    for (const int group : {2, 4, 8, 16}) each([&](int i) { return i / group * 128 + i % 8 * 4; });
    for (const int group : {2, 4, 8, 16}) each([&](int i) { return i % group * 128 + i / 4 * 4; });
    for (const int group : {2, 4, 8, 16}) each([&](int i) { return i % group * 128 + i / group % 8 * 4; });
    for (const int group : {2, 4, 8, 16}) each([&](int i) { return i % group * 32 + i / group % 8 * 4; });
    for (int odd = 0; odd < kLanes; ++odd) each([&](int i) { return i == odd ? 4 : 0; });                       // one wants another word
    for (int odd = 0; odd < kLanes; ++odd) each([&](int i) { return i == odd ? 0 : i % 8 * 4; });
    for (int lanes = 1; lanes <= 8; ++lanes)                                                                     // few lanes, one sector, other words
        for (const int step : {1, 3, 4}) {
            Pattern pattern = nobody();
            for (int i = 0; i < lanes; ++i) pattern.at[i * step] = i * 4;
            batch.add(pattern);
        }
}

/// Few active lanes at random
void sparse() {
    Batch batch = wide("red_add_u32");
    for (const int sectors : {1, 2, 4, 8})
        for (const int lanes : {3, 4, 6, 8, 12, 16, 24}) {
            state = 31u * unsigned(sectors) + unsigned(lanes);
            for (int i = 0; i < 12; ++i) {
                uint32_t active = 0;
                while (__builtin_popcount(active) < lanes) active |= 1u << random_bits() % 32;
                batch.add(masked(random_pattern(sectors, 4), active));
            }
        }
}

/// Which lines share a set: two lanes, one at an address of one bit, one in line 0, 1, 2 or 16; then lanes at random in few lines far apart.
void hash() {
    {
        Batch batch{"red_add_u32", 2, 1, 16};
        for (int bit = 7; bit < reserved_bits; ++bit)
            for (const int line : {0, 1, 2, 16}) {
                Pattern pattern = nobody();
                pattern.at[0] = 1ll << bit, pattern.at[1] = line * 128;
                batch.add(pattern);
            }
    }
    Batch batch = wide("red_add_u32");
    state = 99;
    for (const int lines : {2, 3, 4, 6, 8, 16}) {
        for (int i = 0; i < 16; ++i) {
            long long line[16];
            for (long long& l : line) l = (((long long)random_bits() << 24 ^ random_bits()) & ((1ll << reserved_bits) - 1)) / 128 * 128;
            Pattern pattern;
            for (long long& at : pattern.at) at = line[random_bits() % unsigned(lines)] + random_bits() % 32 * 4;
            batch.add(pattern);
        }
    }
}

int main(int argc, char** argv) {
    listing = argc > 1 && !std::strcmp(argv[1], "list");
    const std::string section = argc > 1 + listing ? argv[1 + listing] : "all";
    const auto wanted = [&](const char* name) { return section == "all" || section == name; };
    if (!listing) {
        CHECK(cudaMalloc(&memory, 1 << 22));
        CHECK(cudaMemset(memory, 0, 1 << 22));
        CHECK(cudaMalloc(&device_table, sizeof(Table)));
        CHECK(cudaMalloc(&out, 4));
    }
    if (wanted("repeats")) repeats();
    if (wanted("designed")) designed();
    if (wanted("randoms")) randoms("red_add_u32", 40), randoms("red_add_u32", 8), randoms("red_add_u32", 4, 1), randoms("red_add_u32", 4, 2), randoms("red_add_u32", 4, 3);
    if (wanted("parts")) parts("red_add_u32");
    if (wanted("sparse")) sparse();
    if (wanted("operations"))
        for (const Operation& operation : kOperations) randoms(operation.name, 8);
    if (wanted("pairs")) pairs();
    if (wanted("among")) pairs_among();
    if (wanted("swaps")) {
        for (const char* operation : {"atom_cas_b64", "atom_max_s32", "red_add_bf16x2"}) randoms(operation, 8);
        randoms("atom_cas_b32", 24);
        parts("atom_cas_b32");
    }
    if (section == "hash") {
        if (argc > 2 + listing) reserved_bits = std::atoi(argv[2 + listing]);
        CUdeviceptr range = 0;
        while (!listing && reserved_bits > 30 && cuMemAddressReserve(&range, 1ull << reserved_bits, 1ull << reserved_bits, 0, 0) != CUDA_SUCCESS) --reserved_bits;
        reserved = (char*)range;
        std::fprintf(stderr, "hash: 2^%d bytes at %p\n", reserved_bits, (void*)reserved);
        hash();
    }
    if (!listing) CHECK(cudaDeviceSynchronize());
}
