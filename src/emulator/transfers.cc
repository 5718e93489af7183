// Copies, fills, and managed memory on its way between host and device: accounted for, timed and written to the journal.
#include <algorithm>

#include "emulator/context.h"
#include "timing/transfer.h"

namespace lanescope::emulator {

void Context::record_transfer(profile::Transfer transfer, Stream stream, const Timeline::Span& span) {
    if (!collecting_ || !journal_.open()) return;
    transfer.stream = stream;
    transfer.start_ns = span.start;
    transfer.duration_ns = span.end - span.start;
    journal_.append(transfer);
    check_journal();
}

Timeline::Span Context::transfer(Direction direction, const std::string& memory, uint64_t destination, uint64_t source, uint64_t bytes, Stream stream) {
    static constexpr const char* kKinds[] = {"host_to_device", "device_to_host", "device_to_device", "host_to_host", "memset"};
    static constexpr Engine kEngines[] = {Engine::kToDevice, Engine::kToHost, Engine::kKernels, Engine::kToHost, Engine::kKernels};
    settle_managed();
    const char* kind = kKinds[size_t(direction)];
    const double duration = direction == Direction::kHostToHost ? 0 : timing::transfer_time(gpu_, kind, memory, bytes).ns;
    const Timeline::Span span = timeline_.enqueue(stream, kEngines[size_t(direction)], duration);
    if (source) model_.copied_from(source, bytes, direction == Direction::kDeviceToHost);
    if (destination) {
        model_.copied_to(destination, bytes, direction == Direction::kHostToDevice);
        const exec::Allocation* target = memory_->find(destination);
        if (target && target->region == exec::Region::kManaged) managed_.written_by_device(destination, std::min(bytes, target->end() - destination));
    }
    record_transfer({.kind = kind, .memory = memory, .bytes = bytes}, stream, span);
    return span;
}

void Context::settle_managed() {
    if (!managed_.any()) return;
    const uint64_t moved = managed_.collect_host_accesses();
    if (moved == 0) return;
    // The host's thread stood still while its pages came.
    const Timeline::Span span = timeline_.now(Engine::kToHost, timing::transfer_time(gpu_, "migration_to_host", "managed", moved).ns);
    record_transfer({.kind = "migration_to_host", .memory = "managed", .bytes = moved}, kDefaultStream, span);
}

void Context::advise(uint64_t begin, uint64_t bytes, Advice advice) {
    settle_managed();
    managed_.advise(begin, bytes, advice);
}

Timeline::Span Context::prefetch(uint64_t begin, uint64_t bytes, bool to_host, Stream stream) {
    settle_managed();
    const char* kind = to_host ? "prefetch_to_host" : "prefetch_to_device";
    const uint64_t moved = managed_.prefetch(begin, bytes, to_host);
    const double duration = timing::transfer_time(gpu_, kind, "managed", std::max<uint64_t>(1, moved)).ns;   // asking alone takes its time
    const Timeline::Span span = timeline_.enqueue(stream, to_host ? Engine::kToHost : Engine::kToDevice, duration);
    record_transfer({.kind = kind, .memory = "managed", .bytes = moved}, stream, span);
    return span;
}

std::vector<AddressRange> Context::prepare_managed(Stream stream) {
    if (!managed_.any()) return {};
    settle_managed();
    if (!managed_.page_faults()) {
        if (const uint64_t moved = managed_.move_all_to_device(); moved != 0) {
            const Timeline::Span span = timeline_.enqueue(stream, Engine::kToDevice, timing::transfer_time(gpu_, "migration_to_device", "managed", moved).ns);
            record_transfer({.kind = "migration_to_device", .memory = "managed", .bytes = moved}, stream, span);
        }
    }
    managed_.begin_kernel(uint64_t(gpu_.l2_latency_ns * gpu_.clock_mhz / 1000));
    std::vector<AddressRange> remote = managed_.remote();
    for (const AddressRange& range : remote) model_.map(range.begin, range.bytes, memory::Backing::kHost);
    return remote;
}

double Context::finish_managed(const std::vector<AddressRange>& remote, profile::Launch& record, std::vector<profile::Transfer>& caused) {
    if (!managed_.any()) return 0;
    for (const AddressRange& range : remote) model_.unmap(range.begin, range.bytes);
    const ManagedMemory::Faults faults = managed_.end_kernel();
    if (!managed_.page_faults()) return 0;
    double stall = 0;
    for (const uint64_t bytes : faults.batches) stall += timing::transfer_time(gpu_, "migration_to_device", "managed", std::max<uint64_t>(1, bytes)).ns;
    if (faults.moved() != 0) caused.push_back({.kind = "migration_to_device", .memory = "managed", .bytes = faults.moved(), .duration_ns = stall});
    record.metrics = {{"lanescope__page_faults.sum", double(faults.blocks)},
                      {"lanescope__page_fault_batches.sum", double(faults.batches.size())},
                      {"lanescope__page_fault_migrated_bytes.sum", double(faults.moved())}};
    if (!settings_.counts_only) record.metrics["lanescope__page_fault_time.sum"] = stall;
    if (!managed_.sees_host())
        record.notes.push_back("this system does not tell what the host touches: a managed page counts as the host's until a kernel first uses it, and never again");
    return stall;
}

void Context::record_zero_copy(double duration_ns, std::vector<profile::Transfer>& caused) const {
    uint64_t read = 0, written = 0;
    for (const memory::Counters& site : model_.sites()) {
        read += site.link_read_bytes;
        written += site.link_write_bytes;
    }
    const auto add = [&](const char* kind, uint64_t bytes) {
        const double least = gpu_.link_bytes_per_second > 0 ? double(bytes) / gpu_.link_bytes_per_second * 1e9 : 0;
        if (bytes != 0) caused.push_back({.kind = kind, .memory = "mapped", .bytes = bytes, .duration_ns = std::min(least, duration_ns)});
    };
    add("zero_copy_read", read);
    add("zero_copy_write", written);
}

}  // namespace lanescope::emulator
