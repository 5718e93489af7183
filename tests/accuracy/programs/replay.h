// A program stands for a profiler that replays: with `passes` above 1 each launch is done so many times in a row, what it changed is put
// back in between, and the caches hold nothing of it before the first.
#pragma once

#include "check.h"

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

namespace replay {

constexpr size_t kFlush = 128 << 20;        // more than any L2
inline int passes = 1;
inline char* output;                        // what the next launches write
inline size_t output_bytes;
inline char* saved;
inline std::vector<char> before;

/// Room to save outputs of up to `most` bytes; to be called once if `passes` is above 1.
inline void prepare(size_t most) {
    CHECK(cudaMalloc(&saved, most + kFlush));
    CHECK(cudaMemset(saved, 0, most + kFlush));
}
inline std::vector<char> content() {
    std::vector<char> out(output_bytes);
    CHECK(cudaMemcpy(out.data(), output, output_bytes, cudaMemcpyDeviceToHost));
    return out;
}
inline int first() {
    if (passes > 1) {
        before = content();
        CHECK(cudaMemcpy(saved, output, output_bytes, cudaMemcpyDeviceToDevice));
        CHECK(cudaMemset(saved + output_bytes, 0, kFlush));
    }
    return 0;
}
inline int next(int pass) {
    if (pass + 1 < passes && content() != before) CHECK(cudaMemcpy(output, saved, output_bytes, cudaMemcpyDeviceToDevice));
    return pass + 1;
}

}  // namespace replay

#define EACH_PASS for (int pass = replay::first(); pass < replay::passes; pass = replay::next(pass))
