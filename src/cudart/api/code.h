// Device code as programs bring it: fat binaries registered by compiled host code, and what they load at run time.
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <string_view>
#include <vector>

#include "emulator/context.h"

namespace lanescope::cudart {

struct DeviceCode {
    std::vector<emulator::Source> sources;
    std::string cubin;                            ///< machine code for the GPU, where there is one; may be empty
    cudaError_t error = cudaSuccess;              ///< why it cannot be used,
    std::string problem;                          ///< in words
};

/// Of what __cudaRegisterFatBinary is given. `architecture`: compute capability that the code is chosen for.
DeviceCode code_of_wrapper(const void* wrapper, uint32_t architecture);

/// Of an image in memory that nothing tells the length of: a fat binary with or without its wrapper, or PTX that ends with a null.
DeviceCode code_of_image(const void* image, uint32_t architecture);

/// Of a file's contents: a fat binary or PTX. `name`: for messages.
DeviceCode code_of_file(std::string_view bytes, const std::string& name, uint32_t architecture);

}  // namespace lanescope::cudart
