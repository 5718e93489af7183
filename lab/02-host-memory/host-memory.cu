// Copies between host and device: from each kind of host memory, in each direction, over a range of sizes; and both directions at once.
// Arguments: from=BYTES to=BYTES repeats=N
#include <functional>

#include "../lab.h"

struct Buffer {
    const char* memory;
    char* bytes;
    std::function<void()> release;
};

static std::vector<Buffer> buffers(size_t size) {
    std::vector<Buffer> all;
    char* pageable = static_cast<char*>(std::malloc(size));
    all.push_back({"pageable", pageable, [=] { std::free(pageable); }});
    char* registered = static_cast<char*>(std::malloc(size));
    CHECK(cudaHostRegister(registered, size, cudaHostRegisterDefault));
    all.push_back({"registered", registered, [=] { CHECK(cudaHostUnregister(registered)); std::free(registered); }});
    char* pinned = nullptr;
    CHECK(cudaMallocHost(&pinned, size));
    all.push_back({"pinned", pinned, [=] { CHECK(cudaFreeHost(pinned)); }});
    char* combined = nullptr;
    CHECK(cudaHostAlloc(&combined, size, cudaHostAllocWriteCombined));
    all.push_back({"write_combined", combined, [=] { CHECK(cudaFreeHost(combined)); }});
    return all;
}

int main(int argc, char** argv) {
    lab::Arguments arguments(argc, argv);
    const size_t from = arguments.number("from", 4 << 10), to = arguments.number("to", 1ll << 30);
    const int repeats = int(arguments.number("repeats", 11));
    arguments.done();

    char* device = lab::device<char>(to);
    char* device2 = lab::device<char>(to);
    std::vector<char> check(to);
    for (const Buffer& buffer : buffers(to)) {
        std::memset(buffer.bytes, 7, to);  // touched: no page is missing when the copies are timed
        for (size_t size = from; size <= to; size *= 2) {
            lab::Timing timing = lab::timed(repeats, [&] { CHECK(cudaMemcpyAsync(device, buffer.bytes, size, cudaMemcpyHostToDevice)); });
            CHECK(cudaMemcpy(check.data(), device, size, cudaMemcpyDeviceToHost));
            lab::Case("copy").with("memory", buffer.memory).with("direction", "h2d").with("bytes", double(size)).with(timing, double(size))
                .correct(check[0] == 7 && check[size - 1] == 7);

            CHECK(cudaMemset(device, 9, size));
            timing = lab::timed(repeats, [&] { CHECK(cudaMemcpyAsync(buffer.bytes, device, size, cudaMemcpyDeviceToHost)); });
            lab::Case("copy").with("memory", buffer.memory).with("direction", "d2h").with("bytes", double(size)).with(timing, double(size))
                .correct(buffer.bytes[0] == 9 && buffer.bytes[size - 1] == 9);
            std::memset(buffer.bytes, 7, size);
        }
        buffer.release();
    }

    // Both directions at once: two streams, each with its own copy engine, forked from and joined to the timing stream by events.
    char *up = nullptr, *down = nullptr;
    CHECK(cudaMallocHost(&up, to));
    CHECK(cudaMallocHost(&down, to));
    std::memset(up, 7, to);
    cudaStream_t streams[2];
    cudaEvent_t fork, joins[2];
    CHECK(cudaEventCreate(&fork));
    for (int i = 0; i < 2; ++i) {
        CHECK(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
        CHECK(cudaEventCreate(&joins[i]));
    }
    CHECK(cudaMemset(device2, 9, to));
    const lab::Timing timing = lab::timed(repeats, [&] {
        CHECK(cudaEventRecord(fork));
        for (cudaStream_t stream : streams) CHECK(cudaStreamWaitEvent(stream, fork, 0));
        CHECK(cudaMemcpyAsync(device, up, to, cudaMemcpyHostToDevice, streams[0]));
        CHECK(cudaMemcpyAsync(down, device2, to, cudaMemcpyDeviceToHost, streams[1]));
        for (int i = 0; i < 2; ++i) {
            CHECK(cudaEventRecord(joins[i], streams[i]));
            CHECK(cudaStreamWaitEvent(nullptr, joins[i], 0));
        }
    });
    lab::Case("copy").with("memory", "pinned").with("direction", "both").with("bytes", 2.0 * double(to)).with(timing, 2.0 * double(to))
        .correct(down[0] == 9 && down[to - 1] == 9);
    return lab::finish();
}
