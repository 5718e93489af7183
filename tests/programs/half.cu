// Half precision and bfloat16: conversions, arithmetic, pairs.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "check.h"

__global__ void run(float* out) {
    __half a = __float2half(1.5f), b = __float2half(0.1f);
    out[0] = __half2float(__hadd(a, b));
    out[1] = __half2float(__hmul(a, a));
    out[2] = __half2float(__hfma(a, a, b));
    out[3] = __half2float(__hdiv(a, b));
    out[4] = __hgt(a, b);
    __half2 p = __floats2half2_rn(3.f, 4.f), q = __float2half2_rn(2.f);
    __half2 r = __hfma2(p, q, p);
    out[5] = __low2float(r);
    out[6] = __high2float(r);
    out[7] = __half2float(hsqrt(__float2half(2.f)));
    out[8] = __half2float(__float2half(65520.f));            // rounds to infinity
    out[9] = __half2float(__float2half(1e-8f));              // below half of the smallest denormal
    __nv_bfloat16 c = __float2bfloat16(3.14159f);
    out[10] = __bfloat162float(c);
    out[11] = __bfloat162float(__hmul(c, c));
    out[12] = __half2int_rn(__float2half(2.5f));
    out[13] = __half2float(__int2half_rn(2049));             // between 2048 and 2050: to even
    out[14] = float(__half_as_ushort(__float2half(-0.0f)));
}

int main() {
    float *out, h[15];
    CHECK(cudaMalloc(&out, sizeof h));
    run<<<1, 1>>>(out);
    CHECK(cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost));
    for (float v : h) std::printf("%.9g\n", v);
}
// 0.1 in half is 0.0999755859375 (1638/16384); 1.5 + that = 1.5999755859375, in steps of 2^-10: 1.599609375
// OUT: 1.59960938
// OUT: 2.25
// 2.25 + 0.0999755859375 = 2.3499755859375, steps of 2^-9: 2.349609375
// OUT: 2.34960938
// 1.5 / 0.0999755859375 = 15.00366…, steps of 2^-7: 15
// OUT: 15
// OUT: 1
// OUT: 9
// OUT: 12
// OUT: 1.4140625
// OUT: inf
// OUT: 0
// OUT: 3.140625
// 3.140625² = 9.8635…, steps of 2^-4: 9.875
// OUT: 9.875
// OUT: 2
// OUT: 2048
// OUT: 32768
