// Times of kernels, transfers, memsets and page migrations, as the device's own clock saw them.
#include <chrono>
#include <cstdlib>

#include "hardware/inject/api.h"
#include "hardware/inject/collector.h"
#include "hardware/inject/session.h"

namespace lanescope::inject {

namespace {

constexpr size_t kBufferBytes = size_t(1) << 20;

void CUPTIAPI buffer_requested(uint8_t** buffer, size_t* size, size_t* records) {
    *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, kBufferBytes));
    *size = *buffer ? kBufferBytes : 0;
    *records = 0;
}

void write_record(const CUpti_Activity* record) {
    switch (record->kind) {
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
            auto& k = *reinterpret_cast<const CUpti_ActivityKernel10*>(record);
            events.line("kernel", k.correlationId, k.start, k.end, k.deviceId, k.contextId, k.streamId, k.gridX, k.gridY, k.gridZ, k.blockX,
                        k.blockY, k.blockZ, k.registersPerThread, k.staticSharedMemory, k.dynamicSharedMemory, k.localMemoryPerThread,
                        k.sharedMemoryExecuted, k.graphNodeId, k.name);
            break;
        }
        case CUPTI_ACTIVITY_KIND_MEMCPY: {
            auto& m = *reinterpret_cast<const CUpti_ActivityMemcpy6*>(record);
            events.line("memcpy", m.correlationId, m.start, m.end, m.streamId, m.bytes, unsigned(m.copyKind), unsigned(m.srcKind),
                        unsigned(m.dstKind), unsigned(m.flags));
            break;
        }
        case CUPTI_ACTIVITY_KIND_MEMCPY2: {
            auto& m = *reinterpret_cast<const CUpti_ActivityMemcpyPtoP4*>(record);
            events.line("memcpy", m.correlationId, m.start, m.end, m.streamId, m.bytes, unsigned(CUPTI_ACTIVITY_MEMCPY_KIND_PTOP),
                        unsigned(m.srcKind), unsigned(m.dstKind), unsigned(m.flags));
            break;
        }
        case CUPTI_ACTIVITY_KIND_MEMSET: {
            auto& m = *reinterpret_cast<const CUpti_ActivityMemset4*>(record);
            events.line("memset", m.correlationId, m.start, m.end, m.streamId, m.bytes, unsigned(m.memoryKind));
            break;
        }
        case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER: {
            auto& u = *reinterpret_cast<const CUpti_ActivityUnifiedMemoryCounter3*>(record);
            events.line("migration", u.start, u.end, unsigned(u.counterKind), u.value);
            break;
        }
        default: break;
    }
}

void CUPTIAPI buffer_completed(CUcontext context, uint32_t stream, uint8_t* buffer, size_t, size_t valid) {
    CUpti_Activity* record = nullptr;
    while (valid && api.cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) write_record(record);
    size_t dropped = 0;
    if (api.cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS && dropped) events.line("dropped", dropped);
    events.flush();
    std::free(buffer);
}

class ActivityCollector : public Collector {
public:
    void begin() override {
        succeeded("cuptiActivityRegisterCallbacks", api.cuptiActivityRegisterCallbacks(buffer_requested, buffer_completed));
        collect(true);
    }

    void collect(bool on) override {
        for (auto kind : {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2,
                          CUPTI_ACTIVITY_KIND_MEMSET})
            succeeded("cuptiActivityEnable", on ? api.cuptiActivityEnable(kind) : api.cuptiActivityDisable(kind));
    }

    void context_created(CUcontext) override {
        if (configured_) return;
        configured_ = true;
        CUpti_ActivityUnifiedMemoryCounterConfig counters[2] = {};
        counters[0].kind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD;
        counters[1].kind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH;
        CUdevice device = 0;
        if (api.cuCtxGetDevice(&device) != CUDA_SUCCESS) device = 0;
        for (auto& counter : counters) {
            counter.scope = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE;
            counter.deviceId = uint32_t(device);
            counter.enable = 1;
        }
        if (succeeded("cuptiActivityConfigureUnifiedMemoryCounter", api.cuptiActivityConfigureUnifiedMemoryCounter(counters, 2)))
            succeeded("cuptiActivityEnable", api.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER));
    }

    // What isn't flushed is lost when the program leaves through _exit; a synchronisation is where results are looked at.
    void synchronized() override {
        auto now = std::chrono::steady_clock::now();
        if (now - flushed_ < std::chrono::milliseconds(50)) return;
        flushed_ = now;
        api.cuptiActivityFlushAll(0);
    }
    void context_destroyed(CUcontext) override { api.cuptiActivityFlushAll(0); }
    void end() override { api.cuptiActivityFlushAll(1); }
    bool serialises() const override { return false; }

private:
    bool configured_ = false;
    std::chrono::steady_clock::time_point flushed_{};
};

}  // namespace

std::unique_ptr<Collector> make_activity_collector() { return std::make_unique<ActivityCollector>(); }

}  // namespace lanescope::inject
