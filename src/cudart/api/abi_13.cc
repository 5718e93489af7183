// What libcudart.so.13 has otherwise than its predecessors.
#include "cudart/api/copy.h"
#include "cudart/api/device.h"
#include "cudart/api/runtime.h"

using namespace lanescope::cudart;

LANESCOPE_API cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
    return call([&](Runtime&, lanescope::emulator::Context& context) {
        if (device != 0) return cudaErrorInvalidDevice;
        if (!properties) return cudaErrorInvalidValue;
        fill_properties(context.gpu(), *properties);
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation location) {
    return advise(pointer, bytes, advice, location.type != cudaMemLocationTypeDevice);
}
LANESCOPE_API cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, cudaMemLocation location, unsigned, cudaStream_t stream) {
    return prefetch(pointer, bytes, location.type != cudaMemLocationTypeDevice, stream);
}
LANESCOPE_ALIAS(cudaMemPrefetchAsync, cudaMemPrefetchAsync_ptsz);
