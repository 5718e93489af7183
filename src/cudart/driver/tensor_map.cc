// Tensor maps: what cp.async.bulk.tensor copies boxes of.
#include "exec/tensor_map.h"

#include <cstdio>
#include <cstring>

#include "cudart/driver/driver.h"

using lanescope::exec::TensorMap;

namespace {

unsigned bytes_of(CUtensorMapDataType type) {
    switch (type) {
        case CU_TENSOR_MAP_DATA_TYPE_UINT8: return 1;
        case CU_TENSOR_MAP_DATA_TYPE_UINT16:
        case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
        case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16: return 2;
        case CU_TENSOR_MAP_DATA_TYPE_UINT32:
        case CU_TENSOR_MAP_DATA_TYPE_INT32:
        case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
        case CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ:
        case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32:
        case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ: return 4;
        case CU_TENSOR_MAP_DATA_TYPE_UINT64:
        case CU_TENSOR_MAP_DATA_TYPE_INT64:
        case CU_TENSOR_MAP_DATA_TYPE_FLOAT64: return 8;
        default: return 0;                        // packed types of less than a byte
    }
}

bool is_float(CUtensorMapDataType type) { return type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16 && type <= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ; }

CUresult unsupported(const char* what) {
    std::fprintf(stderr, "lanescope: cuTensorMapEncodeTiled: %s is not supported on the emulated GPU\n", what);
    return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace

/// The rules are the driver's: 16-byte address, strides of 16 bytes, boxes of 1 … 256 elements whose rows are of 16 bytes and fit the swizzle.
LANESCOPE_DRIVER_API CUresult cuTensorMapEncodeTiled(CUtensorMap* out, CUtensorMapDataType type, cuuint32_t rank, void* address, const cuuint64_t* sizes,
                                                     const cuuint64_t* strides, const cuuint32_t* box, const cuuint32_t* steps, CUtensorMapInterleave interleave,
                                                     CUtensorMapSwizzle swizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill fill) {
    if (!out || !sizes || !box || !steps || !strides || rank < 1 || rank > TensorMap::kMaxRank) return CUDA_ERROR_INVALID_VALUE;
    if (interleave != CU_TENSOR_MAP_INTERLEAVE_NONE) return unsupported("interleaving");
    if (swizzle > CU_TENSOR_MAP_SWIZZLE_128B) return unsupported("this swizzle");
    TensorMap map;
    map.element_bytes = uint8_t(bytes_of(type));
    if (map.element_bytes == 0) return unsupported("a type of less than a byte");
    map.address = reinterpret_cast<uint64_t>(address);
    map.rank = uint8_t(rank);
    map.swizzle_bits = uint8_t(swizzle);          // none, 32, 64, 128 bytes
    map.fill_nan = fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
    bool valid = map.address % 16 == 0 && (!map.fill_nan || is_float(type));
    for (unsigned d = 0; d < rank; ++d) {
        valid &= sizes[d] >= 1 && sizes[d] <= uint64_t(1) << 32 && box[d] >= 1 && box[d] <= 256 && steps[d] >= 1 && steps[d] <= 8;
        map.last[d] = uint32_t(sizes[d] - 1);
        map.box[d] = uint16_t(box[d]);
        map.steps[d] = d == 0 ? uint8_t(1) : uint8_t(steps[d]);   // ignored for the innermost dimension
        if (d == 0) continue;
        valid &= strides[d - 1] % 16 == 0 && strides[d - 1] < uint64_t(1) << 40;
        map.strides[d - 1] = strides[d - 1];
    }
    if (!valid) return CUDA_ERROR_INVALID_VALUE;
    const unsigned row = unsigned(map.box[0]) * map.element_bytes;
    if (row % 16 != 0 || (map.swizzle_bits != 0 && row > 16u << map.swizzle_bits)) return CUDA_ERROR_INVALID_VALUE;
    std::memset(out, 0, sizeof *out);
    std::memcpy(out, &map, sizeof map);
    return CUDA_SUCCESS;
}

LANESCOPE_DRIVER_API CUresult cuTensorMapReplaceAddress(CUtensorMap* out, void* address) {
    TensorMap map;
    if (!out || reinterpret_cast<uint64_t>(address) % 16 != 0) return CUDA_ERROR_INVALID_VALUE;
    std::memcpy(static_cast<void*>(&map), out, sizeof map);
    if (map.magic != TensorMap::kMagic) return CUDA_ERROR_INVALID_VALUE;
    map.address = reinterpret_cast<uint64_t>(address);
    std::memcpy(out, &map, sizeof map);
    return CUDA_SUCCESS;
}
