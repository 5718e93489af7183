// Weighs a million particles, once from an array of records and once from an array of masses. Same answer, same useful bytes;
// one of the two lines moves eight times the sectors.
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                    \
    do {                                                                               \
        const cudaError_t error = (call);                                              \
        if (error != cudaSuccess) {                                                    \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
            std::exit(1);                                                              \
        }                                                                              \
    } while (0)

struct Particle {
    float position[3], velocity[3], mass, charge;
};

__global__ void weigh_records(const Particle* particles, float* weights) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    weights[i] = particles[i].mass * 9.81f;
}

__global__ void weigh_arrays(const float* masses, float* weights) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    weights[i] = masses[i] * 9.81f;
}

int main() {
    constexpr int kCount = 1 << 20;
    std::vector<Particle> particles(kCount);
    std::vector<float> masses(kCount), from_records(kCount), from_arrays(kCount);
    for (int i = 0; i < kCount; ++i) particles[i].mass = masses[i] = float(i % 1000);

    Particle* records;
    float *arrays, *weights;
    CHECK(cudaMalloc(&records, kCount * sizeof(Particle)));
    CHECK(cudaMalloc(&arrays, kCount * sizeof(float)));
    CHECK(cudaMalloc(&weights, kCount * sizeof(float)));
    CHECK(cudaMemcpy(records, particles.data(), kCount * sizeof(Particle), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(arrays, masses.data(), kCount * sizeof(float), cudaMemcpyHostToDevice));
    weigh_records<<<kCount / 256, 256>>>(records, weights);
    CHECK(cudaMemcpy(from_records.data(), weights, kCount * sizeof(float), cudaMemcpyDeviceToHost));
    weigh_arrays<<<kCount / 256, 256>>>(arrays, weights);
    CHECK(cudaMemcpy(from_arrays.data(), weights, kCount * sizeof(float), cudaMemcpyDeviceToHost));

    bool right = from_records == from_arrays;
    for (int i = 0; i < kCount; ++i) right &= from_arrays[i] == masses[i] * 9.81f;
    std::printf("%s: %d particles weighed twice\n", right ? "right" : "WRONG", kCount);
    return right ? 0 : 1;
}
