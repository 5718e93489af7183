// A program that compiles at run time for the GPU that it has, and loads the machine code, as most do.
// FLAGS: -lnvrtc
// FLAGS: -lcuda
// PRELOAD: liblanescope_nvrtc.so
// OUT: virtual architecture: no machine code
// OUT: 3 4 5 6
// OUT: lowered name found
#include <cstdio>
#include <cuda.h>
#include <nvrtc.h>
#include <string>
#include <vector>

#include "check.h"

static const char* kSource = "template <class T> __global__ void add(T* values, T what) { values[threadIdx.x] += what; }";

static std::vector<char> machine_code(const std::string& architecture, std::string& lowered) {
    nvrtcProgram program;
    nvrtcCreateProgram(&program, kSource, "add.cu", 0, nullptr, nullptr);
    nvrtcAddNameExpression(program, "add<int>");
    const std::string option = "--gpu-architecture=" + architecture;
    const char* options[] = {option.c_str()};
    if (nvrtcCompileProgram(program, 1, options) != NVRTC_SUCCESS) return {};
    const char* name = nullptr;
    nvrtcGetLoweredName(program, "add<int>", &name);
    lowered = name ? name : "";
    size_t bytes = 0;
    nvrtcGetCUBINSize(program, &bytes);
    std::vector<char> code(bytes);
    if (bytes) nvrtcGetCUBIN(program, code.data());
    nvrtcDestroyProgram(&program);
    return code;
}

int main() {
    int *values = nullptr, host[4] = {1, 2, 3, 4}, what = 2;
    CHECK(cudaMalloc(&values, sizeof host));
    CHECK(cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice));
    std::string name;
    if (machine_code("compute_75", name).empty()) std::printf("virtual architecture: no machine code\n");
    const std::vector<char> code = machine_code("sm_75", name);
    CUmodule module;
    CUfunction function;
    if (cuModuleLoadData(&module, code.data()) != CUDA_SUCCESS || cuModuleGetFunction(&function, module, name.c_str()) != CUDA_SUCCESS) return 1;
    void* arguments[] = {&values, &what};
    if (cuLaunchKernel(function, 1, 1, 1, 4, 1, 1, 0, nullptr, arguments, nullptr) != CUDA_SUCCESS) return 1;
    CHECK(cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost));
    std::printf("%d %d %d %d\n", host[0], host[1], host[2], host[3]);
    if (name == "_Z3addIiEvPT_S0_") std::printf("lowered name found\n");
    return 0;
}
