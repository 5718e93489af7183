// Hardware counters of each launch. With application replay one run of the program submits one pass; the counter image
// travels from run to run as a file. With kernel replay one run does all passes, caches warm from the second on.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "hardware/inject/api.h"
#include "hardware/inject/collector.h"
#include "hardware/inject/session.h"

namespace lanescope::inject {

namespace {

/// The counter image, in the file where the next run finds it: it is some 100 kB a range, too much to copy in every run.
class MappedFile {
public:
    MappedFile() = default;
    ~MappedFile() { close(); }
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    /// False when there is no such file.
    bool open(const std::string& path) { return map(::open(path.c_str(), O_RDWR | O_CLOEXEC), 0); }
    bool create(const std::string& path, size_t size) { return map(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), size); }
    uint8_t* bytes() const { return bytes_; }
    size_t size() const { return size_; }

private:
    bool map(int file, size_t size) {
        close();
        if (file < 0) return false;
        struct stat status {};
        bool sized = size == 0 || ::ftruncate(file, off_t(size)) == 0;
        if (sized && ::fstat(file, &status) == 0 && status.st_size > 0) {
            void* at = ::mmap(nullptr, size_t(status.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
            if (at != MAP_FAILED) {
                bytes_ = static_cast<uint8_t*>(at);
                size_ = size_t(status.st_size);
            }
        }
        ::close(file);
        return bytes_ != nullptr;
    }
    void close() {
        if (bytes_) ::munmap(bytes_, size_);
        bytes_ = nullptr;
        size_ = 0;
    }

    uint8_t* bytes_ = nullptr;
    size_t size_ = 0;
};

class RangeCollector : public Collector {
public:
    void begin() override {
        config_ = slurp(request.config);
        for (auto& name : request.metrics) names_.push_back(name.c_str());
    }

    void context_created(CUcontext context) override {
        if (context_) {
            events.line("note", "second context: no counters from it");
            return;
        }
        CUpti_Profiler_Initialize_Params initialize{CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
        if (!succeeded("cuptiProfilerInitialize", api.cuptiProfilerInitialize(&initialize))) return;
        timing("initialized");
        context_ = context;
        // Already here where the first launch is wanted; the usual place, and outside of any launch.
        if (!request.open_late && next_ < request.segments.size() && request.segments[next_].begin == launches_) open();
    }

    void launch_starting(const LaunchInfo& launch) override {
        if (launch.context != context_) return;
        if (!opened_ && next_ < request.segments.size() && launch.index >= request.segments[next_].begin) open();
        flushed_ = opened_ && launch.selected && request.flush && flush_caches(launch.stream) == Flushed::kByKernel;
        if (first_) timing("first flush");
        first_ = false;
        pushed_ = false;
        if (!opened_ || !request.user_ranges || !launch.selected) return;
        std::string name = std::to_string(launch.index);
        CUpti_RangeProfiler_PushRange_Params push{CUpti_RangeProfiler_PushRange_Params_STRUCT_SIZE};
        push.pRangeProfilerObject = object_;
        push.pRangeName = name.c_str();
        pushed_ = succeeded("cuptiRangeProfilerPushRange", api.cuptiRangeProfilerPushRange(&push));
    }

    void launch_finished(const LaunchInfo& launch, bool ran) override {
        launches_ = launch.index + (ran ? 1 : 0);
        if (launch.context != context_ || !opened_) return;
        if (pushed_) {
            CUpti_RangeProfiler_PopRange_Params pop{CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE};
            pop.pRangeProfilerObject = object_;
            succeeded("cuptiRangeProfilerPopRange", api.cuptiRangeProfilerPopRange(&pop));
        }
        // How the ranges of the image find their launches: some to skip (a kernel of our flush), then one of the launch, if it has one.
        int skipped = request.user_ranges ? 0 : int(flushed_);
        bool own = request.user_ranges ? pushed_ && ran : ran;
        events.line("range", launch.index, request.segments[next_].index, skipped, int(own));
        if (ran && launch.index >= request.segments[next_].end) close();
    }

    void context_destroyed(CUcontext context) override {
        if (context == context_) end();
    }

    void end() override {
        if (opened_) close();
        forget_flush();
        context_ = nullptr;
    }

private:
    std::string image_path(const Segment& segment) const { return request.images + "/" + std::to_string(segment.index) + ".image"; }

    // Each segment has a profiler of its own: one that has seen another segment goes on counting passes where that ended.
    void open() {
        const Segment& segment = request.segments[next_];
        CUpti_RangeProfiler_Enable_Params enable{CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE};
        enable.ctx = context_;
        if (!succeeded("cuptiRangeProfilerEnable", api.cuptiRangeProfilerEnable(&enable))) return give_up();
        object_ = enable.pRangeProfilerObject;
        timing("enabled");
        // cuptiRangeProfilerStart takes the longer the more there may be.
        bool flush_has_range = request.flush && !request.user_ranges && flush_is_a_launch(context_);
        size_t ranges = size_t(segment.end - segment.begin + 1) * (flush_has_range ? 2 : 1) + 8;
        if (!image_.open(image_path(segment))) {
            CUpti_RangeProfiler_GetCounterDataSize_Params size{CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE};
            size.pRangeProfilerObject = object_;
            size.pMetricNames = names_.data();
            size.numMetrics = names_.size();
            size.maxNumOfRanges = ranges;
            size.maxNumRangeTreeNodes = uint32_t(ranges);
            if (!succeeded("cuptiRangeProfilerGetCounterDataSize", api.cuptiRangeProfilerGetCounterDataSize(&size))) return give_up();
            if (!image_.create(image_path(segment), size.counterDataSize)) {
                events.line("error", "create counter image", errno, std::string(std::strerror(errno)));
                return give_up();
            }
            CUpti_RangeProfiler_CounterDataImage_Initialize_Params image{CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE};
            image.pRangeProfilerObject = object_;
            image.counterDataSize = image_.size();
            image.pCounterData = image_.bytes();
            if (!succeeded("cuptiRangeProfilerCounterDataImageInitialize", api.cuptiRangeProfilerCounterDataImageInitialize(&image)))
                return give_up();
        }
        timing("image");
        CUpti_RangeProfiler_SetConfig_Params config{CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE};
        config.pRangeProfilerObject = object_;
        config.configSize = config_.size();
        config.pConfig = reinterpret_cast<const uint8_t*>(config_.data());
        config.counterDataImageSize = image_.size();
        config.pCounterDataImage = image_.bytes();
        config.range = request.user_ranges ? CUPTI_UserRange : CUPTI_AutoRange;
        config.replayMode = request.kernel_replay ? CUPTI_KernelReplay : CUPTI_ApplicationReplay;
        config.maxRangesPerPass = ranges;
        config.numNestingLevels = 1;
        config.minNestingLevel = 1;
        config.passIndex = segment.pass;
        config.targetNestingLevel = uint16_t(segment.nesting);
        if (!succeeded("cuptiRangeProfilerSetConfig", api.cuptiRangeProfilerSetConfig(&config))) return give_up();
        timing("configured");
        CUpti_RangeProfiler_Start_Params start{CUpti_RangeProfiler_Start_Params_STRUCT_SIZE};
        start.pRangeProfilerObject = object_;
        if (!succeeded("cuptiRangeProfilerStart", api.cuptiRangeProfilerStart(&start))) return give_up();
        opened_ = true;
        timing("started");
    }

    void close() {
        opened_ = false;
        read(request.segments[next_++]);
        disable();
    }

    void read(const Segment& segment) {
        timing("stopping");
        CUpti_RangeProfiler_Stop_Params stop{CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE};
        stop.pRangeProfilerObject = object_;
        if (!succeeded("cuptiRangeProfilerStop", api.cuptiRangeProfilerStop(&stop))) return;
        timing("stopped");
        CUpti_RangeProfiler_DecodeData_Params decode{CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE};
        decode.pRangeProfilerObject = object_;
        if (!succeeded("cuptiRangeProfilerDecodeData", api.cuptiRangeProfilerDecodeData(&decode))) return;
        CUpti_RangeProfiler_GetCounterDataInfo_Params info{CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE};
        info.pCounterDataImage = image_.bytes();
        info.counterDataImageSize = image_.size();
        if (!succeeded("cuptiRangeProfilerGetCounterDataInfo", api.cuptiRangeProfilerGetCounterDataInfo(&info))) return;
        timing("decoded");
        events.line("segment", segment.index, stop.passIndex, stop.targetNestingLevel, unsigned(stop.isAllPassSubmitted),
                    decode.numOfRangeDropped, info.numTotalRanges);
        events.flush();
    }

    void disable() {
        CUpti_RangeProfiler_Disable_Params disable{CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE};
        disable.pRangeProfilerObject = object_;
        object_ = nullptr;
        succeeded("cuptiRangeProfilerDisable", api.cuptiRangeProfilerDisable(&disable));
        timing("disabled");
    }

    void give_up() {
        next_ = request.segments.size();
        if (object_) disable();
    }

    CUpti_RangeProfiler_Object* object_ = nullptr;
    CUcontext context_ = nullptr;
    std::string config_;
    MappedFile image_;
    std::vector<const char*> names_;
    size_t next_ = 0;             ///< segment that is open or comes next
    bool opened_ = false, flushed_ = false, pushed_ = false, first_ = true;
    uint64_t launches_ = 0;
};

}  // namespace

std::unique_ptr<Collector> make_range_collector() { return std::make_unique<RangeCollector>(); }

}  // namespace lanescope::inject
