// Pieces that copies, arrays and the older ABIs share.
#pragma once

#include <cstddef>

#include "cudart/api/runtime.h"

namespace lanescope::cudart {

/// `host`: the location that the advice names is the host.
cudaError_t advise(const void* pointer, size_t bytes, int advice, bool host);
cudaError_t prefetch(const void* pointer, size_t bytes, bool to_host, cudaStream_t stream);

/// One side of a copy: rows and slices of bytes at a (unified) address.
struct Side {
    uint64_t address = 0;
    uint64_t row_bytes = 0, slice_bytes = 0;      ///< distances between rows and between slices
    bool array = false;                           ///< lies in a cudaArray
};

/// A copy, and a fill, as they are asked for and as graphs keep them.
struct CopyCall {
    Side to, from;
    size_t width = 0, height = 1, depth = 1;      ///< width in bytes
    cudaMemcpyKind kind = cudaMemcpyDefault;
};
struct FillCall {
    void* pointer = nullptr;
    size_t pitch = 0, slice = 0;
    unsigned value = 0, element_bytes = 1;        ///< 1, 2 or 4
    size_t width = 0, height = 1, depth = 1;      ///< width in elements
};

/// Copies width × height × depth bytes, rows and slices as the sides say. Checks both sides against their allocations and `kind`
/// (cudaMemcpyDefault: what the pointers are).
cudaError_t copy(Runtime& runtime, emulator::Context& context, const CopyCall& call, cudaStream_t stream, bool async);
cudaError_t fill(Runtime& runtime, emulator::Context& context, const FillCall& call, cudaStream_t stream, bool async);
/// What the parameters of a cudaMemcpy3D, and those of a copy from or to a variable, ask for.
cudaError_t describe(Runtime& runtime, const cudaMemcpy3DParms* parameters, CopyCall& call);
cudaError_t describe(Runtime& runtime, const void* symbol, void* host, size_t bytes, size_t offset, cudaMemcpyKind kind, bool to_symbol, CopyCall& call);
CopyCall contiguous(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);

/// A rectangle inside an array, x in bytes. `fits`: false when it reaches outside.
Side inside(const Array& array, size_t x_bytes, size_t y, size_t z, size_t width, size_t height, size_t depth, bool& fits);

/// The device address of `bytes` bytes at `offset` of a variable.
cudaError_t symbol_address(Runtime& runtime, const void* symbol, size_t offset, size_t bytes, uint64_t& address);

}  // namespace lanescope::cudart
