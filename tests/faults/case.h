// A program of cases, of which one is run: PROGRAM NAME. `run` runs each by its name and compares what was found.
//   CASE(name, "kinds", error) { launches }
//     kinds: of the findings, in order of their names, "" for none; a warning has a question mark
//     error: what the program is to see after it, from then on for each call
// A finding's line carries //! and its kinds.
#pragma once

#include <cstdio>
#include <cstring>

constexpr int kThreads = 64, kBlocks = 4, kWords = kThreads * kBlocks;
static int* words;   // kWords of them, all 0

struct Case {
    const char* name;
    void (*run)();
    cudaError_t error;
    const Case* next;
    Case(const char* name, void (*run)(), cudaError_t error) : name(name), run(run), error(error), next(first) { first = this; }
    static inline const Case* first = nullptr;
};
#define CASE(name, kinds, error)                           \
    static void name();                                    \
    static const Case case_of_##name{#name, name, error};  \
    static void name()

__global__ void nothing() {}

int main(int argc, char** argv) {
    const Case* chosen = Case::first;
    while (chosen != nullptr && (argc != 2 || std::strcmp(argv[1], chosen->name) != 0)) chosen = chosen->next;
    if (chosen == nullptr) return 2;
    nothing<<<1, 1>>>();   // loads the module: its variables are not to come where a case frees memory
    cudaMalloc(&words, kWords * sizeof(int));
    cudaMemset(words, 0, kWords * sizeof(int));
    cudaDeviceSynchronize();
    chosen->run();
    void* more;
    for (const cudaError_t seen : {cudaDeviceSynchronize(), cudaMalloc(&more, 4), cudaMemset(words, 0, 4)})
        if (seen != chosen->error) {
            std::fprintf(stderr, "the program sees %s, not %s\n", cudaGetErrorName(seen), cudaGetErrorName(chosen->error));
            return 1;
        }
    return 0;
}
