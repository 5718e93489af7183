// What the laboratory's programs share: errors, arguments, buffers, timing, and the line that each case prints:
//
//     add_offset offset=1 us=12.4 correct
//
// The first word is the kernel (or what was done), then come the case's parameters and results. A case that computed something wrong
// ends in WRONG and the program fails. Programs take their parameters as name=value arguments, in any order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <cuda_profiler_api.h>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                       \
    do {                                                                                                  \
        const cudaError_t check_error = (call);                                                           \
        if (check_error != cudaSuccess) {                                                                 \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(check_error));     \
            std::exit(2);                                                                                 \
        }                                                                                                 \
    } while (0)

namespace lab {

/// The arguments name=value. A name the program doesn't ask for is refused by `done`.
class Arguments {
public:
    Arguments(int argc, char** argv) {
        for (int i = 1; i < argc; ++i) given_.emplace_back(argv[i]);
    }
    long long number(const char* name, long long otherwise) {
        for (std::string& argument : given_)
            if (argument.rfind(std::string(name) + "=", 0) == 0) {
                const long long value = std::atoll(argument.c_str() + std::strlen(name) + 1);
                argument.clear();
                return value;
            }
        return otherwise;
    }
    void done() const {
        for (const std::string& argument : given_)
            if (!argument.empty()) {
                std::fprintf(stderr, "unknown argument '%s'\n", argument.c_str());
                std::exit(2);
            }
    }

private:
    std::vector<std::string> given_;
};

template <class T>
T* device(size_t count) {
    T* pointer = nullptr;
    CHECK(cudaMalloc(&pointer, count * sizeof(T)));
    return pointer;
}

template <class T>
T* device(const std::vector<T>& values) {
    T* pointer = device<T>(values.size());
    CHECK(cudaMemcpy(pointer, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return pointer;
}

template <class T>
std::vector<T> host(const T* pointer, size_t count) {
    std::vector<T> values(count);
    CHECK(cudaMemcpy(values.data(), pointer, count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
}

/// 0, 1, 2, … modulo 4093: distinct enough to notice a wrong element, exact in every type of 16 bits or more.
template <class T>
std::vector<T> counting(size_t count) {
    std::vector<T> values(count);
    for (size_t i = 0; i < count; ++i) values[i] = T(i % 4093);
    return values;
}

/// Pseudo-random numbers below `limit`, the same on every machine.
class Random {
public:
    uint32_t below(uint32_t limit) {
        state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
        return uint32_t((state_ >> 32) * limit >> 32);
    }

private:
    uint64_t state_ = 2026;
};

struct Timing {
    double median_us = 0, best_us = 0, spread = 0;  ///< spread: (third quartile − first quartile) / median
    int samples = 1, launches_a_sample = 1;
};

/// Times `work`, the launch of one kernel or a copy, with device events. repeats=1: exactly once. Else that many samples after a warm-up,
/// none of which reaches the profile, and then once more for the profile. A sample is one launch, or as many as take `sample_us`: the two
/// events cost some 5 µs themselves.
template <class Work>
Timing timed(int repeats, Work work, double sample_us = 0) {
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    const auto sample = [&](int launches) {
        CHECK(cudaEventRecord(begin));
        for (int i = 0; i < launches; ++i) work();
        CHECK(cudaEventRecord(end));
        CHECK(cudaGetLastError());
        CHECK(cudaEventSynchronize(end));
        float milliseconds = 0;
        CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
        return milliseconds * 1e3 / launches;
    };
    Timing timing;
    if (repeats > 1) {
        CHECK(cudaProfilerStop());
        sample(1);
        const double once = sample(1);
        if (sample_us > once) timing.launches_a_sample = int(std::min(sample_us / std::max(once, 1.0), 1000.0)) + 1;
    }
    std::vector<double> times;
    for (int i = 0; i < repeats; ++i) times.push_back(sample(timing.launches_a_sample));
    if (repeats > 1) {
        CHECK(cudaProfilerStart());
        sample(1);
    }
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    std::sort(times.begin(), times.end());
    const size_t n = times.size();
    timing.samples = int(n);
    timing.median_us = times[n / 2];
    timing.best_us = times[0];
    timing.spread = timing.median_us > 0 ? (times[n * 3 / 4] - times[n / 4]) / timing.median_us : 0;
    return timing;
}

inline bool& all_correct() {
    static bool correct = true;
    return correct;
}

/// Prints one case's line, piece by piece; the destructor ends it.
class Case {
public:
    explicit Case(const char* name) { std::printf("%s", name); }
    Case(const Case&) = delete;
    ~Case() {
        std::printf("\n");
        std::fflush(stdout);
    }
    Case& with(const char* name, const char* value) { return std::printf(" %s=%s", name, value), *this; }
    Case& with(const char* name, double value) { return std::printf(" %s=%.10g", name, value), *this; }
    /// The time; `bytes`, if not 0, is the traffic it moved: effective bandwidth in GB/s (10^9), of the median and of the best run.
    Case& with(const Timing& timing, double bytes = 0) {
        with("us", timing.median_us);
        if (timing.samples > 1)
            with("best_us", timing.best_us).with("spread", timing.spread).with("samples", timing.samples).with("each", timing.launches_a_sample);
        if (bytes > 0 && timing.median_us > 0) with("gbs", bytes / timing.median_us / 1e3).with("best_gbs", bytes / timing.best_us / 1e3);
        return *this;
    }
    Case& correct(bool is) {
        std::printf(is ? " correct" : " WRONG");
        all_correct() &= is;
        return *this;
    }
};

/// The program's exit status.
inline int finish() {
    CHECK(cudaDeviceSynchronize());
    return all_correct() ? 0 : 1;
}

}  // namespace lab
