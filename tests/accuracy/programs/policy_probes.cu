// What L2 keeps of what was brought or written with a policy. A launch is up to four steps, each over a buffer by all threads, one after the other.
// usage: policy_probes counts      each launch on its own, for a profiler; prints one name a launch
//        policy_probes maps FILE   cycles of a read of each line after some launches: 16 bits a line
#include "check.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <vector>

enum How { kPlain, kLast, kFirst, kUnchanged, kPrefetchLast, kStreaming, kNormal, kPriority, kLastPart, kFirstPart, kLastElseFirst, kRange,
           kWritePlain, kWriteLast, kWriteFirst, kWriteStreaming, kReduceLast, kDiscard, kEverySm, kPrefetchNormal };
const char* const kNames[] = {"plain", "evict_last", "evict_first", "evict_unchanged", "prefetch_evict_last", "cs", "evict_normal", "applypriority",
                              "evict_last/part", "evict_first/part", "evict_last/part/evict_first", "range", "write", "write evict_last", "write evict_first",
                              "write cs", "reduce evict_last", "discard", "evict_last by every SM", "prefetch_evict_normal"};
struct Step {
    How how;
    int from, count;      // MiB
    float part;
};
struct Steps {
    Step step[4];
    int count;
};

__device__ uint64_t policy(How how, float part, const void* base, uint32_t bytes) {
    uint64_t p = 0;
    switch (how) {
        case kLast: case kWriteLast: case kReduceLast: case kEverySm: asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(p)); break;
        case kFirst: case kWriteFirst: asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(p)); break;
        case kUnchanged: asm volatile("createpolicy.fractional.L2::evict_unchanged.b64 %0, 1.0;" : "=l"(p)); break;
        case kNormal: asm volatile("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(p)); break;
        case kLastPart: asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, %1;" : "=l"(p) : "f"(part)); break;
        case kFirstPart: asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, %1;" : "=l"(p) : "f"(part)); break;
        case kLastElseFirst: asm volatile("createpolicy.fractional.L2::evict_last.L2::evict_first.b64 %0, %1;" : "=l"(p) : "f"(part)); break;
        case kRange: asm volatile("createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %0, [%1], %2, %3;" : "=l"(p) : "l"(base), "r"(bytes / 2), "r"(bytes)); break;
        default: break;
    }
    return p;
}

__global__ void encodings(const char* buffer, uint64_t* to) {
    uint64_t n = 0;
    for (int k = 0; k <= 34; ++k) to[n++] = policy(kLastPart, k / 32.f, nullptr, 0);
    for (const How how : {kNormal, kFirst, kLast, kUnchanged}) to[n++] = policy(how, 1, nullptr, 0);
    to[n++] = policy(kFirstPart, 0.3f, nullptr, 0);
    to[n++] = policy(kLastElseFirst, 0.3f, nullptr, 0);
    for (uint32_t bytes = 1024; bytes != 0 && n < 64; bytes *= 2) to[n++] = policy(kRange, 1, buffer + (3u << 20) + 5000, bytes);
    for (const uint32_t bytes : {9000u, 3u << 20, 100u << 20}) to[n++] = policy(kRange, 1, buffer, bytes);
    asm volatile("createpolicy.cvt.L2.b64 %0, %1;" : "=l"(to[n]) : "l"(0x123456789abcdef0ull));
}

__device__ float4 load(How how, const float4* at, uint64_t p) {
    float4 v = make_float4(0, 0, 0, 0);
    const char* line = reinterpret_cast<const char*>(uintptr_t(at) & ~uintptr_t(127));
    switch (how) {
        case kPrefetchLast: asm volatile("prefetch.global.L2::evict_last [%0];" ::"l"(at)); break;
        case kPrefetchNormal: asm volatile("prefetch.global.L2::evict_normal [%0];" ::"l"(at)); break;
        case kPriority: if (uintptr_t(at) % 128 == 0) asm volatile("applypriority.global.L2::evict_normal [%0], 128;" ::"l"(line)); break;
        case kDiscard: if (uintptr_t(at) % 128 == 0) asm volatile("discard.global.L2 [%0], 128;" ::"l"(line)); break;
        case kStreaming: asm volatile("ld.global.cs.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(at)); break;
        case kPlain: asm volatile("ld.global.cg.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(at)); break;
        default: asm volatile("ld.global.L1::no_allocate.L2::cache_hint.v4.f32 {%0,%1,%2,%3}, [%4], %5;" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(at), "l"(p));
    }
    return v;
}

__device__ void store(How how, float4* at, uint64_t p) {
    if (how == kWritePlain) *at = make_float4(1, 2, 3, 4);
    else if (how == kWriteStreaming) __stcs(at, make_float4(1, 2, 3, 4));
    else if (how == kReduceLast) asm volatile("red.global.add.L2::cache_hint.f32 [%0], %1, %2;" ::"l"(at), "f"(1.f), "l"(p));
    else asm volatile("st.global.L2::cache_hint.v4.f32 [%0], {%1,%1,%1,%1}, %2;" ::"l"(at), "f"(1.f), "l"(p));
}

__global__ void steps(char* buffer, const __grid_constant__ Steps all, float* out, unsigned* arrived) {
    float sum = 0;
    for (int k = 0; k < all.count; ++k) {
        const Step s = all.step[k];
        float4* const a = reinterpret_cast<float4*>(buffer + (size_t(s.from) << 20));
        const uint64_t p = policy(s.how, s.part, a, uint32_t(s.count) << 20);
        const bool every = s.how == kEverySm, writes = s.how >= kWritePlain && s.how <= kReduceLast;
        const size_t step = size_t(every ? 1 : gridDim.x) * blockDim.x;
        for (size_t i = size_t(every ? 0 : blockIdx.x) * blockDim.x + threadIdx.x; i < size_t(s.count) << 16; i += step) {
            if (writes) {
                store(s.how, a + i, p);
            } else {
                float4 v = load(s.how, a + i, p);
                if (s.how == kPrefetchLast || s.how == kPrefetchNormal) v = load(kPlain, a + i, 0);
                sum += v.x + v.y + v.z + v.w;
            }
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd(arrived, 1);
            while (atomicAdd(arrived, 0) < gridDim.x * (k + 1)) __nanosleep(200);
        }
        __syncthreads();
    }
    if (sum == 12345.f) out[threadIdx.x] = sum;
}

__global__ void map_lines(const char* buffer, size_t lines, uint16_t* cycles) {
    unsigned sum = 0;
    for (size_t i = 0; i < lines; ++i) {
        const long long before = clock64();
        unsigned v;
        asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(buffer + i * 128 + (sum & 0)) : "memory");
        sum += v;
        asm volatile("" : "+r"(sum));
        const long long after = sum == 0x12345 ? 0 : clock64();
        cycles[i] = uint16_t(min(after - before, 65535ll));
    }
}

static char* buffer;
static float* out;
static unsigned* arrived;
static cudaStream_t stream;
static std::string under;                                   // what the launch's stream and device were told

static void launch(std::initializer_list<Step> list) {
    Steps all{};
    std::string name = under;
    for (const Step& s : list) {
        all.step[all.count++] = s;
        if (!name.empty()) name += " then ";
        name += kNames[s.how];
        if (s.part > 0) name += " " + std::to_string(s.part).substr(0, 4);
        name += " MiB=" + std::to_string(s.count) + (s.from ? " of another" : "");
    }
    std::printf("%s\n", name.c_str());
    CHECK(cudaMemsetAsync(arrived, 0, 4, stream));
    steps<<<132, 1024, 0, stream>>>(buffer, all, out, arrived);
    CHECK(cudaStreamSynchronize(stream));
}

static void limit(int mib) {
    if (const cudaError_t error = cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, size_t(mib) << 20)) std::printf("# limit %d MiB: %s\n", mib, cudaGetErrorString(error));
    size_t value = 0;
    CHECK(cudaDeviceGetLimit(&value, cudaLimitPersistingL2CacheSize));
    under = "limit MiB=" + std::to_string(mib);
    if (value != size_t(mib) << 20) std::printf("# limit %d MiB reads %zu\n", mib, value);
}

static void window(int mib, int from, int count, float ratio, cudaAccessProperty hit, cudaAccessProperty miss) {
    limit(mib);
    cudaStreamAttrValue value{};
    value.accessPolicyWindow.base_ptr = buffer + (size_t(from) << 20);
    value.accessPolicyWindow.num_bytes = size_t(count) << 20;
    value.accessPolicyWindow.hitRatio = ratio;
    value.accessPolicyWindow.hitProp = hit;
    value.accessPolicyWindow.missProp = miss;
    CHECK(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value));
    static const char* const kProperties[] = {"normal", "streaming", "persisting"};
    under += " window MiB=" + std::to_string(count) + (from ? " of another" : "") + " ratio=" + std::to_string(ratio).substr(0, 4) + " " + kProperties[hit] + "/" + kProperties[miss];
}

static void no_window() {
    window(0, 0, 0, 0, cudaAccessPropertyNormal, cudaAccessPropertyNormal);
    under.clear();
}

constexpr int kB = 256;                                     // MiB: where the other buffer begins

static void counts() {
    size_t value = 0;
    CHECK(cudaDeviceGetLimit(&value, cudaLimitPersistingL2CacheSize));
    int most = 0, widest = 0;
    CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxPersistingL2CacheSize, 0));
    CHECK(cudaDeviceGetAttribute(&widest, cudaDevAttrMaxAccessPolicyWindowSize, 0));
    std::printf("# limit as it stands %zu, most %d, widest window %d\n", value, most, widest);
    const Step after{kPlain, kB, 96};
    launch({{kLast, 0, 40}, after, {kPlain, 0, 40}});
    for (const float part : {0.25f, 0.5f, 0.75f}) launch({{kLastPart, 0, 8, part}, after, {kPlain, 0, 8}});
    launch({{kLastPart, 0, 40, 0.5f}, after, {kPlain, 0, 40}});
    launch({{kLastElseFirst, 0, 8, 0.5f}, after, {kPlain, 0, 8}});
    launch({{kLastElseFirst, 0, 16, 0.5f}, {kPlain, kB, 16}, {kPlain, 0, 16}});
    launch({{kRange, 0, 16}, after, {kPlain, 0, 16}});
    launch({{kPlain, 0, 16}, {kFirstPart, kB, 48, 0.5f}, {kPlain, 0, 16}});
    launch({{kLast, 0, 8}, after, {kPlain, 0, 8}});
    launch({{kPlain, 0, 8}, {kLast, 0, 8}, after, {kPlain, 0, 8}});
    launch({{kFirst, 0, 8}, {kPlain, 0, 8}, {kPlain, kB, 30}, {kPlain, 0, 8}});
    launch({{kFirst, 0, 8}, {kPlain, kB, 30}, {kPlain, 0, 8}});
    launch({{kPlain, 0, 8}, {kPlain, kB, 30}, {kPlain, 0, 8}});
    launch({{kPlain, 0, 8}, {kFirst, 0, 8}, {kPlain, kB, 30}, {kPlain, 0, 8}});
    for (const How how : {kPlain, kNormal, kUnchanged, kFirst, kStreaming, kPriority, kWritePlain, kDiscard}) launch({{kLast, 0, 8}, {how, 0, 8}, after, {kPlain, 0, 8}});
    launch({{kEverySm, 0, 4}, after, {kPlain, 0, 4}});
    launch({{kReduceLast, 0, 8}, after, {kPlain, 0, 8}});
    launch({{kWriteLast, 0, 8}, after, {kPlain, 0, 8}});
    launch({{kWritePlain, 0, 16}, {kDiscard, 0, 16}, after});
    launch({{kWritePlain, 0, 16}, after});
    launch({{kPrefetchNormal, 0, 16}});
    launch({{kPlain, 0, 16}});
    for (const int mib : {0, 4, 8, 16, 24, 30, 37}) {
        limit(mib);
        launch({{kLast, 0, 40}, after, {kPlain, 0, 40}});
    }
    limit(16);
    launch({{kPlain, 0, 40}, after, {kPlain, 0, 40}});
    launch({{kPlain, 0, 16}, {kPlain, kB, 24}, {kPlain, 0, 16}});
    for (const int mib : {0, 8, 16, 37}) {
        window(mib, 0, 32, 1, cudaAccessPropertyPersisting, cudaAccessPropertyStreaming);
        launch({{kPlain, 0, 32}, after, {kPlain, 0, 32}});
    }
    for (const float ratio : {0.25f, 0.5f, 1.f}) {
        window(16, 0, 8, ratio, cudaAccessPropertyPersisting, cudaAccessPropertyStreaming);
        launch({{kPlain, 0, 8}, after, {kPlain, 0, 8}});
    }
    window(16, 0, 8, 0.5f, cudaAccessPropertyPersisting, cudaAccessPropertyNormal);
    launch({{kPlain, 0, 8}, after, {kPlain, 0, 8}});
    window(16, 0, 8, 1, cudaAccessPropertyPersisting, cudaAccessPropertyStreaming);
    launch({{kWritePlain, 0, 8}, after, {kPlain, 0, 8}});
    launch({{kFirst, 0, 8}, after, {kPlain, 0, 8}});
    window(16, kB, 48, 1, cudaAccessPropertyStreaming, cudaAccessPropertyNormal);
    launch({{kPlain, 0, 16}, {kPlain, kB, 48}, {kPlain, 0, 16}});
    window(0, kB, 48, 0.5f, cudaAccessPropertyStreaming, cudaAccessPropertyNormal);
    launch({{kPlain, 0, 16}, {kPlain, kB, 48}, {kPlain, 0, 16}});
    no_window();
}

static void maps(const char* path) {
    FILE* file = std::fopen(path, "wb");
    uint16_t* cycles;
    CHECK(cudaMalloc(&cycles, 1 << 20));
    const auto map = [&](int mib) {
        const size_t lines = size_t(mib) << 13;
        map_lines<<<1, 1>>>(buffer, lines, cycles);
        std::vector<uint16_t> here(lines);
        CHECK(cudaMemcpy(here.data(), cycles, lines * 2, cudaMemcpyDeviceToHost));
        size_t bins[16] = {};
        for (const uint16_t c : here) ++bins[c / 100 < 15 ? c / 100 : 15];
        std::printf("  map MiB=%d, lines by hundreds of cycles:", mib);
        for (const size_t n : bins) std::printf(" %zu", n);
        std::printf("\n");
        std::fwrite(here.data(), 2, lines, file);
        CHECK(cudaCtxResetPersistingL2Cache());
        launch({{kPlain, 512, 200}});
    };
    uint64_t* policies;
    CHECK(cudaMallocManaged(&policies, 80 * 8));
    encodings<<<1, 1>>>(buffer, policies);
    CHECK(cudaDeviceSynchronize());
    std::printf("buffer %p\npolicies", static_cast<void*>(buffer));
    for (int k = 0; k < 70; ++k) std::printf(" %016llx", static_cast<unsigned long long>(policies[k]));
    std::printf("\n");
    const Step after{kPlain, kB, 96};
    launch({{kLast, 0, 40}, after});
    map(40);
    launch({{kPlain, 0, 8}});
    map(8);
    for (const float part : {0.25f, 0.5f, 0.5f}) {
        launch({{kLastPart, 0, 8, part}, after});
        map(8);
    }
    launch({{kLast, 0, 8}});
    launch({after});
    map(8);
    launch({{kLast, 0, 8}});
    CHECK(cudaCtxResetPersistingL2Cache());
    launch({after});
    map(8);
    launch({{kEverySm, 0, 4}, after});
    map(4);
    launch({{kRange, 0, 8}, after});
    map(8);
    window(16, 0, 8, 0.5f, cudaAccessPropertyPersisting, cudaAccessPropertyStreaming);
    launch({{kPlain, 0, 8}, after});
    map(8);
    window(16, 0, 8, 0.25f, cudaAccessPropertyPersisting, cudaAccessPropertyStreaming);
    launch({{kPlain, 0, 8}, after});
    map(8);
    window(16, 0, 40, 1, cudaAccessPropertyPersisting, cudaAccessPropertyStreaming);
    launch({{kPlain, 0, 40}, after});
    map(40);
    window(0, 0, 8, 1, cudaAccessPropertyPersisting, cudaAccessPropertyStreaming);
    launch({{kPlain, 0, 8}, after});
    map(8);
    no_window();
    std::fclose(file);
}

int main(int argc, char** argv) {
    CHECK(cudaMalloc(&buffer, size_t(1) << 30));
    CHECK(cudaMemset(buffer, 0, size_t(1) << 30));
    CHECK(cudaMalloc(&out, 4096));
    CHECK(cudaMalloc(&arrived, 4));
    CHECK(cudaStreamCreate(&stream));
    if (argc > 2 && argv[1] == std::string("maps")) maps(argv[2]);
    else counts();
}
