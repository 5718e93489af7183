// Classes with virtual functions made on the device, function pointers, structs by value, new and delete.
#include "check.h"

struct Shape {
    __device__ virtual float area() const = 0;
    __device__ virtual ~Shape() {}
};
struct Square : Shape {
    float a;
    __device__ explicit Square(float side) : a(side) {}
    __device__ float area() const override { return a * a; }
};
struct Circle : Shape {
    float r;
    __device__ explicit Circle(float radius) : r(radius) {}
    __device__ float area() const override { return 3 * r * r; }
};

__global__ void make(Shape** shapes, int n) {
    int i = threadIdx.x;
    if (i < n) shapes[i] = i % 2 ? (Shape*)new Square(i) : (Shape*)new Circle(i);
}
__global__ void measure(Shape** shapes, float* out, int n) {
    int i = threadIdx.x;
    if (i < n) out[i] = shapes[i]->area();
}
__global__ void destroy(Shape** shapes, int n) {
    int i = threadIdx.x;
    if (i < n) delete shapes[i];
}

typedef int (*Operation)(int, int);
__device__ int add(int a, int b) { return a + b; }
__device__ int subtract(int a, int b) { return a - b; }
__device__ int multiply(int a, int b) { return a * b; }
__device__ Operation operations[3] = {add, subtract, multiply};

struct Large { int values[40]; double scale; char name; };

__global__ void indirect(int* out) { out[threadIdx.x] = operations[threadIdx.x % 3](threadIdx.x, 10); }
__global__ void by_pointer(Operation f, int* out) { *out = f(6, 7); }
__global__ void by_value(Large s, int* out) { out[threadIdx.x] = int(s.values[threadIdx.x % 40] * s.scale) + s.name; }

int main() {
    const int n = 6;
    Shape** shapes; float *areas, host[n]; int *out, ints[32];
    CHECK(cudaMalloc(&shapes, n * sizeof(Shape*))); CHECK(cudaMalloc(&areas, sizeof host)); CHECK(cudaMalloc(&out, sizeof ints));
    make<<<1, 32>>>(shapes, n);
    measure<<<1, 32>>>(shapes, areas, n);
    CHECK(cudaMemcpy(host, areas, sizeof host, cudaMemcpyDeviceToHost));
    destroy<<<1, 32>>>(shapes, n);
    CHECK(cudaDeviceSynchronize());
    for (float a : host) std::printf("%g ", a);
    std::printf("\n");

    indirect<<<1, 32>>>(out);
    CHECK(cudaMemcpy(ints, out, sizeof ints, cudaMemcpyDeviceToHost));
    std::printf("%d %d %d %d\n", ints[0], ints[1], ints[2], ints[31]);
    Operation multiply_on_device;
    CHECK(cudaMemcpyFromSymbol(&multiply_on_device, operations, sizeof(Operation), 2 * sizeof(Operation)));
    by_pointer<<<1, 1>>>(multiply_on_device, out);
    CHECK(cudaMemcpy(ints, out, 4, cudaMemcpyDeviceToHost));
    std::printf("%d\n", ints[0]);

    Large s{}; for (int i = 0; i < 40; ++i) s.values[i] = i; s.scale = 1.5; s.name = 'A';
    by_value<<<1, 32>>>(s, out);
    CHECK(cudaMemcpy(ints, out, sizeof ints, cudaMemcpyDeviceToHost));
    std::printf("%d %d\n", ints[0], ints[31]);
}
// OUT: 0 1 12 9 48 25 
// 0 + 10, 1 - 10, 2 * 10, 31 - 10
// OUT: 10 -9 20 21
// OUT: 42
// 0 + 65, int(46.5) + 65
// OUT: 65 111
