// Errors: names, strings, and the thread's last one.
#include "cudart/api/runtime.h"

using namespace lanescope::cudart;

namespace {
struct Row {
    int code;
    const char *name, *text;
};
constexpr Row kErrors[] = {
#define ERROR(name, code, text) {code, #name, text},
#include "cudart/api/errors.def"
#undef ERROR
};

const Row* find(cudaError_t error) {
    for (const Row& row : kErrors)
        if (row.code == int(error)) return &row;
    return nullptr;
}
constexpr const char* kUnknown = "unrecognized error code";
}  // namespace

LANESCOPE_API const char* cudaGetErrorName(cudaError_t error) { return find(error) ? find(error)->name : kUnknown; }
LANESCOPE_API const char* cudaGetErrorString(cudaError_t error) { return find(error) ? find(error)->text : kUnknown; }
LANESCOPE_API cudaError_t cudaGetLastError() { return last_error(true); }
LANESCOPE_API cudaError_t cudaPeekAtLastError() { return last_error(false); }
