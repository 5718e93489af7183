// Arrays, copies of rectangles to and from them, texture objects: translated to the runtime's descriptions.
#include <algorithm>

#include "cudart/driver/driver.h"

using namespace lanescope::driver;

namespace {

cudaArray_t array_of(CUarray array) { return reinterpret_cast<cudaArray_t>(array); }

/// bits = 0: the format is none of the plain ones.
cudaChannelFormatDesc channels_of(CUarray_format format, unsigned channels) {
    int bits = 0;
    cudaChannelFormatKind kind = cudaChannelFormatKindUnsigned;
    switch (format) {
        case CU_AD_FORMAT_UNSIGNED_INT8: bits = 8; break;
        case CU_AD_FORMAT_UNSIGNED_INT16: bits = 16; break;
        case CU_AD_FORMAT_UNSIGNED_INT32: bits = 32; break;
        case CU_AD_FORMAT_SIGNED_INT8: bits = 8, kind = cudaChannelFormatKindSigned; break;
        case CU_AD_FORMAT_SIGNED_INT16: bits = 16, kind = cudaChannelFormatKindSigned; break;
        case CU_AD_FORMAT_SIGNED_INT32: bits = 32, kind = cudaChannelFormatKindSigned; break;
        case CU_AD_FORMAT_HALF: bits = 16, kind = cudaChannelFormatKindFloat; break;
        case CU_AD_FORMAT_FLOAT: bits = 32, kind = cudaChannelFormatKindFloat; break;
        default: break;
    }
    const auto of = [&](unsigned channel) { return channels > channel ? bits : 0; };
    return {of(0), of(1), of(2), of(3), kind};
}

CUresult make_array(CUarray* array, CUarray_format format, unsigned channels, cudaExtent extent, unsigned flags) {
    const cudaChannelFormatDesc description = channels_of(format, channels);
    if (!array || extent.width == 0 || (channels != 1 && channels != 2 && channels != 4)) return CUDA_ERROR_INVALID_VALUE;
    if (description.x == 0) return CUDA_ERROR_NOT_SUPPORTED;
    return result(RUNTIME(cudaMalloc3DArray)(
        reinterpret_cast<cudaArray_t*>(array), &description, extent, flags));
}

struct Side {
    CUmemorytype type;
    const void* host;
    CUdeviceptr device;
    CUarray array;
    size_t pitch, x, y;
    bool in_array() const { return type == CU_MEMORYTYPE_ARRAY; }
    size_t row(size_t width) const { return pitch ? pitch : width; }
    char* at(size_t width) const {
        char* base = type == CU_MEMORYTYPE_HOST ? static_cast<char*>(const_cast<void*>(host)) : static_cast<char*>(pointer(device));
        return base + y * row(width) + x;
    }
};

CUresult copy_2d(const CUDA_MEMCPY2D* copy, CUstream stream) {
    if (!copy) return CUDA_ERROR_INVALID_VALUE;
    const Side from{copy->srcMemoryType, copy->srcHost, copy->srcDevice, copy->srcArray, copy->srcPitch, copy->srcXInBytes, copy->srcY};
    const Side to{copy->dstMemoryType, copy->dstHost, copy->dstDevice, copy->dstArray, copy->dstPitch, copy->dstXInBytes, copy->dstY};
    const size_t width = copy->WidthInBytes, height = copy->Height;
    if (from.in_array() && to.in_array())
        return result(RUNTIME(cudaMemcpy2DArrayToArray)(array_of(to.array), to.x, to.y, array_of(from.array), from.x, from.y, width, height, cudaMemcpyDeviceToDevice));
    if (to.in_array())
        return result(RUNTIME(cudaMemcpy2DToArrayAsync)(array_of(to.array), to.x, to.y, from.at(width), from.row(width), width, height, cudaMemcpyDefault, stream));
    if (from.in_array())
        return result(RUNTIME(cudaMemcpy2DFromArrayAsync)(to.at(width), to.row(width), array_of(from.array), from.x, from.y, width, height, cudaMemcpyDefault, stream));
    return result(RUNTIME(cudaMemcpy2DAsync)(to.at(width), to.row(width), from.at(width), from.row(width), width, height, cudaMemcpyDefault, stream));
}

CUresult copy_3d(const CUDA_MEMCPY3D* copy, CUstream stream, bool wait) {
    if (!copy) return CUDA_ERROR_INVALID_VALUE;
    cudaMemcpy3DParms same{};
    size_t element = 0;                           // arrays: positions and widths count their elements, not bytes
    const auto side = [&](CUmemorytype type, const void* host, CUdeviceptr device, CUarray array, size_t pitch, size_t height, cudaArray_t& out,
                          cudaPitchedPtr& memory) {
        if (type == CU_MEMORYTYPE_ARRAY) {
            out = array_of(array);
            cudaChannelFormatDesc channels{};
            if (const CUresult status = result(RUNTIME(cudaGetChannelDesc)(&channels, out))) return status;
            element = size_t(channels.x + channels.y + channels.z + channels.w) / 8;
            return CUDA_SUCCESS;
        }
        memory.ptr = type == CU_MEMORYTYPE_HOST ? const_cast<void*>(host) : pointer(device);
        memory.pitch = pitch ? pitch : copy->WidthInBytes;
        memory.xsize = copy->WidthInBytes;
        memory.ysize = height ? height : copy->Height;
        return CUDA_SUCCESS;
    };
    if (const CUresult status = side(copy->srcMemoryType, copy->srcHost, copy->srcDevice, copy->srcArray, copy->srcPitch, copy->srcHeight, same.srcArray, same.srcPtr)) return status;
    if (const CUresult status = side(copy->dstMemoryType, copy->dstHost, copy->dstDevice, copy->dstArray, copy->dstPitch, copy->dstHeight, same.dstArray, same.dstPtr)) return status;
    const auto at = [&](cudaArray_t array, size_t x) { return array ? x / element : x; };
    same.srcPos = {at(same.srcArray, copy->srcXInBytes), copy->srcY, copy->srcZ};
    same.dstPos = {at(same.dstArray, copy->dstXInBytes), copy->dstY, copy->dstZ};
    same.extent = {element ? copy->WidthInBytes / element : copy->WidthInBytes, copy->Height, copy->Depth};
    same.kind = cudaMemcpyDefault;
    return result(wait ? RUNTIME(cudaMemcpy3D)(&same) : RUNTIME(cudaMemcpy3DAsync)(&same, stream));
}

/// A row of an array's bytes to or from memory of either side.
CUresult copy_row(CUarray to_array, size_t to_x, void* to, CUarray from_array, size_t from_x, const void* from, size_t bytes, CUstream stream, bool wait) {
    CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = from_array ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED;
    copy.srcArray = from_array;
    copy.srcXInBytes = from_x;
    copy.srcDevice = reinterpret_cast<CUdeviceptr>(from);
    copy.dstMemoryType = to_array ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED;
    copy.dstArray = to_array;
    copy.dstXInBytes = to_x;
    copy.dstDevice = reinterpret_cast<CUdeviceptr>(to);
    copy.WidthInBytes = bytes;
    copy.Height = 1;
    const CUresult status = copy_2d(&copy, stream);
    return status == CUDA_SUCCESS && wait ? result(RUNTIME(cudaStreamSynchronize)(stream)) : status;
}

CUarray_format format_of(const cudaChannelFormatDesc& channels) {
    const bool is_signed = channels.f == cudaChannelFormatKindSigned;
    if (channels.f == cudaChannelFormatKindFloat) return channels.x == 16 ? CU_AD_FORMAT_HALF : CU_AD_FORMAT_FLOAT;
    if (channels.x == 8) return is_signed ? CU_AD_FORMAT_SIGNED_INT8 : CU_AD_FORMAT_UNSIGNED_INT8;
    if (channels.x == 16) return is_signed ? CU_AD_FORMAT_SIGNED_INT16 : CU_AD_FORMAT_UNSIGNED_INT16;
    return is_signed ? CU_AD_FORMAT_SIGNED_INT32 : CU_AD_FORMAT_UNSIGNED_INT32;
}

CUresult copy_2d_and_wait(const CUDA_MEMCPY2D* copy) {
    const CUresult status = copy_2d(copy, nullptr);
    return status == CUDA_SUCCESS ? result(RUNTIME(cudaStreamSynchronize)(nullptr)) : status;
}

}  // namespace

LANESCOPE_DRIVER_API CUresult cuArrayCreate(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* d) {
    return d ? make_array(array, d->Format, d->NumChannels, {d->Width, d->Height, 0}, 0) : CUDA_ERROR_INVALID_VALUE;
}

/// The flags have the runtime's numbers.
LANESCOPE_DRIVER_API CUresult cuArray3DCreate(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* d) {
    return d ? make_array(array, d->Format, d->NumChannels, {d->Width, d->Height, d->Depth}, d->Flags) : CUDA_ERROR_INVALID_VALUE;
}

LANESCOPE_DRIVER_API CUresult cuArrayDestroy(CUarray array) { return result(RUNTIME(cudaFreeArray)(array_of(array))); }

LANESCOPE_DRIVER_API CUresult cuMemcpy2D(const CUDA_MEMCPY2D* copy) { return copy_2d_and_wait(copy); }
LANESCOPE_DRIVER_API CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D* copy) { return copy_2d_and_wait(copy); }
LANESCOPE_DRIVER_API CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* copy, CUstream stream) { return copy_2d(copy, stream); }

LANESCOPE_DRIVER_API CUresult cuMemcpy3D(const CUDA_MEMCPY3D* copy) { return copy_3d(copy, nullptr, true); }
LANESCOPE_DRIVER_API CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D* copy, CUstream stream) { return copy_3d(copy, stream, false); }
LANESCOPE_DRIVER_API CUresult cuMemcpyHtoA(CUarray to, size_t x, const void* from, size_t bytes) { return copy_row(to, x, nullptr, nullptr, 0, from, bytes, nullptr, true); }
LANESCOPE_DRIVER_API CUresult cuMemcpyHtoAAsync(CUarray to, size_t x, const void* from, size_t bytes, CUstream stream) {
    return copy_row(to, x, nullptr, nullptr, 0, from, bytes, stream, false);
}
LANESCOPE_DRIVER_API CUresult cuMemcpyAtoH(void* to, CUarray from, size_t x, size_t bytes) { return copy_row(nullptr, 0, to, from, x, nullptr, bytes, nullptr, true); }
LANESCOPE_DRIVER_API CUresult cuMemcpyAtoHAsync(void* to, CUarray from, size_t x, size_t bytes, CUstream stream) {
    return copy_row(nullptr, 0, to, from, x, nullptr, bytes, stream, false);
}
LANESCOPE_DRIVER_API CUresult cuMemcpyDtoA(CUarray to, size_t x, CUdeviceptr from, size_t bytes) { return cuMemcpyHtoA(to, x, pointer(from), bytes); }
LANESCOPE_DRIVER_API CUresult cuMemcpyAtoD(CUdeviceptr to, CUarray from, size_t x, size_t bytes) { return cuMemcpyAtoH(pointer(to), from, x, bytes); }
LANESCOPE_DRIVER_API CUresult cuMemcpyAtoA(CUarray to, size_t to_x, CUarray from, size_t from_x, size_t bytes) {
    return copy_row(to, to_x, nullptr, from, from_x, nullptr, bytes, nullptr, true);
}

LANESCOPE_DRIVER_API CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR* out, CUarray array) {
    cudaChannelFormatDesc channels{};
    cudaExtent extent{};
    unsigned flags = 0;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult status = result(RUNTIME(cudaArrayGetInfo)(&channels, &extent, &flags, array_of(array)))) return status;
    const unsigned count = 1u + (channels.y != 0) + (channels.z != 0) + (channels.w != 0);
    *out = {extent.width, extent.height, extent.depth, format_of(channels), count, flags};
    return CUDA_SUCCESS;
}
LANESCOPE_DRIVER_API CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR* out, CUarray array) {
    CUDA_ARRAY3D_DESCRIPTOR all{};
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult status = cuArray3DGetDescriptor(&all, array)) return status;
    *out = {all.Width, all.Height, all.Format, all.NumChannels};
    return CUDA_SUCCESS;
}

LANESCOPE_DRIVER_API CUresult cuSurfObjectCreate(CUsurfObject* object, const CUDA_RESOURCE_DESC* what) {
    if (!object || !what || what->resType != CU_RESOURCE_TYPE_ARRAY) return CUDA_ERROR_INVALID_VALUE;
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array_of(what->res.array.hArray);
    return result(RUNTIME(cudaCreateSurfaceObject)(object, &resource));
}
LANESCOPE_DRIVER_API CUresult cuSurfObjectDestroy(CUsurfObject object) { return result(RUNTIME(cudaDestroySurfaceObject)(object)); }

LANESCOPE_DRIVER_API CUresult cuTexObjectCreate(CUtexObject* object, const CUDA_RESOURCE_DESC* what, const CUDA_TEXTURE_DESC* how, const CUDA_RESOURCE_VIEW_DESC* view) {
    if (!object || !what || !how) return CUDA_ERROR_INVALID_VALUE;
    if (view) return CUDA_ERROR_NOT_SUPPORTED;
    cudaResourceDesc resource{};
    cudaChannelFormatDesc channels{};
    switch (what->resType) {
        case CU_RESOURCE_TYPE_ARRAY:
            resource.resType = cudaResourceTypeArray;
            resource.res.array.array = array_of(what->res.array.hArray);
            if (const CUresult status = result(RUNTIME(cudaGetChannelDesc)(&channels, resource.res.array.array))) return status;
            break;
        case CU_RESOURCE_TYPE_LINEAR:
            resource.resType = cudaResourceTypeLinear;
            channels = channels_of(what->res.linear.format, what->res.linear.numChannels);
            resource.res.linear.devPtr = pointer(what->res.linear.devPtr);
            resource.res.linear.desc = channels;
            resource.res.linear.sizeInBytes = what->res.linear.sizeInBytes;
            break;
        case CU_RESOURCE_TYPE_PITCH2D:
            resource.resType = cudaResourceTypePitch2D;
            channels = channels_of(what->res.pitch2D.format, what->res.pitch2D.numChannels);
            resource.res.pitch2D.devPtr = pointer(what->res.pitch2D.devPtr);
            resource.res.pitch2D.desc = channels;
            resource.res.pitch2D.width = what->res.pitch2D.width;
            resource.res.pitch2D.height = what->res.pitch2D.height;
            resource.res.pitch2D.pitchInBytes = what->res.pitch2D.pitchInBytes;
            break;
        default: return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (channels.x == 0) return CUDA_ERROR_NOT_SUPPORTED;
    cudaTextureDesc texture{};   // address and filter modes have the runtime's numbers
    for (int d = 0; d < 3; ++d) texture.addressMode[d] = cudaTextureAddressMode(how->addressMode[d]);
    texture.filterMode = cudaTextureFilterMode(how->filterMode);
    const bool as_is = channels.f == cudaChannelFormatKindFloat || (how->flags & CU_TRSF_READ_AS_INTEGER) != 0 || channels.x == 32;
    texture.readMode = as_is ? cudaReadModeElementType : cudaReadModeNormalizedFloat;
    texture.normalizedCoords = (how->flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
    texture.sRGB = (how->flags & CU_TRSF_SRGB) != 0;
    texture.maxAnisotropy = how->maxAnisotropy;
    std::copy_n(how->borderColor, 4, texture.borderColor);
    return result(RUNTIME(cudaCreateTextureObject)(object, &resource, &texture, nullptr));
}
LANESCOPE_DRIVER_API CUresult cuTexObjectDestroy(CUtexObject object) { return result(RUNTIME(cudaDestroyTextureObject)(object)); }
