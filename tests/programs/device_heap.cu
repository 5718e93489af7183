// malloc, free, memset and memcpy on the device; assert.
#include <cassert>

#include "check.h"

struct Node { int value; Node* next; };

__global__ void build(Node** heads, int length) {
    Node* head = nullptr;
    for (int i = 0; i < length; ++i) {
        Node* node = (Node*)malloc(sizeof(Node));
        node->value = threadIdx.x * 100 + i;
        node->next = head;
        head = node;
    }
    heads[threadIdx.x] = head;
}
__global__ void sum(Node** heads, int* out) {
    int total = 0;
    for (Node* n = heads[threadIdx.x]; n;) { total += n->value; Node* next = n->next; free(n); n = next; }
    out[threadIdx.x] = total;
}
__global__ void fill(unsigned char* out, int* too_much) {
    unsigned char* p = new unsigned char[64];
    memset(p, 3, 64);
    memcpy(out, p, 64);
    delete[] p;
    *too_much = malloc(size_t(1) << 40) == nullptr;
}
__global__ void check(int i) { assert(i < 3 && "too large"); }

int main() {
    Node** heads; int *out, h[32]; unsigned char* bytes, b[64];
    CHECK(cudaMalloc(&heads, 32 * sizeof(Node*))); CHECK(cudaMalloc(&out, sizeof h)); CHECK(cudaMalloc(&bytes, 64));
    build<<<1, 32>>>(heads, 5);
    sum<<<1, 32>>>(heads, out);
    CHECK(cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost));
    std::printf("%d %d\n", h[0], h[31]);
    fill<<<1, 1>>>(bytes, out);
    CHECK(cudaMemcpy(b, bytes, 64, cudaMemcpyDeviceToHost)); CHECK(cudaMemcpy(h, out, 4, cudaMemcpyDeviceToHost));
    std::printf("%d %d %d\n", b[0], b[63], h[0]);
    check<<<1, 1>>>(2);
    CHECK(cudaDeviceSynchronize());
    check<<<1, 1>>>(3);
    std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
// 0 + 1 + 2 + 3 + 4; 5 × 3100 + 10
// OUT: 10 15510
// OUT: 3 3 1
// OUT: cudaErrorAssert
