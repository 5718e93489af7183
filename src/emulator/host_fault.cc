#include "emulator/host_fault.h"

#include <fmt/format.h>
#include <signal.h>
#include <ucontext.h>

namespace lanescope::emulator {
namespace {

const exec::DeviceMemory* g_memory = nullptr;
Journal* g_journal = nullptr;
bool g_installed = false;

void on_fault(int signal, siginfo_t* info, void* context) {
    // Whatever happens next, a second fault (or the return to this one) takes the default way.
    ::signal(signal, SIG_DFL);
    uint64_t address = reinterpret_cast<uint64_t>(info->si_addr);
    if (!g_memory || !g_journal || !g_memory->in_device_arena(address)) return;
    bool store = false;
#ifdef __x86_64__
    constexpr greg_t kWriteFault = 2;  // bit 1 of the page fault's error code
    store = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & kWriteFault;
#else
    (void)context;
#endif
    profile::Fault fault;
    fault.kind = "host_access";
    exec::Nearest nearest = g_memory->nearest(address);
    fault.message = fmt::format("the host {} device address {:#x}", store ? "writes to" : "reads", address);
    if (nearest.allocation.bytes && nearest.distance == 0)
        fault.message += fmt::format(", byte {} of {} ({} bytes): copy it with cudaMemcpy, or allocate it with cudaMallocManaged",
                                     address - nearest.allocation.begin, nearest.allocation.name, nearest.allocation.bytes);
    fault.numbers = {{"address", double(address)}, {"store", double(store)}};
    g_journal->append(fault);
}

}  // namespace

void watch_host_accesses(const exec::DeviceMemory* memory, Journal* journal) {
    g_memory = memory;
    g_journal = journal;
    if (!memory || g_installed) return;
    struct sigaction now {};
    if (::sigaction(SIGSEGV, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) return;
    struct sigaction ours {};
    ours.sa_sigaction = on_fault;
    ours.sa_flags = SA_SIGINFO | SA_NODEFER;
    g_installed = ::sigaction(SIGSEGV, &ours, nullptr) == 0;
}

}  // namespace lanescope::emulator
