// Runs every variant on the first CUDA device and writes the results: semantics_record CUBIN VARIANTS OUTPUT DATE.
// The driver is loaded by name, so that this builds anywhere; CUBIN is `semantics_record --ptx VARIANTS` compiled by ptxas.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

#include "variants.h"

namespace {

using namespace lanescope::semantics;

std::string slurp(const char* path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file) throw std::runtime_error(std::string("cannot read ") + path);
    return text.str();
}

void* g_driver = nullptr;
/// Calls a driver function by name.
template <class... Args>
void call(const char* name, Args... args) {
    auto* function = reinterpret_cast<int (*)(Args...)>(dlsym(g_driver, name));
    if (function == nullptr) throw std::runtime_error(std::string("the driver has no ") + name);
    if (const int status = function(args...); status != 0) throw std::runtime_error(std::string(name) + " failed with " + std::to_string(status));
}

void record(const std::string& cubin, const std::vector<Variant>& variants, const char* output, const char* date) {
    g_driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (g_driver == nullptr) throw std::runtime_error("no CUDA driver");
    int device = 0, version = 0;
    void *context = nullptr, *module = nullptr;
    char device_name[128] = {};
    call("cuInit", 0u);
    call("cuDeviceGet", &device, 0);
    call("cuDeviceGetName", device_name, int(sizeof device_name), device);
    call("cuDriverGetVersion", &version);
    call("cuCtxCreate_v2", &context, 0u, device);
    call("cuModuleLoadData", &module, static_cast<const void*>(cubin.data()));
    constexpr size_t kSlotBytes = size_t(kSamples) * 8, kMaxSlots = 40;
    unsigned long long in = 0, out = 0;
    call("cuMemAlloc_v2", &in, kMaxSlots * kSlotBytes);
    call("cuMemAlloc_v2", &out, kMaxSlots * kSlotBytes);

    std::ofstream file(output, std::ios::binary);
    file << "lanescope-semantics/1\ndevice " << device_name << "\ndriver CUDA " << version << "\ndate " << date << "\n\n";
    std::vector<uint64_t> values(kMaxSlots * kSamples);
    for (size_t index = 0; index < variants.size(); ++index) {
        const Variant& variant = variants[index];
        for (unsigned k = 0; k < variant.inputs.size(); ++k)
            for (unsigned sample = 0; sample < kSamples; ++sample) values[k * kSamples + sample] = input(variant, k, sample);
        call("cuMemcpyHtoD_v2", in, static_cast<const void*>(values.data()), variant.inputs.size() * kSlotBytes);
        call("cuMemsetD8_v2", out, static_cast<unsigned char>(0), variant.outputs.size() * kSlotBytes);
        void* function = nullptr;
        const std::string name = "v" + std::to_string(index);
        call("cuModuleGetFunction", &function, module, name.c_str());
        void* arguments[] = {&in, &out};
        call("cuLaunchKernel", function, kSamples / 128, 1u, 1u, 128u, 1u, 1u, 0u, static_cast<void*>(nullptr), static_cast<void**>(arguments), static_cast<void**>(nullptr));
        call("cuCtxSynchronize");
        call("cuMemcpyDtoH_v2", static_cast<void*>(values.data()), out, variant.outputs.size() * kSlotBytes);
        file << variant.text << '\n';
        const uint32_t checksum = input_checksum(variant);
        file.write(reinterpret_cast<const char*>(&checksum), sizeof checksum);
        for (size_t k = 0; k < variant.outputs.size(); ++k)
            for (unsigned sample = 0; sample < kSamples; ++sample)
                file.write(reinterpret_cast<const char*>(&values[k * kSamples + sample]), variant.outputs[k].bits == 1 ? 1 : variant.outputs[k].bits / 8);
    }
    if (!file.flush()) throw std::runtime_error(std::string("cannot write ") + output);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        if (argc == 3 && std::strcmp(argv[1], "--ptx") == 0) {
            std::cout << module_header();
            size_t index = 0;
            for (const Variant& variant : expand(slurp(argv[2]))) std::cout << kernel(variant, "v" + std::to_string(index++));
            return 0;
        }
        if (argc != 5) {
            std::cerr << "usage: semantics_record --ptx VARIANTS | CUBIN VARIANTS OUTPUT DATE\n";
            return 2;
        }
        record(slurp(argv[1]), expand(slurp(argv[2])), argv[3], argv[4]);
    } catch (const std::exception& error) {
        std::cerr << "semantics_record: " << error.what() << '\n';
        return 1;
    }
    return 0;
}
