// The runs of one request, in order: times, lines, counters; and what to fall back on where one of them can't be had.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <future>
#include <nlohmann/json.hpp>
#include <set>

#include "base/demangle.h"
#include "base/file.h"
#include "gpu/description.h"
#include "hardware/cupti.h"
#include "hardware/hardware.h"
#include "hardware/injection.h"
#include "hardware/merge.h"
#include "hardware/metrics.h"
#include "profile/catalogue.h"

namespace lanescope::hardware {

namespace fs = std::filesystem;

namespace {

constexpr int kInsufficientPrivileges = 35, kVirtualPrivileges = 40, kMig = 43;  // CUptiResult

struct Folder {
    fs::path path;
    Folder() {
        std::string name = (fs::temp_directory_path() / "lanescope-XXXXXX").string();
        if (::mkdtemp(name.data())) path = name;
    }
    ~Folder() {
        std::error_code ignored;
        if (!path.empty() && !std::getenv("LANESCOPE_KEEP_SESSION")) fs::remove_all(path, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
};

/// Counters as they are asked for: CUPTI's name on this chip, and the name in the profile.
struct Counters {
    std::vector<std::string> names, profile_names, unsupported;
    Cupti::Plan plan;
};

base::Result<Counters> choose_counters(const Request& request, const Cupti& cupti, const std::string& chip) {
    std::vector<std::string> wanted = request.metrics ? *request.metrics : default_metrics();
    wanted.insert(wanted.end(), request.extra_metrics.begin(), request.extra_metrics.end());
    std::vector<std::string> tried;
    for (auto& metric : wanted)
        for (auto& name : names_on_chips(metric)) tried.push_back(name);
    auto supported = cupti.supported(chip, tried);
    Counters out;
    for (size_t i = 0, next = 0; i < wanted.size(); ++i) {
        size_t first = next;
        next += names_on_chips(wanted[i]).size();
        if (std::count(out.profile_names.begin(), out.profile_names.end(), wanted[i])) continue;
        auto found = std::find(supported.begin() + ptrdiff_t(first), supported.begin() + ptrdiff_t(next), true);
        if (found == supported.begin() + ptrdiff_t(next)) {
            out.unsupported.push_back(wanted[i]);
            continue;
        }
        out.names.push_back(tried[size_t(found - supported.begin())]);
        out.profile_names.push_back(wanted[i]);
    }
    if (out.names.empty()) return out;
    auto plan = cupti.plan(chip, out.names);
    if (!plan) return plan.errors();
    out.plan = *plan;
    return out;
}

class Collection {
public:
    explicit Collection(const Request& request) : request_(request), input_(folder_.path) {}

    base::Result<Outcome> run();

private:
    struct Run {
        Events events;
        Ended ended;
    };
    struct Kind {
        std::string mode;         ///< activity, sass or range
        std::string more;         ///< further lines of the request
        bool first = false;
    };
    base::Result<Run> once(const Kind& kind, double limit);
    void collect_lines();
    void collect_counters();
    bool collect_by_kernel_replay(const std::string& reason);
    std::string counters_request(const char* replay, const fs::path& images, bool flush) const;
    void end_before_fault();
    void spare_passes();
    void drop_times();
    bool read_counters(const Events& events, const fs::path& images);
    void describe();
    void step(const std::string& doing);
    void warn(std::string text) {
        if (std::find(outcome_.warnings.begin(), outcome_.warnings.end(), text) == outcome_.warnings.end())
            outcome_.warnings.push_back(std::move(text));
    }
    bool cancelled() const { return request_.cancelled && request_.cancelled(); }
    void explain(const Events& events, const std::string& lost);
    double limit() const { return request_.time_limit > 0 ? request_.time_limit : std::max(60.0, 30 * first_.ended.seconds); }

    const Request& request_;
    Availability available_;
    Folder folder_;
    Input input_;
    std::optional<Cupti> cupti_;
    Counters counters_;
    Run first_;
    Selection selection_;
    Outcome outcome_;
    std::set<std::string> executed_;  ///< spaces and operations of all instructions that ran; empty: not known
    uint32_t run_ = 0, runs_ = 1;
    bool denied_ = false;
};

void Collection::step(const std::string& doing) {
    ++run_;
    if (request_.progress) request_.progress({run_, std::max(run_, runs_), doing});
}

base::Result<Collection::Run> Collection::once(const Kind& kind, double limit) {
    fs::path folder = folder_.path / std::to_string(run_);
    std::error_code error;
    fs::create_directory(folder, error);
    if (error) return base::error("cannot make a folder for the session: " + error.message());
    std::string text = fmt::format("mode {}\ncupti {}\n{}", kind.mode, cupti_->path(), kind.more);
    for (auto& [begin, end] : selection_) text += fmt::format("select {} {}\n", begin, end);
    if (auto status = base::write_file(folder / "request", text); !status) return status.errors();

    auto library = injection_library();
    if (!library) return library.errors();
    Command command;
    command.argv = request_.argv;
    command.environment = {{"CUDA_INJECTION64_PATH", *library}, {"LANESCOPE_SESSION", folder.string()}};
    command.input = input_.open_run(kind.first);
    command.quiet = !kind.first;
    auto process = Process::start(command);
    input_.opened();
    if (!process) return process.errors();
    Run run;
    run.ended = process->wait(limit, request_.cancelled);
    if (kind.first) input_.stop_recording();
    if (auto bytes = base::read_file(folder / "events")) {
        auto events = parse_events(*bytes, (folder / "events").string());
        if (!events) return events.errors();
        run.events = std::move(*events);
    }
    size_t others = 0;
    for (auto& entry : fs::directory_iterator(folder, error)) others += entry.path().filename().string().starts_with("other.");
    if (others)
        warn(fmt::format("{} more process{} of the program used the GPU and {} not measured: only the first one is", others,
                         others == 1 ? "" : "es", others == 1 ? "was" : "were"));
    return run;
}

/// Says why a kind of collection gave nothing.
void Collection::explain(const Events& events, const std::string& lost) {
    for (auto& failed : events.failed) {
        if (failed.code == kInsufficientPrivileges || failed.code == kVirtualPrivileges) {
            denied_ = true;
            return warn(lost + ": the driver lets only administrators read GPU performance counters (ERR_NVGPUCTRPERM); run as root, or put "
                               "'options nvidia NVreg_RestrictProfilingToAdminUsers=0' into /etc/modprobe.d/ and restart");
        }
        if (failed.code == kMig) return warn(lost + ": this is a slice of a GPU (MIG); CUPTI reads counters of whole GPUs only");
        return warn(fmt::format("{}: {} failed: {} ({})", lost, failed.call, failed.text, failed.code));
    }
    if (!events.loaded) return warn(lost + ": the program didn't load the CUDA driver in this run");
    warn(lost + (events.notes.empty() ? "" : ": " + events.notes.front()));
}

base::Result<Outcome> Collection::run() {
    if (folder_.path.empty()) return base::error("cannot make a folder for the session in " + fs::temp_directory_path().string());
    auto cupti = Cupti::load();
    if (!cupti) return cupti.errors();
    cupti_ = std::move(*cupti);
    // The driver takes its time to start; the program's first run needs nothing of what the probe finds.
    auto probing = std::async(std::launch::async, [&]() -> base::Status {
        available_ = request_.available ? *request_.available : probe();
        if (!available_.counters) return {};
        auto counters = choose_counters(request_, *cupti_, available_.device.chip);
        if (!counters) return counters.errors();
        counters_ = std::move(*counters);
        return {};
    });
    if (request_.available) probing.wait();  // then the number of runs is known beforehand
    runs_ = 1 + (request_.available && available_.counters ? uint32_t(request_.lines) + counters_.plan.passes : 0);
    step("times and transfers");
    auto first = once({.mode = "activity", .first = true}, 0);
    if (base::Status probed = probing.get(); !probed) return probed.errors();
    if (!available_.times) return base::error(available_.problem + (available_.remedy.empty() ? "" : "; " + available_.remedy));
    if (!first) return first.errors();
    runs_ = 1 + (available_.counters ? uint32_t(request_.lines) + counters_.plan.passes : 0);
    first_ = std::move(*first);
    outcome_.exit_status = first_.ended.exit_status;
    describe();
    if (!first_.events.loaded) {
        warn("the program never started CUDA (or is a set-user-id or 32-bit program), so there is nothing to measure");
        return outcome_;
    }
    if (!first_.events.subscribed) explain(first_.events, "no times, no transfers");
    for (auto& note : first_.events.notes) warn(note);
    if (first_.events.dropped) warn(fmt::format("{} records of kernels and transfers were lost", first_.events.dropped));
    if (first_.ended.signal)
        warn(fmt::format("the program was ended by signal {} ({}): what it did up to there was measured", first_.ended.signal,
                         strsignal(first_.ended.signal)));
    selection_ = select(first_.events.launches, request_);
    add_times(outcome_.profile, first_.events, selection_, available_.device);
    if (outcome_.profile.launches.empty())
        warn(first_.events.launches.empty() ? "the program launched no kernel" : "no kernel launch matches what was asked for");
    bool more = available_.counters && !outcome_.profile.launches.empty() && !first_.ended.cancelled && !cancelled();
    if (more && input_.lost()) warn("the program reads from a terminal only in its first run; the others see an empty input");
    if (more && request_.lines) collect_lines();
    if (more && !denied_ && !counters_.names.empty() && !cancelled()) collect_counters();

    if (!available_.counters && !available_.problem.empty()) warn("no counters: " + available_.problem);
    for (auto& launch : outcome_.profile.launches) {
        for (auto& name : counters_.unsupported) launch.absent[name] = available_.device.chip + " has no counter of this name";
        auto time = launch.metrics.find("lanescope__time_in_program.sum");
        if (time != launch.metrics.end()) launch.metrics.try_emplace("gpu__time_duration.sum", time->second);
        complete(launch);
        for (auto& [name, value] : launch.metrics) launch.absent.erase(name);
    }
    profile::add_sources(outcome_.profile);
    outcome_.profile.settings["runs"] = std::to_string(run_);
    return std::move(outcome_);
}

void Collection::collect_lines() {
    step("counts by source line");
    fs::path cubin_folder = folder_.path / "cubins";
    fs::create_directory(cubin_folder);
    std::string more = fmt::format("images {}\n", cubin_folder.string());
    for (auto& metric : sass_metrics())
        for (auto& names : metric.alternatives)
            for (auto& name : names) more += "metric " + name + "\n";
    auto run = once({.mode = "sass", .more = more}, limit());
    if (!run) return warn("no counts by source line: " + run.errors().front().message);
    if (run->ended.cancelled) return;
    if (run->ended.timed_out)
        return warn(fmt::format("no counts by source line: the program was stopped after {:.0f} s; kernel totals remain", limit()));
    if (run->events.sass.empty()) return explain(run->events, "no counts by source line");
    if (std::string what = difference(first_.events.launches, run->events.launches); !what.empty())
        warn("the program's launches differ from run to run (" + what + "): counts by source line are those of the second run");
    std::map<uint32_t, Cubin> cubins;
    for (auto& [crc, name] : run->events.cubins) {
        auto bytes = base::read_file(cubin_folder / name);
        if (!bytes) continue;
        auto cubin = Cubin::parse(*bytes, name);
        if (cubin) cubins.emplace(crc, std::move(*cubin));
        else warn("no source lines for some kernels: " + base::to_string(cubin.errors().front()));
    }
    add_lines(outcome_.profile, run->events, cubins, available_.device.compute_capability);
    executed_ = executed(run->events, selection_, cubins, available_.device.compute_capability);
}

void Collection::end_before_fault() {
    // A kernel that faults takes the whole image with it, so that the last range must end before.
    for (auto& event : first_.events.launches)
        for (auto& kernel : first_.events.kernels) {
            if (kernel.correlation != event.correlation || kernel.end > kernel.start || !contains(selection_, event.index)) continue;
            warn(fmt::format("launch {} ({}) failed on the GPU: counters end before it", event.index, base::demangle(event.symbol)));
            while (!selection_.empty() && selection_.back().first >= event.index) selection_.pop_back();
            if (!selection_.empty()) selection_.back().second = std::min(selection_.back().second, event.index - 1);
            return;
        }
}

void Collection::drop_times() {
    for (auto& launch : outcome_.profile.launches) {
        for (auto metric = launch.metrics.begin(); metric != launch.metrics.end();) {
            auto has = [&](const char* part) { return metric->first.find(part) != std::string::npos; };
            bool timed = has("gpu__time") || has("cycles_elapsed") || has("sustained_elapsed") || has("per_second");
            if (timed) launch.absent[metric->first] = "the program launches graphs, so counters were taken around launches: their times include more";
            metric = timed ? launch.metrics.erase(metric) : std::next(metric);
        }
    }
}

bool Collection::read_counters(const Events& events, const fs::path& images) {
    size_t read = 0;
    for (auto& segment : events.segments) {
        if (segment.dropped) warn(fmt::format("counters of {} launches were lost", segment.dropped));
        auto image = base::read_file(images / fmt::format("{}.image", segment.index));
        if (!image) continue;
        auto values = cupti_->evaluate(available_.device.chip, *image, counters_.names, segment.ranges);
        if (!values) {
            warn("no counters: " + values.errors().front().message);
            continue;
        }
        std::string problem = add_counters(outcome_.profile, events, segment.index, counters_.profile_names, *values);
        if (problem.empty()) ++read;
        else warn("no counters: " + problem);
    }
    return read != 0;
}

/// Counters of instructions that no kernel executed are zero; the passes they would take are spared. So are two of the three that
/// requests of textures and surfaces take together, where there are no surfaces.
void Collection::spare_passes() {
    if (executed_.empty()) return;
    auto idle = [&](const std::string& name) {
        auto of = [&](std::string_view part) { return name.find(part) != std::string::npos; };
        auto ran = [&](const char* what) { return executed_.contains(what); };
        if (!name.starts_with("l1tex__") && !name.starts_with("smsp__")) return false;
        if (of("pipe_tex")) return !ran("texture") && !ran("surface");
        if (of("mem_local")) return !ran("local");
        if (of("op_shared") || of("mem_shared")) return !ran("shared");
        return (of("mem_global_op_red") || of("mem_global_op_atom")) && !ran("reduction") && !ran("atomic");
    };
    const std::vector<std::string> textures{"l1tex__t_requests_pipe_tex_mem_texture.sum"};
    bool textures_alone = !executed_.contains("surface") && cupti_->supported(available_.device.chip, textures).front();
    Counters left;
    for (size_t i = 0; i < counters_.names.size(); ++i) {
        // A quotient over nothing is no zero.
        if (counters_.names[i].ends_with(".sum") && idle(counters_.names[i])) {
            for (auto& launch : outcome_.profile.launches) launch.metrics.emplace(counters_.profile_names[i], 0.0);
        } else {
            bool as_texture = textures_alone && counters_.names[i] == "l1tex__t_requests_pipe_tex.sum";
            left.names.push_back(as_texture ? textures.front() : counters_.names[i]);
            left.profile_names.push_back(counters_.profile_names[i]);
        }
    }
    if (left.names == counters_.names) return;
    if (!left.names.empty()) {
        auto plan = cupti_->plan(available_.device.chip, left.names);
        if (!plan) return;
        left.plan = *plan;
    }
    left.unsupported = counters_.unsupported;
    counters_ = std::move(left);
    runs_ = run_ + counters_.plan.passes;
}

/// What a process needs to know besides its segments.
std::string Collection::counters_request(const char* replay, const fs::path& images, bool flush) const {
    // Collecting every kernel by itself fails where graphs are launched (CUPTI 13.0); ranges around the launches don't.
    bool around = std::any_of(first_.events.launches.begin(), first_.events.launches.end(), [](auto& launch) { return launch.graph; });
    bool late = !first_.events.launches.empty() && first_.events.launches.front().stretch != 0;
    std::string out = fmt::format("images {}\nconfig {}\nreplay {}\nranges {}\nopen {}\nflush {}\n", images.string(), (folder_.path / "config").string(),
                                  replay, around ? "user" : "auto", late ? "late" : "early", int(flush));
    for (auto& name : counters_.names) out += "metric " + name + "\n";
    return out;
}

void Collection::collect_counters() {
    end_before_fault();
    spare_passes();
    if (counters_.names.empty()) return;
    if (auto status = base::write_file(folder_.path / "config", counters_.plan.config); !status) return warn(status.errors().front().message);
    struct State {
        SegmentPlan plan;
        uint64_t pass = 0, nesting = 1;
        bool complete = false;
    };
    std::vector<State> states;
    for (auto& plan : segments(first_.events.launches, selection_)) states.push_back({plan});
    fs::path images = folder_.path / "images";
    fs::create_directory(images);
    const std::string common = counters_request("application", images, !request_.warm);
    Events last;
    for (uint32_t pass = 1; pass <= counters_.plan.passes; ++pass) {
        step(fmt::format("counters, pass {} of {}", pass, counters_.plan.passes));
        std::string more = common;
        for (size_t i = 0; i < states.size(); ++i)
            more += fmt::format("segment {} {} {} {} {}\n", i, states[i].plan.begin, states[i].plan.end, states[i].pass, states[i].nesting);
        auto run = once({.mode = "range", .more = more}, limit());
        if (!run) return warn("no counters: " + run.errors().front().message);
        if (run->ended.cancelled) return warn("counters were not completed: interrupted");
        if (run->ended.timed_out) return warn(fmt::format("no counters: the program was stopped after {:.0f} s", limit()));
        if (run->events.segments.empty()) return explain(run->events, "no counters");
        if (std::string what = difference(first_.events.launches, run->events.launches); !what.empty()) {
            collect_by_kernel_replay(what);
            return;
        }
        for (auto& segment : run->events.segments) {
            if (segment.index >= states.size()) continue;
            states[segment.index].pass = segment.pass;
            states[segment.index].nesting = segment.nesting;
            states[segment.index].complete = segment.complete;
        }
        last = std::move(run->events);
        if (std::all_of(states.begin(), states.end(), [](auto& s) { return s.complete; })) break;
    }
    if (!std::all_of(states.begin(), states.end(), [](auto& s) { return s.complete; }))
        warn("some launches lack counters: not every pass reached them");
    outcome_.profile.settings["replay"] = "application";
    if (!request_.warm) outcome_.profile.settings["flush"] = last.flush.empty() ? "none" : last.flush;
    read_counters(last, images);
    if (common.find("ranges user") != std::string::npos) drop_times();
    if (!last.failed.empty()) explain(last, "counters may be incomplete");
}

bool Collection::collect_by_kernel_replay(const std::string& reason) {
    step("counters, kernel by kernel");
    fs::path images = folder_.path / "replayed";
    fs::create_directory(images);
    std::string more = counters_request("kernel", images, false);
    // Which launches there will be isn't known now, so the images cover the numbers, whatever is launched under them.
    uint64_t index = 0;
    for (auto& plan : segments(first_.events.launches, selection_)) more += fmt::format("segment {} {} {} 0 1\n", index++, plan.begin, plan.end);
    auto run = once({.mode = "range", .more = more}, limit() * counters_.plan.passes);
    if (!run || run->events.segments.empty()) {
        if (run) explain(run->events, "no counters");
        return false;
    }
    warn("the program's launches differ from run to run (" + reason +
         "): counters were taken by repeating each kernel, with caches as the kernel itself left them; traffic to L2 and memory is not comparable");
    outcome_.profile.settings["replay"] = "kernel";
    for (auto& launch : outcome_.profile.launches)
        launch.notes.push_back("counters by kernel replay: caches were not flushed between passes, so L2 and memory traffic differ from a cold run");
    return read_counters(run->events, images);
}

void Collection::describe() {
    profile::Profile& profile = outcome_.profile;
    const Device& device = available_.device;
    profile.backend = "hardware";
    profile.argv = request_.argv;
    profile.gpu_name = device.product;
    for (auto& name : gpu::known_names())
        if (auto description = gpu::load(name); description && description->product == device.product) profile.gpu_name = name;
    nlohmann::json numbers = {{"product", device.product},
                              {"chip", device.chip},
                              {"compute_capability", device.compute_capability},
                              {"sms", device.sms},
                              {"l2_bytes", device.l2_bytes},
                              {"memory_bytes", device.memory_bytes},
                              {"clock_mhz", device.sm_khz / 1e3},
                              {"memory_clock_mhz", device.memory_khz / 1e3},
                              {"bus_bits", device.bus_bits},
                              {"driver", available_.driver}};
    profile.gpu_json = numbers.dump();
    profile.settings["caches"] = request_.warm ? "warm" : "cold";
    profile.settings["driver"] = available_.driver;
    uint32_t version = first_.events.cupti_version;
    if (version) profile.settings["cupti"] = fmt::format("{}.{}.{}", version / 10000, version % 10000 / 100, version % 100);
    std::time_t now = std::time(nullptr);
    std::tm today{};
    char date[sizeof "2026-01-31"];
    std::strftime(date, sizeof date, "%Y-%m-%d", gmtime_r(&now, &today));
    profile.settings["date"] = date;
}

}  // namespace

base::Result<Outcome> run(const Request& request) {
    if (request.argv.empty()) return base::error("no program to run");
    if (auto selector = profile::LaunchSelector::make(request.launches); !selector) return selector.errors();
    return Collection(request).run();
}

base::Result<Runs> plan(const Request& request, const Availability& available) {
    Runs runs;
    runs.lines = request.lines && available.counters ? 1 : 0;
    if (!available.counters) return runs;
    auto cupti = Cupti::load();
    if (!cupti) return cupti.errors();
    auto counters = choose_counters(request, *cupti, available.device.chip);
    if (!counters) return counters.errors();
    runs.counters = counters->plan.passes;
    runs.metrics = counters->profile_names;
    runs.unsupported = counters->unsupported;
    return runs;
}

}  // namespace lanescope::hardware
