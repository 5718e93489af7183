// PTX of kernels that tests and benchmarks run, as nvcc writes them.
#pragma once

#include <string>

namespace lanescope::exec {

/// The lines that every module begins with.
inline const std::string kPtxHeader = ".version 8.5\n.target sm_90\n.address_size 64\n";

/// The source file that the lines of the kernels below name.
inline const std::string kKernelsFile = ".file 1 \"kernels.cu\"\n";

/// c[i] = a[i] + b[i] for i < n: add(a, b, c, n).
inline const std::string kVectorAdd = R"(
.visible .entry add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) {
    .reg .b32 %r<6>; .reg .b64 %rd<11>; .reg .f32 %f<4>; .reg .pred %p<2>;
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c]; ld.param.u32 %r2, [n];
    .loc 1 2 15
    mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x;
    mad.lo.s32 %r1, %r3, %r4, %r5;
    .loc 1 3 5
    setp.ge.s32 %p1, %r1, %r2;
    @%p1 bra $done;
    .loc 1 4 20
    cvta.to.global.u64 %rd4, %rd1;
    mul.wide.s32 %rd5, %r1, 4;
    add.s64 %rd6, %rd4, %rd5;
    cvta.to.global.u64 %rd7, %rd2;
    add.s64 %rd8, %rd7, %rd5;
    ld.global.f32 %f1, [%rd8];
    ld.global.f32 %f2, [%rd6];
    add.f32 %f3, %f2, %f1;
    cvta.to.global.u64 %rd9, %rd3;
    add.s64 %rd10, %rd9, %rd5;
    st.global.f32 [%rd10], %f3;
$done: ret; }
)";

/// Tiles of 32 × 32 through padded shared memory, blocks of 32 × 8, four rows a thread: transpose(in, out, width).
inline const std::string kTranspose = R"(
.visible .entry transpose(.param .u64 in, .param .u64 out, .param .u32 width) {
    .reg .b32 %r<40>; .reg .b64 %rd<30>; .reg .f32 %f<9>;
    .shared .align 4 .b8 tile[4224];
    ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.u32 %r1, [width];
    cvta.to.global.u64 %rd3, %rd1; cvta.to.global.u64 %rd4, %rd2;
    mov.u32 %r2, %ctaid.x; shl.b32 %r3, %r2, 5; mov.u32 %r4, %tid.x; add.s32 %r5, %r3, %r4;
    mov.u32 %r6, %ctaid.y; shl.b32 %r7, %r6, 5; mov.u32 %r8, %tid.y; add.s32 %r9, %r7, %r8;
    mad.lo.s32 %r10, %r9, %r1, %r5;
    mul.wide.s32 %rd5, %r10, 4; add.s64 %rd6, %rd3, %rd5;
    mov.u32 %r11, tile; mad.lo.s32 %r12, %r8, 132, %r11; shl.b32 %r13, %r4, 2; add.s32 %r14, %r12, %r13;
    shl.b32 %r15, %r1, 3; mul.wide.s32 %rd7, %r15, 4;
    ld.global.f32 %f1, [%rd6]; st.shared.f32 [%r14], %f1;
    add.s64 %rd8, %rd6, %rd7; ld.global.f32 %f2, [%rd8]; st.shared.f32 [%r14+1056], %f2;
    add.s64 %rd9, %rd8, %rd7; ld.global.f32 %f3, [%rd9]; st.shared.f32 [%r14+2112], %f3;
    add.s64 %rd10, %rd9, %rd7; ld.global.f32 %f4, [%rd10]; st.shared.f32 [%r14+3168], %f4;
    bar.sync 0;
    add.s32 %r16, %r7, %r4; add.s32 %r17, %r3, %r8;
    mad.lo.s32 %r18, %r17, %r1, %r16; mul.wide.s32 %rd11, %r18, 4; add.s64 %rd12, %rd4, %rd11;
    mad.lo.s32 %r19, %r4, 132, %r11; shl.b32 %r20, %r8, 2; add.s32 %r21, %r19, %r20;
    ld.shared.f32 %f5, [%r21]; st.global.f32 [%rd12], %f5;
    add.s64 %rd13, %rd12, %rd7; ld.shared.f32 %f6, [%r21+32]; st.global.f32 [%rd13], %f6;
    add.s64 %rd14, %rd13, %rd7; ld.shared.f32 %f7, [%r21+64]; st.global.f32 [%rd14], %f7;
    add.s64 %rd15, %rd14, %rd7; ld.shared.f32 %f8, [%r21+96]; st.global.f32 [%rd15], %f8;
    ret; }
)";

/// out[i × stride] = in[i × stride], no bounds: strided(in, out, stride).
inline const std::string kStrided = R"(
.visible .entry strided(.param .u64 in, .param .u64 out, .param .u32 stride) {
    .reg .b32 %r<7>; .reg .b64 %rd<8>; .reg .f32 %f<2>;
    .loc 1 10 15
    ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.u32 %r1, [stride];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4; mul.lo.s32 %r6, %r5, %r1;
    .loc 1 11 20
    cvta.to.global.u64 %rd3, %rd1; mul.wide.u32 %rd4, %r6, 4; add.s64 %rd5, %rd3, %rd4;
    ld.global.f32 %f1, [%rd5];
    cvta.to.global.u64 %rd6, %rd2; add.s64 %rd7, %rd6, %rd4;
    st.global.f32 [%rd7], %f1;
    ret; }
)";

/// Four multiplications and additions a round: compute(out, rounds).
inline const std::string kCompute = R"(
.visible .entry compute(.param .u64 out, .param .u32 rounds) {
    .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .f32 %f<4>; .reg .pred %p<2>;
    ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [rounds];
    mov.u32 %r2, %tid.x; cvt.rn.f32.u32 %f1, %r2; mov.f32 %f2, 0f3F800000; mov.u32 %r3, 0;
$loop:
    fma.rn.f32 %f2, %f2, %f1, %f1; fma.rn.f32 %f1, %f1, 0f3F000000, %f2; fma.rn.f32 %f2, %f2, %f1, %f1; fma.rn.f32 %f1, %f1, 0f3F000000, %f2;
    add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r1;
    @%p1 bra $loop;
    mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; st.global.f32 [%rd3], %f1;
    ret; }
)";

}  // namespace lanescope::exec
