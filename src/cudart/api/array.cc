// CUDA arrays, texture and surface objects.
#include <algorithm>
#include <cstring>

#include "cudart/api/copy.h"
#include "cudart/api/runtime.h"

using namespace lanescope::cudart;
using lanescope::emulator::Context;
namespace exec = lanescope::exec;

namespace {

// An array is made of tiles of 64 bytes × 8 rows (exec::texel_address); programs cannot see it.
constexpr uint64_t kRowAlignment = 64, kRowGroup = 8;

uint32_t bits(const cudaChannelFormatDesc& format) { return uint32_t(format.x + format.y + format.z + format.w); }

bool valid(const cudaChannelFormatDesc& format) {
    for (int channel : {format.x, format.y, format.z, format.w})
        if (channel != 0 && (channel != format.x || (channel != 8 && channel != 16 && channel != 32))) return false;
    return format.x != 0 && (format.y || !format.z) && format.f <= cudaChannelFormatKindFloat && !(format.f == cudaChannelFormatKindFloat && format.x == 8);
}

cudaError_t make_array(Runtime& runtime, Context& context, cudaArray_t* out, const cudaChannelFormatDesc& format, cudaExtent extent, unsigned flags) {
    if (!valid(format)) return cudaErrorInvalidChannelDescriptor;
    if (!extent.width || (extent.depth && !extent.height && !(flags & cudaArrayLayered))) return cudaErrorInvalidValue;
    auto array = std::make_unique<Array>();
    array->format = format;
    array->extent = extent;
    array->flags = flags;
    array->element_bytes = bits(format) / 8;
    if (extent.width > (uint64_t(1) << 32) || array->rows() > (uint64_t(1) << 32) || array->slices() > (uint64_t(1) << 32)) return cudaErrorInvalidValue;
    array->row_bytes = (extent.width * array->element_bytes + kRowAlignment - 1) / kRowAlignment * kRowAlignment;
    uint64_t rows = extent.height ? (extent.height + kRowGroup - 1) / kRowGroup * kRowGroup : kRowGroup;
    unsigned __int128 slice = (unsigned __int128)(array->row_bytes) * rows, all = slice * array->slices();
    if (all > INT64_MAX) return cudaErrorMemoryAllocation;
    array->slice_bytes = uint64_t(slice);
    const exec::Allocation* memory = context.memory().allocate(uint64_t(all), exec::Region::kDevice, "cudaMallocArray");
    if (!memory) return cudaErrorMemoryAllocation;
    array->address = memory->begin;
    *out = reinterpret_cast<cudaArray_t>(array.get());
    runtime.arrays[*out] = std::move(array);
    return cudaSuccess;
}

cudaError_t free_array(Runtime& runtime, Context& context, cudaArray_t handle) {
    auto found = runtime.arrays.find(handle);
    if (found == runtime.arrays.end()) return cudaErrorInvalidResourceHandle;
    context.memory().release(found->second->address);
    runtime.arrays.erase(found);
    return cudaSuccess;
}

bool set_format(exec::Texture& texture, const cudaChannelFormatDesc& format) {
    if (!valid(format)) return false;
    texture.channels = uint8_t(1 + (format.y != 0) + (format.z != 0) + (format.w != 0));
    texture.channel_bits = uint8_t(format.x);
    texture.format = format.f == cudaChannelFormatKindUnsigned ? exec::TexelFormat::kUnsigned
        : format.f == cudaChannelFormatKindSigned              ? exec::TexelFormat::kSigned
                                                               : exec::TexelFormat::kFloat;
    return true;
}

/// The image of a resource. Surfaces bind arrays only.
cudaError_t bind(Runtime& runtime, Context& context, const cudaResourceDesc& resource, exec::Texture& texture) {
    if (resource.resType == cudaResourceTypeArray) {
        auto found = runtime.arrays.find(resource.res.array.array);
        if (found == runtime.arrays.end()) return cudaErrorInvalidResourceHandle;
        const Array& array = *found->second;
        set_format(texture, array.format);
        texture.address = array.address;
        texture.width = uint32_t(array.extent.width);
        texture.height = uint32_t(array.extent.height);
        bool layered = array.flags & (cudaArrayLayered | cudaArrayCubemap);
        (layered ? texture.layers : texture.depth) = uint32_t(array.extent.depth);
        texture.row_bytes = array.row_bytes;
        texture.slice_bytes = array.slice_bytes;
        return cudaSuccess;
    }
    texture.block_linear = false;
    if (resource.resType == cudaResourceTypeLinear) {
        const auto& linear = resource.res.linear;
        if (!set_format(texture, linear.desc)) return cudaErrorInvalidChannelDescriptor;
        texture.address = reinterpret_cast<uint64_t>(linear.devPtr);
        texture.width = uint32_t(std::min<size_t>(UINT32_MAX, linear.sizeInBytes / (bits(linear.desc) / 8)));
        texture.row_bytes = linear.sizeInBytes;
        texture.linear_memory = true;
        return context.memory().host(texture.address, linear.sizeInBytes) ? cudaSuccess : cudaErrorInvalidValue;
    }
    if (resource.resType == cudaResourceTypePitch2D) {
        const auto& pitch = resource.res.pitch2D;
        if (!set_format(texture, pitch.desc)) return cudaErrorInvalidChannelDescriptor;
        texture.address = reinterpret_cast<uint64_t>(pitch.devPtr);
        texture.width = uint32_t(pitch.width);
        texture.height = uint32_t(pitch.height);
        texture.row_bytes = pitch.pitchInBytes;
        size_t row = pitch.width * (bits(pitch.desc) / 8);
        if (!pitch.height || row > pitch.pitchInBytes) return cudaErrorInvalidValue;
        return context.memory().host(texture.address, pitch.pitchInBytes * (pitch.height - 1) + row) ? cudaSuccess : cudaErrorInvalidValue;
    }
    return cudaErrorNotSupported;   // mipmapped arrays
}

}  // namespace

LANESCOPE_API cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) { return {x, y, z, w, kind}; }

LANESCOPE_API cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, size_t width, size_t height, unsigned flags) {
    return call([&](Runtime& runtime, Context& context) {
        return array && format ? make_array(runtime, context, array, *format, {width, height, 0}, flags) : cudaErrorInvalidValue;
    });
}
LANESCOPE_API cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format, cudaExtent extent, unsigned flags) {
    return call([&](Runtime& runtime, Context& context) {
        return array && format ? make_array(runtime, context, array, *format, extent, flags) : cudaErrorInvalidValue;
    });
}
LANESCOPE_API cudaError_t cudaFreeArray(cudaArray_t array) {
    return call([&](Runtime& runtime, Context& context) { return array ? free_array(runtime, context, array) : cudaSuccess; });
}
LANESCOPE_API cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags, cudaArray_t array) {
    return call([&](Runtime& runtime, Context&) {
        auto found = runtime.arrays.find(array);
        if (found == runtime.arrays.end()) return cudaErrorInvalidResourceHandle;
        if (format) *format = found->second->format;
        if (extent) *extent = found->second->extent;
        if (flags) *flags = found->second->flags;
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array) {
    return cudaArrayGetInfo(format, nullptr, nullptr, const_cast<cudaArray_t>(array));
}

LANESCOPE_API cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* resource, const cudaTextureDesc* how, const cudaResourceViewDesc* view) {
    return call([&](Runtime& runtime, Context& context) {
        if (!object || !resource || !how) return cudaErrorInvalidValue;
        if (view) return cudaErrorNotSupported;
        exec::Texture texture;
        if (cudaError_t error = bind(runtime, context, *resource, texture)) return error;
        bool integer = texture.format != exec::TexelFormat::kFloat, normalized = how->readMode == cudaReadModeNormalizedFloat;
        if (normalized && integer && texture.channel_bits == 32) return cudaErrorInvalidNormSetting;
        if (how->filterMode == cudaFilterModeLinear && integer && !normalized) return cudaErrorInvalidFilterSetting;
        for (size_t i = 0; i < 3; ++i) texture.address_modes[i] = exec::AddressMode(how->addressMode[i]);
        texture.filter = how->filterMode == cudaFilterModeLinear ? exec::Filter::kLinear : exec::Filter::kPoint;
        texture.normalized_coordinates = how->normalizedCoords;
        texture.normalized_values = normalized && integer;
        texture.srgb = how->sRGB;
        std::copy_n(how->borderColor, 4, texture.border.begin());
        *object = runtime.next_object++;
        runtime.textures[*object] = {*resource, *how, std::nullopt};
        context.textures()[*object] = texture;
        return cudaSuccess;
    });
}

LANESCOPE_API cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object, const cudaResourceDesc* resource) {
    return call([&](Runtime& runtime, Context& context) {
        if (!object || !resource || resource->resType != cudaResourceTypeArray) return cudaErrorInvalidValue;
        exec::Texture surface;
        if (cudaError_t error = bind(runtime, context, *resource, surface)) return error;
        *object = runtime.next_object++;
        runtime.textures[*object] = {*resource, {}, std::nullopt};
        context.textures()[*object] = surface;
        return cudaSuccess;
    });
}

LANESCOPE_API cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
    return call([&](Runtime& runtime, Context& context) {
        runtime.textures.erase(object);
        context.textures().erase(object);
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) { return cudaDestroyTextureObject(object); }

LANESCOPE_API cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* out, cudaTextureObject_t object) {
    return call([&](Runtime& runtime, Context&) {
        auto found = runtime.textures.find(object);
        if (!out || found == runtime.textures.end()) return cudaErrorInvalidValue;
        *out = found->second.resource;
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* out, cudaSurfaceObject_t object) { return cudaGetTextureObjectResourceDesc(out, object); }
LANESCOPE_API cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* out, cudaTextureObject_t object) {
    return call([&](Runtime& runtime, Context&) {
        auto found = runtime.textures.find(object);
        if (!out || found == runtime.textures.end()) return cudaErrorInvalidValue;
        *out = found->second.texture;
        return cudaSuccess;
    });
}
