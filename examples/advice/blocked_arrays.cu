// Three of sixteen fields; after: blocks of 32 records, in which the values of a field lie side by side (AoSoA).
#include "pair.h"

struct Body {
    float field[16];
};
struct Block {
    float field[16][32];
};

__global__ void before(const Body* bodies, float* out) {
    const Body& body = bodies[thread()];
    out[thread()] = body.field[0] * body.field[5] + body.field[10];
}

__global__ void after(const Block* blocks, float* out) {
    const Block& block = blocks[thread() / 32];
    const int lane = thread() % 32;
    out[thread()] = block.field[0][lane] * block.field[5][lane] + block.field[10][lane];
}

int main(int argc, char** argv) {
    Pair pair(argc, argv, 1 << 19);
    const int n = pair.size;
    const std::vector<float> values = numbers(size_t(n) * 16);
    std::vector<Body> bodies(n);
    std::vector<Block> blocks(n / 32);
    for (int i = 0; i < n; ++i)
        for (int f = 0; f < 16; ++f) bodies[i].field[f] = blocks[i / 32].field[f][i % 32] = values[size_t(i) * 16 + f];
    Buffer<Body> records(bodies);
    Buffer<Block> blocked(blocks);
    Buffer<float> a(n), b(n);
    pair.run(0, [&] { before<<<n / 256, 256>>>(records.data, a.data); });
    pair.run(1, [&] { after<<<n / 256, 256>>>(blocked.data, b.data); });
    return pair.finish(a.host(), b.host());
}
