#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "hardware/cupti.h"
#include "hardware/hardware.h"
#include "hardware/injection.h"

namespace lanescope::hardware {

namespace {

// The driver's own names and numbers (cuda.h), which is not needed to build lanescope.
constexpr int kCudaNoDevice = 100, kCudaInsufficientDriver = 35, kCudaSystemNotReady = 802, kCudaUnknown = 999, kCudaMismatch = 803;
enum Attribute : int {
    kClock = 13, kSms = 16, kMemoryClock = 36, kBusWidth = 37, kL2 = 38, kThreadsPerSm = 39, kMajor = 75, kMinor = 76,
    kSharedPerSm = 81, kRegistersPerSm = 82, kBlocksPerSm = 106, kReservedShared = 111,
};

// CUPTI's range profiler and SASS metrics begin with Volta.
constexpr uint32_t kFirstCapability = 70;

bool has_capability_sys_admin() {
    auto status = base::read_file("/proc/self/status");
    if (!status) return false;
    size_t at = status->find("CapEff:");
    constexpr uint64_t kSysAdmin = uint64_t(1) << 21;
    return at != std::string::npos && (std::strtoull(status->c_str() + at + 7, nullptr, 16) & kSysAdmin) != 0;
}

}  // namespace

std::string release_of(std::string_view version) {
    // "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Mon …", or "… Open Kernel Module for x86_64  580.159.04  Release …"
    for (size_t at = 0; at < version.size();) {
        size_t end = std::min(version.find_first_of(" \t\n", at), version.size());
        std::string_view word = version.substr(at, end - at);
        if (word.find('.') != word.npos && word.find_first_not_of("0123456789.") == word.npos) return std::string(word);
        at = end + 1;
    }
    return {};
}

Surroundings look_around() {
    Surroundings seen;
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return seen;
    seen.driver = true;
    auto find = [&](const char* symbol, auto* signature) { return reinterpret_cast<decltype(signature)>(dlsym(library, symbol)); };
    auto* init = find("cuInit", static_cast<int (*)(unsigned)>(nullptr));
    auto* version = find("cuDriverGetVersion", static_cast<int (*)(int*)>(nullptr));
    auto* count = find("cuDeviceGetCount", static_cast<int (*)(int*)>(nullptr));
    auto* name = find("cuDeviceGetName", static_cast<int (*)(char*, int, int)>(nullptr));
    auto* attribute = find("cuDeviceGetAttribute", static_cast<int (*)(int*, int, int)>(nullptr));
    auto* memory = find("cuDeviceTotalMem_v2", static_cast<int (*)(size_t*, int)>(nullptr));
    if (!init || !version || !count || !name || !attribute || !memory) {
        seen.init_error = kCudaUnknown;
        return seen;
    }
    int number = 0;
    if (version(&number) == 0) seen.driver_version = uint32_t(number);
    if (auto text = base::read_file("/proc/driver/nvidia/version")) seen.driver_release = release_of(*text);
    if (auto text = base::read_file("/proc/driver/nvidia/params")) seen.admin_only = text->find("RmProfilingAdminOnly: 1") != std::string::npos;
    seen.privileged = geteuid() == 0 || has_capability_sys_admin();
    if ((seen.init_error = init(0)) != 0 || (seen.init_error = count(&number)) != 0) return seen;
    auto cupti = Cupti::load();
    if (cupti) seen.cupti_version = cupti->version();
    else seen.cupti_problem = cupti.errors().front().message;
    if (auto injection = injection_library(); !injection) seen.injection_problem = injection.errors().front().message;
    for (int i = 0; i < number; ++i) {
        Device device;
        char text[256] = {};
        if (name(text, sizeof text - 1, i) == 0) device.product = text;
        auto read = [&](Attribute which) {
            int value = 0;
            return attribute(&value, which, i) == 0 && value > 0 ? uint32_t(value) : 0u;
        };
        device.compute_capability = read(kMajor) * 10 + read(kMinor);
        device.sms = read(kSms);
        device.max_warps_per_sm = read(kThreadsPerSm) / 32;
        device.max_blocks_per_sm = read(kBlocksPerSm);
        device.registers_per_sm = read(kRegistersPerSm);
        device.reserved_shared_per_block = read(kReservedShared);
        device.shared_per_sm = read(kSharedPerSm);
        device.l2_bytes = read(kL2);
        device.sm_khz = read(kClock);
        device.memory_khz = read(kMemoryClock);
        device.bus_bits = read(kBusWidth);
        if (size_t bytes = 0; memory(&bytes, i) == 0) device.memory_bytes = bytes;
        if (cupti)
            if (auto chip = cupti->chip_of(uint32_t(i))) device.chip = *chip;
        seen.devices.push_back(std::move(device));
    }
    return seen;
}

Availability judge(const Surroundings& seen) {
    Availability out;
    constexpr const char* kEmulation = "emulation: the same counts, predicted for any GPU";
    constexpr const char* kTimesOnly = "times and transfers from this GPU; the counts from emulation (--backend emulated)";
    auto refuse = [&](std::string problem, std::string remedy, bool times) {
        out.times = times;
        out.problem = std::move(problem);
        out.remedy = std::move(remedy);
        out.still = times ? kTimesOnly : kEmulation;
        return out;
    };
    if (!seen.driver) return refuse("there is no NVIDIA driver on this machine (libcuda.so.1)", "install the driver if there is a GPU", false);
    if (seen.driver_version)
        out.driver = fmt::format("{}{}CUDA {}.{}{}", seen.driver_release, seen.driver_release.empty() ? "" : " (", seen.driver_version / 1000,
                                 seen.driver_version % 1000 / 10, seen.driver_release.empty() ? "" : ")");
    if (seen.init_error == kCudaNoDevice || (seen.init_error == 0 && seen.devices.empty()))
        return refuse("the NVIDIA driver sees no GPU",
                      "check nvidia-smi and CUDA_VISIBLE_DEVICES; in a container, start it with --gpus all (or the nvidia runtime)", false);
    if (seen.init_error == kCudaInsufficientDriver || seen.init_error == kCudaMismatch)
        return refuse("the driver's library and its kernel module have different versions", "restart the machine or reload the nvidia modules", false);
    if (seen.init_error != 0)
        return refuse(fmt::format("the NVIDIA driver doesn't start (cuInit: error {})", seen.init_error),
                      seen.init_error == kCudaSystemNotReady ? "start nvidia-fabricmanager" : "check nvidia-smi and dmesg", false);
    out.device = seen.devices.front();
    if (!seen.cupti_problem.empty()) return refuse(seen.cupti_problem, "", false);
    if (!seen.injection_problem.empty()) return refuse(seen.injection_problem, "", false);
    if (out.device.compute_capability < kFirstCapability)
        return refuse(fmt::format("{} has compute capability {}.{}; hardware counters can be read from 7.0 (Volta) on", out.device.product,
                                  out.device.compute_capability / 10, out.device.compute_capability % 10),
                      "", true);
    if (seen.driver_version / 1000 < seen.cupti_version / 10000)
        return refuse(fmt::format("the driver supports CUDA {}.{} but this CUPTI is of CUDA {}.{}", seen.driver_version / 1000,
                                  seen.driver_version % 1000 / 10, seen.cupti_version / 10000, seen.cupti_version % 10000 / 100),
                      fmt::format("update the driver, or name a libcupti of CUDA {} in LANESCOPE_CUPTI", seen.driver_version / 1000), true);
    if (out.device.product.find(" MIG ") != std::string::npos)
        return refuse(fmt::format("{} is a slice of a GPU (MIG); CUPTI reads counters of whole GPUs only", out.device.product),
                      "run on a GPU that isn't divided, or disable MIG (nvidia-smi -mig 0)", true);
    if (seen.admin_only && !seen.privileged)
        return refuse("the driver lets only administrators read GPU performance counters (ERR_NVGPUCTRPERM)",
                      "run as root (in a container: --cap-add SYS_ADMIN), or let everyone: put 'options nvidia "
                      "NVreg_RestrictProfilingToAdminUsers=0' into /etc/modprobe.d/ and restart",
                      true);
    out.times = out.counters = true;
    return out;
}

}  // namespace lanescope::hardware
