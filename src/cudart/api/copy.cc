// Copies and fills in all forms. Each is one rectangle of rows and slices.
#include "cudart/api/copy.h"
#include "cudart/api/graph.h"

#include <algorithm>
#include <cstring>

using namespace lanescope::cudart;
using lanescope::emulator::Context;
using lanescope::emulator::Direction;
using lanescope::exec::Allocation;
using lanescope::exec::Region;

namespace lanescope::cudart {
namespace {

uint64_t address_of(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

/// Bytes from the first to the last byte of a rectangle; 0 for an empty one or where it exceeds the address space.
uint64_t reach(const Side& side, size_t width, size_t height, size_t depth) {
    if (!width || !height || !depth) return 0;
    unsigned __int128 bytes = (unsigned __int128)(side.slice_bytes) * (depth - 1) + (unsigned __int128)(side.row_bytes) * (height - 1) + width;
    return bytes > UINT64_MAX ? 0 : uint64_t(bytes);
}

Array* array_of(Runtime& runtime, cudaArray_const_t handle) {
    auto found = runtime.arrays.find(const_cast<cudaArray_t>(handle));
    return found == runtime.arrays.end() ? nullptr : found->second.get();
}

enum class Where : uint8_t { kDevice, kManaged, kPinned, kPageable };

struct Place {
    Where where = Where::kPageable;
    std::byte* host = nullptr;       ///< where the bytes are for us
    const Allocation* allocation = nullptr;
    bool device() const { return where == Where::kDevice || where == Where::kManaged; }
};

/// Where a side lies; false: not in one allocation, or device memory that is none.
bool locate(Context& context, const Side& side, uint64_t bytes, Place& place) {
    place.allocation = context.memory().find(side.address);
    if (!place.allocation) {
        place.host = reinterpret_cast<std::byte*>(side.address);
        return side.address != 0 && !context.memory().in_device_arena(side.address);
    }
    if (bytes > place.allocation->end() - side.address) return false;
    place.where = place.allocation->region == Region::kDevice ? Where::kDevice : place.allocation->region == Region::kManaged ? Where::kManaged : Where::kPinned;
    place.host = context.memory().host(side.address, bytes);
    return place.host != nullptr;
}

const char* memory_name(const Runtime& runtime, const Place& host_side, bool array) {
    switch (host_side.where) {
        case Where::kPageable: return "pageable";
        case Where::kPinned: {
            const auto flags = runtime.host_flags.find(host_side.allocation->begin);
            if (flags == runtime.host_flags.end()) return "pinned";
            return flags->second & cudaHostAllocWriteCombined ? "write_combined" : flags->second & cudaHostAllocMapped ? "mapped" : "pinned";
        }
        case Where::kManaged: return "managed";
        case Where::kDevice: return array ? "array" : "device";
    }
    return "";
}

}  // namespace

cudaError_t copy(Runtime& runtime, Context& context, const CopyCall& call, cudaStream_t stream, bool async) {
    const auto& [to, from, width, height, depth, kind] = call;
    emulator::Stream id;
    if (!resolve(runtime, stream, id)) return cudaErrorInvalidResourceHandle;
    if (runtime.captures)
        if (const std::optional<cudaError_t> done = captured(runtime, stream, call)) return *done;
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
    if (!width || !height || !depth) return cudaSuccess;
    uint64_t to_bytes = reach(to, width, height, depth), from_bytes = reach(from, width, height, depth);
    Place target, source;
    if (!to_bytes || !from_bytes || !locate(context, to, to_bytes, target) || !locate(context, from, from_bytes, source)) return cudaErrorInvalidValue;
    // A side that must be device memory may be mapped or managed too; a side that must be host memory must not be the device's own.
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice, from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (kind != cudaMemcpyDefault) {
        if ((to_device && target.where == Where::kPageable) || (from_device && source.where == Where::kPageable)) return cudaErrorInvalidValue;
        if ((!to_device && target.where == Where::kDevice) || (!from_device && source.where == Where::kDevice)) return cudaErrorInvalidValue;
    }

    // Neither side's rows overlap in a program that is right; memmove keeps even the others defined.
    for (size_t z = 0; z < depth; ++z) {
        std::byte* out = target.host + z * to.slice_bytes;
        const std::byte* in = source.host + z * from.slice_bytes;
        if (to.row_bytes == width && from.row_bytes == width) {
            std::memmove(out, in, width * height);
            continue;
        }
        for (size_t y = 0; y < height; ++y) std::memmove(out + y * to.row_bytes, in + y * from.row_bytes, width);
    }

    bool into = kind == cudaMemcpyDefault ? target.device() : to_device, outof = kind == cudaMemcpyDefault ? source.device() : from_device;
    Direction direction = into && outof ? Direction::kDeviceToDevice
        : into                          ? Direction::kHostToDevice
        : outof                         ? Direction::kDeviceToHost
                                        : Direction::kHostToHost;
    const Place& host_side = into && !outof ? source : target;
    context.transfer(direction, memory_name(runtime, host_side, to.array || from.array), target.device() ? to.address : 0,
                     source.device() ? from.address : 0, uint64_t(width) * height * depth, id);
    const auto dense = [&](uint64_t bytes) { return bytes == uint64_t(width) * height * depth; };
    if (source.allocation) context.touched(from.address, from_bytes, false, dense(from_bytes), id);
    if (target.allocation) context.touched(to.address, to_bytes, true, dense(to_bytes), id);
    // Asynchronous copies of pageable memory wait as well; copies inside the device never do.
    bool waits = direction != Direction::kDeviceToDevice && (!async || target.where == Where::kPageable || source.where == Where::kPageable);
    if (waits) context.timeline().host_waits(context.timeline().moment(id));
    return cudaSuccess;
}

Side inside(const Array& array, size_t x_bytes, size_t y, size_t z, size_t width, size_t height, size_t depth, bool& fits) {
    auto within = [](size_t begin, size_t count, size_t limit) { return begin <= limit && count <= limit - begin; };
    fits = within(x_bytes, width, array.extent.width * array.element_bytes) && within(y, height, array.rows()) && within(z, depth, array.slices());
    return {array.address + z * array.slice_bytes + y * array.row_bytes + x_bytes, array.row_bytes, array.slice_bytes, true};
}

cudaError_t symbol_address(Runtime& runtime, const void* symbol, size_t offset, size_t bytes, uint64_t& address) {
    Variable* variable = runtime.variable(symbol);
    if (!variable) return cudaErrorInvalidSymbol;
    if (cudaError_t error = runtime.load(*variable->binary)) return error;
    std::optional<exec::Program::Symbol> place = variable->binary->module->program().symbol(variable->name);
    if (!place) return cudaErrorInvalidSymbol;
    if (offset > place->bytes || bytes > place->bytes - offset) return cudaErrorInvalidValue;
    address = place->address + offset;
    return cudaSuccess;
}

CopyCall contiguous(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    return {{address_of(to), bytes, bytes}, {address_of(from), bytes, bytes}, bytes, 1, 1, kind};
}

cudaError_t describe(Runtime& runtime, const void* symbol, void* host, size_t bytes, size_t offset, cudaMemcpyKind kind, bool to_symbol, CopyCall& call) {
    uint64_t address = 0;
    if (cudaError_t error = symbol_address(runtime, symbol, offset, bytes, address)) return error;
    void* variable = reinterpret_cast<void*>(address);
    call = to_symbol ? contiguous(variable, host, bytes, kind) : contiguous(host, variable, bytes, kind);
    return cudaSuccess;
}

cudaError_t describe(Runtime& runtime, const cudaMemcpy3DParms* p, CopyCall& call) {
    if (!p || (p->srcArray && p->srcPtr.ptr) || (p->dstArray && p->dstPtr.ptr)) return cudaErrorInvalidValue;
    Array *from_array = p->srcArray ? array_of(runtime, p->srcArray) : nullptr, *to_array = p->dstArray ? array_of(runtime, p->dstArray) : nullptr;
    if ((p->srcArray && !from_array) || (p->dstArray && !to_array)) return cudaErrorInvalidResourceHandle;
    // Extents and positions count elements where an array takes part, else bytes.
    size_t unit = from_array ? from_array->element_bytes : to_array ? to_array->element_bytes : 1;
    size_t width = p->extent.width * unit, height = p->extent.height, depth = p->extent.depth;
    auto side = [&](Array* array, const cudaPitchedPtr& pointer, const cudaPos& at, Side& out) {
        bool fits = true;
        if (array) {
            out = inside(*array, at.x * array->element_bytes, at.y, at.z, width, height, depth, fits);
        } else {
            fits = width <= pointer.pitch || height * depth <= 1;
            out = {address_of(pointer.ptr) + at.z * pointer.pitch * pointer.ysize + at.y * pointer.pitch + at.x, pointer.pitch, pointer.pitch * pointer.ysize};
        }
        return fits;
    };
    call = {{}, {}, width, height, depth, p->kind};
    return side(to_array, p->dstPtr, p->dstPos, call.to) && side(from_array, p->srcPtr, p->srcPos, call.from) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t fill(Runtime& runtime, Context& context, const FillCall& call, cudaStream_t stream, bool async) {
    emulator::Stream id;
    if (!resolve(runtime, stream, id)) return cudaErrorInvalidResourceHandle;
    if (runtime.captures)
        if (const std::optional<cudaError_t> done = captured(runtime, stream, call)) return *done;
    if (!call.width || !call.height || !call.depth) return cudaSuccess;
    if (call.element_bytes != 1 && call.element_bytes != 2 && call.element_bytes != 4) return cudaErrorInvalidValue;
    const size_t width = call.width * call.element_bytes;
    if (call.height > 1 && width > call.pitch) return cudaErrorInvalidValue;
    const uint64_t begin = address_of(call.pointer), bytes = reach({begin, call.pitch, call.slice}, width, call.height, call.depth);
    const Allocation* allocation = context.memory().find(begin);
    if (!bytes || !allocation || bytes > allocation->end() - begin || begin % call.element_bytes) return cudaErrorInvalidValue;
    const unsigned value = call.element_bytes == 1 ? call.value & 0xff : call.value;
    for (size_t z = 0; z < call.depth; ++z)
        for (size_t y = 0; y < call.height; ++y) context.memory().fill(begin + z * call.slice + y * call.pitch, value, call.element_bytes, call.width);
    const bool on_device = allocation->region == Region::kDevice || allocation->region == Region::kManaged;
    context.transfer(Direction::kMemset, on_device ? "device" : "pinned", on_device ? begin : 0, 0, uint64_t(width) * call.height * call.depth, id);
    context.touched(begin, bytes, true, bytes == uint64_t(width) * call.height * call.depth, id);
    if (!async && !on_device) context.timeline().host_waits(context.timeline().moment(id));   // memset of device memory does not wait
    return cudaSuccess;
}

}  // namespace lanescope::cudart

namespace {

cudaError_t copy_1d(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream, bool async) {
    return call([&](Runtime& runtime, Context& context) {
        return copy(runtime, context, contiguous(to, from, bytes, kind), stream, async);
    });
}

cudaError_t copy_2d(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream,
                    bool async) {
    return call([&](Runtime& runtime, Context& context) {
        if (width > to_pitch || width > from_pitch) return cudaErrorInvalidPitchValue;
        return copy(runtime, context, {{address_of(to), to_pitch, 0}, {address_of(from), from_pitch, 0}, width, height, 1, kind}, stream, async);
    });
}

cudaError_t copy_2d_to_array(cudaArray_t array, size_t x, size_t y, const void* from, size_t pitch, size_t width, size_t height, cudaMemcpyKind kind,
                             cudaStream_t stream, bool async) {
    return call([&](Runtime& runtime, Context& context) {
        Array* known = array_of(runtime, array);
        bool fits = false;
        if (!known) return cudaErrorInvalidResourceHandle;
        Side to = inside(*known, x, y, 0, width, height, 1, fits);
        if (!fits || (height > 1 && width > pitch)) return cudaErrorInvalidValue;
        return copy(runtime, context, {to, {address_of(from), pitch, 0}, width, height, 1, kind}, stream, async);
    });
}

cudaError_t copy_2d_from_array(void* to, size_t pitch, cudaArray_const_t array, size_t x, size_t y, size_t width, size_t height, cudaMemcpyKind kind,
                               cudaStream_t stream, bool async) {
    return call([&](Runtime& runtime, Context& context) {
        Array* known = array_of(runtime, array);
        bool fits = false;
        if (!known) return cudaErrorInvalidResourceHandle;
        Side from = inside(*known, x, y, 0, width, height, 1, fits);
        if (!fits || (height > 1 && width > pitch)) return cudaErrorInvalidValue;
        return copy(runtime, context, {{address_of(to), pitch, 0}, from, width, height, 1, kind}, stream, async);
    });
}

/// The old one-dimensional array copies count bytes that may run over row ends: done row by row.
template <class Copy>
cudaError_t along_rows(cudaArray_const_t array, size_t x, size_t y, size_t bytes, Copy&& row) {
    size_t width = 0;
    cudaError_t error = call([&](Runtime& runtime, Context&) {
        Array* known = array_of(runtime, array);
        if (!known) return cudaErrorInvalidResourceHandle;
        width = known->extent.width * known->element_bytes;
        return x < width || bytes == 0 ? cudaSuccess : cudaErrorInvalidValue;
    });
    for (size_t done = 0; !error && done < bytes; ++y, x = 0) {
        size_t part = std::min(bytes - done, width - x);
        error = row(x, y, done, part);
        done += part;
    }
    return error;
}

cudaError_t copy_symbol(const void* symbol, void* host, size_t bytes, size_t offset, cudaMemcpyKind kind, cudaStream_t stream, bool to_symbol, bool async) {
    return call([&](Runtime& runtime, Context& context) {
        CopyCall wanted;
        if (cudaError_t error = describe(runtime, symbol, host, bytes, offset, kind, to_symbol, wanted)) return error;
        return copy(runtime, context, wanted, stream, async);
    });
}

cudaError_t copy_3d(const cudaMemcpy3DParms* p, cudaStream_t stream, bool async) {
    return call([&](Runtime& runtime, Context& context) {
        CopyCall wanted;
        if (cudaError_t error = describe(runtime, p, wanted)) return error;
        return copy(runtime, context, wanted, stream, async);
    });
}

cudaError_t fill_bytes(void* pointer, size_t pitch, size_t slice, int value, size_t width, size_t height, size_t depth, cudaStream_t stream, bool async) {
    return call([&](Runtime& runtime, Context& context) {
        return fill(runtime, context, {pointer, pitch, slice, unsigned(value), 1, width, height, depth}, stream, async);
    });
}

}  // namespace

LANESCOPE_API cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) { return copy_1d(to, from, bytes, kind, nullptr, false); }
LANESCOPE_ALIAS(cudaMemcpy, cudaMemcpy_ptds);
LANESCOPE_API cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    return copy_1d(to, from, bytes, kind, stream, true);
}
LANESCOPE_ALIAS(cudaMemcpyAsync, cudaMemcpyAsync_ptsz);
LANESCOPE_API cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t bytes) {
    if (to_device != 0 || from_device != 0) return record(cudaErrorInvalidDevice);
    return copy_1d(to, from, bytes, cudaMemcpyDefault, nullptr, false);
}
LANESCOPE_API cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes, cudaStream_t stream) {
    if (to_device != 0 || from_device != 0) return record(cudaErrorInvalidDevice);
    return copy_1d(to, from, bytes, cudaMemcpyDefault, stream, true);
}

LANESCOPE_API cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind) {
    return copy_2d(to, to_pitch, from, from_pitch, width, height, kind, nullptr, false);
}
LANESCOPE_ALIAS(cudaMemcpy2D, cudaMemcpy2D_ptds);
LANESCOPE_API cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind,
                                            cudaStream_t stream) {
    return copy_2d(to, to_pitch, from, from_pitch, width, height, kind, stream, true);
}
LANESCOPE_ALIAS(cudaMemcpy2DAsync, cudaMemcpy2DAsync_ptsz);

LANESCOPE_API cudaError_t cudaMemcpy2DToArray(cudaArray_t array, size_t x, size_t y, const void* from, size_t pitch, size_t width, size_t height, cudaMemcpyKind kind) {
    return copy_2d_to_array(array, x, y, from, pitch, width, height, kind, nullptr, false);
}
LANESCOPE_ALIAS(cudaMemcpy2DToArray, cudaMemcpy2DToArray_ptds);
LANESCOPE_API cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t array, size_t x, size_t y, const void* from, size_t pitch, size_t width, size_t height,
                                                   cudaMemcpyKind kind, cudaStream_t stream) {
    return copy_2d_to_array(array, x, y, from, pitch, width, height, kind, stream, true);
}
LANESCOPE_ALIAS(cudaMemcpy2DToArrayAsync, cudaMemcpy2DToArrayAsync_ptsz);
LANESCOPE_API cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t array, size_t x, size_t y, size_t width, size_t height, cudaMemcpyKind kind) {
    return copy_2d_from_array(to, pitch, array, x, y, width, height, kind, nullptr, false);
}
LANESCOPE_ALIAS(cudaMemcpy2DFromArray, cudaMemcpy2DFromArray_ptds);
LANESCOPE_API cudaError_t cudaMemcpy2DFromArrayAsync(void* to, size_t pitch, cudaArray_const_t array, size_t x, size_t y, size_t width, size_t height,
                                                     cudaMemcpyKind kind, cudaStream_t stream) {
    return copy_2d_from_array(to, pitch, array, x, y, width, height, kind, stream, true);
}
LANESCOPE_ALIAS(cudaMemcpy2DFromArrayAsync, cudaMemcpy2DFromArrayAsync_ptsz);
LANESCOPE_API cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x, size_t from_y, size_t width,
                                                   size_t height, cudaMemcpyKind) {
    return call([&](Runtime& runtime, Context& context) {
        Array *target = array_of(runtime, to), *source = array_of(runtime, from);
        if (!target || !source) return cudaErrorInvalidResourceHandle;
        bool fits_to = false, fits_from = false;
        Side out = inside(*target, to_x, to_y, 0, width, height, 1, fits_to), in = inside(*source, from_x, from_y, 0, width, height, 1, fits_from);
        return fits_to && fits_from ? copy(runtime, context, {out, in, width, height, 1, cudaMemcpyDeviceToDevice}, nullptr, false) : cudaErrorInvalidValue;
    });
}
LANESCOPE_ALIAS(cudaMemcpy2DArrayToArray, cudaMemcpy2DArrayToArray_ptds);

LANESCOPE_API cudaError_t cudaMemcpyToArray(cudaArray_t array, size_t x, size_t y, const void* from, size_t bytes, cudaMemcpyKind kind) {
    return along_rows(array, x, y, bytes, [&](size_t at_x, size_t at_y, size_t done, size_t part) {
        return cudaMemcpy2DToArray(array, at_x, at_y, static_cast<const char*>(from) + done, part, part, 1, kind);
    });
}
LANESCOPE_ALIAS(cudaMemcpyToArray, cudaMemcpyToArray_ptds);
LANESCOPE_API cudaError_t cudaMemcpyToArrayAsync(cudaArray_t array, size_t x, size_t y, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    return along_rows(array, x, y, bytes, [&](size_t at_x, size_t at_y, size_t done, size_t part) {
        return cudaMemcpy2DToArrayAsync(array, at_x, at_y, static_cast<const char*>(from) + done, part, part, 1, kind, stream);
    });
}
LANESCOPE_ALIAS(cudaMemcpyToArrayAsync, cudaMemcpyToArrayAsync_ptsz);
LANESCOPE_API cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t array, size_t x, size_t y, size_t bytes, cudaMemcpyKind kind) {
    return along_rows(array, x, y, bytes, [&](size_t at_x, size_t at_y, size_t done, size_t part) {
        return cudaMemcpy2DFromArray(static_cast<char*>(to) + done, part, array, at_x, at_y, part, 1, kind);
    });
}
LANESCOPE_ALIAS(cudaMemcpyFromArray, cudaMemcpyFromArray_ptds);
LANESCOPE_API cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t array, size_t x, size_t y, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    return along_rows(array, x, y, bytes, [&](size_t at_x, size_t at_y, size_t done, size_t part) {
        return cudaMemcpy2DFromArrayAsync(static_cast<char*>(to) + done, part, array, at_x, at_y, part, 1, kind, stream);
    });
}
LANESCOPE_ALIAS(cudaMemcpyFromArrayAsync, cudaMemcpyFromArrayAsync_ptsz);

LANESCOPE_API cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) { return copy_3d(parameters, nullptr, false); }
LANESCOPE_ALIAS(cudaMemcpy3D, cudaMemcpy3D_ptds);
LANESCOPE_API cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream) { return copy_3d(parameters, stream, true); }
LANESCOPE_ALIAS(cudaMemcpy3DAsync, cudaMemcpy3DAsync_ptsz);
LANESCOPE_API cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* p, cudaStream_t stream) {
    if (!p) return record(cudaErrorInvalidValue);
    if (p->srcDevice != 0 || p->dstDevice != 0) return record(cudaErrorInvalidDevice);
    cudaMemcpy3DParms same{p->srcArray, p->srcPos, p->srcPtr, p->dstArray, p->dstPos, p->dstPtr, p->extent, cudaMemcpyDefault};
    return copy_3d(&same, stream, true);
}
LANESCOPE_ALIAS(cudaMemcpy3DPeerAsync, cudaMemcpy3DPeerAsync_ptsz);
LANESCOPE_API cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* p) { return cudaMemcpy3DPeerAsync(p, nullptr); }
LANESCOPE_ALIAS(cudaMemcpy3DPeer, cudaMemcpy3DPeer_ptds);

LANESCOPE_API cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind) {
    return copy_symbol(symbol, const_cast<void*>(from), bytes, offset, kind, nullptr, true, false);
}
LANESCOPE_ALIAS(cudaMemcpyToSymbol, cudaMemcpyToSymbol_ptds);
LANESCOPE_API cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
    return copy_symbol(symbol, const_cast<void*>(from), bytes, offset, kind, stream, true, true);
}
LANESCOPE_ALIAS(cudaMemcpyToSymbolAsync, cudaMemcpyToSymbolAsync_ptsz);
LANESCOPE_API cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind) {
    return copy_symbol(symbol, to, bytes, offset, kind, nullptr, false, false);
}
LANESCOPE_ALIAS(cudaMemcpyFromSymbol, cudaMemcpyFromSymbol_ptds);
LANESCOPE_API cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
    return copy_symbol(symbol, to, bytes, offset, kind, stream, false, true);
}
LANESCOPE_ALIAS(cudaMemcpyFromSymbolAsync, cudaMemcpyFromSymbolAsync_ptsz);

LANESCOPE_API cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
    return call([&](Runtime& runtime, Context&) {
        uint64_t address = 0;
        if (cudaError_t error = symbol_address(runtime, symbol, 0, 0, address)) return error;
        *pointer = reinterpret_cast<void*>(address);
        return cudaSuccess;
    });
}
LANESCOPE_API cudaError_t cudaGetSymbolSize(size_t* bytes, const void* symbol) {
    return call([&](Runtime& runtime, Context&) {
        Variable* variable = runtime.variable(symbol);
        if (!variable) return cudaErrorInvalidSymbol;
        *bytes = variable->bytes;
        return cudaSuccess;
    });
}

LANESCOPE_API cudaError_t cudaMemset(void* pointer, int value, size_t bytes) { return fill_bytes(pointer, bytes, bytes, value, bytes, 1, 1, nullptr, false); }
LANESCOPE_ALIAS(cudaMemset, cudaMemset_ptds);
LANESCOPE_API cudaError_t cudaMemsetAsync(void* pointer, int value, size_t bytes, cudaStream_t stream) {
    return fill_bytes(pointer, bytes, bytes, value, bytes, 1, 1, stream, true);
}
LANESCOPE_ALIAS(cudaMemsetAsync, cudaMemsetAsync_ptsz);
LANESCOPE_API cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height) {
    return fill_bytes(pointer, pitch, 0, value, width, height, 1, nullptr, false);
}
LANESCOPE_ALIAS(cudaMemset2D, cudaMemset2D_ptds);
LANESCOPE_API cudaError_t cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream) {
    return fill_bytes(pointer, pitch, 0, value, width, height, 1, stream, true);
}
LANESCOPE_ALIAS(cudaMemset2DAsync, cudaMemset2DAsync_ptsz);
LANESCOPE_API cudaError_t cudaMemset3D(cudaPitchedPtr p, int value, cudaExtent extent) {
    return fill_bytes(p.ptr, p.pitch, p.pitch * p.ysize, value, extent.width, extent.height, extent.depth, nullptr, false);
}
LANESCOPE_ALIAS(cudaMemset3D, cudaMemset3D_ptds);
LANESCOPE_API cudaError_t cudaMemset3DAsync(cudaPitchedPtr p, int value, cudaExtent extent, cudaStream_t stream) {
    return fill_bytes(p.ptr, p.pitch, p.pitch * p.ysize, value, extent.width, extent.height, extent.depth, stream, true);
}
LANESCOPE_ALIAS(cudaMemset3DAsync, cudaMemset3DAsync_ptsz);
