// Kernels and variables that a program loads at run time, by name: PTX in memory, PTX in a file, and the program's own functions by handle.
// OUT: kernels 2
// OUT: 3 5 7 9
// OUT: factor 8 bytes: 30 50 70 90
// OUT: enumerated 1
// OUT: from a file: 31 51 71 91
// OUT: errors: cudaErrorSymbolNotFound cudaErrorSymbolNotFound cudaSuccess cudaErrorInvalidKernelImage cudaErrorFileNotFound
// OUT: unloaded: cudaErrorInvalidResourceHandle
// OUT: own: 8
#include <cstdio>
#include <cstdlib>
#include <string>

#include <unistd.h>

#include "check.h"

const char* const kPtx = R"(.version 8.0
.target sm_75
.address_size 64
.visible .global .align 8 .b64 factor = 1;
.visible .entry odd(.param .u64 out, .param .u32 first)
{
    .reg .b32 %r<5>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [first];
    mov.u32 %r2, %tid.x;
    mad.lo.u32 %r3, %r2, 2, %r1;
    mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd3, %rd1, %rd2;
    ld.global.u32 %r4, [factor];
    mul.lo.u32 %r3, %r3, %r4;
    st.global.u32 [%rd3], %r3;
    ret;
}
.visible .entry increase(.param .u64 out)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    ld.global.u32 %r2, [%rd3];
    add.u32 %r2, %r2, 1;
    st.global.u32 [%rd3], %r2;
    ret;
}
)";

__global__ void own(int* out) { *out = 8; }

static void print(const char* before, const int* device) {
    int host[4];
    CHECK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    std::printf("%s%d %d %d %d\n", before, host[0], host[1], host[2], host[3]);
}

int main() {
    int* out = nullptr;
    CHECK(cudaMalloc(&out, 4 * sizeof(int)));
    cudaLibrary_t library;
    CHECK(cudaLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0));
    unsigned count = 0;
    CHECK(cudaLibraryGetKernelCount(&count, library));
    std::printf("kernels %u\n", count);
    cudaKernel_t odd;
    CHECK(cudaLibraryGetKernel(&odd, library, "odd"));
    int first = 3;
    void* arguments[] = {&out, &first};
    CHECK(cudaLaunchKernel((const void*)odd, dim3(1), dim3(4), arguments, 0, nullptr));
    print("", out);

    void* factor = nullptr;
    size_t bytes = 0;
    CHECK(cudaLibraryGetGlobal(&factor, &bytes, library, "factor"));
    const long long ten = 10;
    CHECK(cudaMemcpy(factor, &ten, sizeof ten, cudaMemcpyHostToDevice));
    CHECK(cudaLaunchKernel((const void*)odd, dim3(1), dim3(4), arguments, 0, nullptr));
    std::printf("factor %zu bytes: ", bytes);
    print("", out);

    const std::string path = "library-" + std::to_string((long)getpid()) + ".ptx";
    std::FILE* file = std::fopen(path.c_str(), "w");
    std::fputs(kPtx, file);
    std::fclose(file);
    cudaLibrary_t second;
    CHECK(cudaLibraryLoadFromFile(&second, path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
    std::remove(path.c_str());
    cudaKernel_t kernels[2], increase;
    CHECK(cudaLibraryEnumerateKernels(kernels, 2, second));
    CHECK(cudaLibraryGetKernel(&increase, second, "increase"));
    std::printf("enumerated %d\n", kernels[0] != kernels[1] && (kernels[0] == increase || kernels[1] == increase));
    CHECK(cudaLaunchKernel((const void*)increase, dim3(1), dim3(4), arguments, 0, nullptr));
    print("from a file: ", out);

    cudaLibrary_t none;
    cudaKernel_t nothing;
    std::printf("errors:");
    for (cudaError_t error : {cudaLibraryGetKernel(&nothing, library, "even"), cudaLibraryGetManaged(&factor, &bytes, library, "factor"),
                              cudaLibraryLoadData(&none, "no PTX at all", nullptr, nullptr, 0, nullptr, nullptr, 0), cudaLibraryGetKernel(&nothing, none, "odd"),
                              cudaLibraryLoadFromFile(&none, "/no/such.ptx", nullptr, nullptr, 0, nullptr, nullptr, 0)})
        std::printf(" %s", cudaGetErrorName(error));
    std::printf("\n");

    CHECK(cudaLibraryUnload(library));
    std::printf("unloaded: %s\n", cudaGetErrorName(cudaLaunchKernel((const void*)odd, dim3(1), dim3(4), arguments, 0, nullptr)));
    (void)cudaGetLastError();

    cudaKernel_t mine;
    CHECK(cudaGetKernel(&mine, (const void*)own));
    CHECK(cudaLaunchKernel((const void*)mine, dim3(1), dim3(1), arguments, 0, nullptr));
    int value = 0;
    CHECK(cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost));
    std::printf("own: %d\n", value);
    return 0;
}
