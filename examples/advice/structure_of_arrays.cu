// One field of a record of 32 bytes; after: each field has an array.
#include "pair.h"

struct Particle {
    float x, y, z, vx, vy, vz, mass, charge;
};

__global__ void before(const Particle* particles, float* out) { out[thread()] = particles[thread()].mass * 9.81f; }

__global__ void after(const float* mass, float* out) { out[thread()] = mass[thread()] * 9.81f; }

int main(int argc, char** argv) {
    Pair pair(argc, argv, 1 << 20);
    const int n = pair.size;
    const std::vector<float> mass = numbers(n);
    std::vector<Particle> particles(n);
    for (int i = 0; i < n; ++i) particles[i].mass = mass[i];
    Buffer<Particle> records(particles);
    Buffer<float> masses(mass), a(n), b(n);
    pair.run(0, [&] { before<<<n / 256, 256>>>(records.data, a.data); });
    pair.run(1, [&] { after<<<n / 256, 256>>>(masses.data, b.data); });
    return pair.finish(a.host(), b.host());
}
