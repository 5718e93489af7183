// What the test programs share: end with a message when a runtime call fails.
#pragma once

#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                    \
    do {                                                                                               \
        cudaError_t error_ = (call);                                                                   \
        if (error_ != cudaSuccess) {                                                                   \
            std::printf("%s: line %d: %s\n", cudaGetErrorName(error_), __LINE__, cudaGetErrorString(error_)); \
            std::exit(1);                                                                              \
        }                                                                                              \
    } while (0)
