// Counts of each machine instruction, launch by launch.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "hardware/inject/api.h"
#include "hardware/inject/collector.h"
#include "hardware/inject/session.h"

namespace lanescope::inject {

namespace {

class SassCollector : public Collector {
public:
    void context_created(CUcontext context) override {
        if (context_) {
            events.line("note", "second context: no counts by line from it");
            return;
        }
        // After a reset of the device the configuration is still set, and setting it again fails.
        if (!columns_.empty() || configure()) enable(context);
    }

    bool configure() {
        CUdevice device = 0;
        CUpti_Profiler_Initialize_Params initialize{CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
        if (!succeeded("cuptiProfilerInitialize", api.cuptiProfilerInitialize(&initialize)) ||
            !succeeded("cuCtxGetDevice", api.cuCtxGetDevice(&device)))
            return false;
        CUpti_Device_GetChipName_Params chip{CUpti_Device_GetChipName_Params_STRUCT_SIZE};
        chip.deviceIndex = size_t(device);
        if (!succeeded("cuptiDeviceGetChipName", api.cuptiDeviceGetChipName(&chip))) return false;
        std::vector<CUpti_SassMetrics_Config> configs;
        for (auto& name : request.metrics) {
            CUpti_SassMetrics_GetProperties_Params properties{CUpti_SassMetrics_GetProperties_Params_STRUCT_SIZE};
            properties.pChipName = chip.pChipName;
            properties.pMetricName = name.c_str();
            if (api.cuptiSassMetricsGetProperties(&properties) != CUPTI_SUCCESS) {
                events.line("missing", name);  // this chip has no such count
                continue;
            }
            column_[properties.metric.metricId] = columns_.size();
            columns_.push_back(name);
            // Sums over SMs are wrong at the finer granularities.
            configs.push_back({properties.metric.metricId, CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_GPU});
        }
        if (configs.empty()) return false;
        std::string names;
        for (auto& name : columns_) {
            if (!names.empty()) names += ' ';
            names += name;
        }
        events.line("columns", names);
        CUpti_SassMetricsSetConfig_Params config{CUpti_SassMetricsSetConfig_Params_STRUCT_SIZE};
        config.pConfigs = configs.data();
        config.numOfMetricConfig = configs.size();
        config.deviceIndex = uint32_t(device);
        if (!succeeded("cuptiSassMetricsSetConfig", api.cuptiSassMetricsSetConfig(&config))) return false;
        device_ = uint32_t(device);
        return true;
    }

    void enable(CUcontext context) {
        CUpti_SassMetricsEnable_Params params{CUpti_SassMetricsEnable_Params_STRUCT_SIZE};
        params.ctx = context;
        params.enableLazyPatching = 1;  // without it functions are missed
        if (succeeded("cuptiSassMetricsEnable", api.cuptiSassMetricsEnable(&params))) context_ = context;
    }

    void launch_finished(const LaunchInfo& launch, bool ran) override {
        if (!ran || !context_ || launch.context != context_) return;
        if (launch.graph) api.cuCtxSynchronize();
        // Counts add up until they are flushed; those of launches nobody asked for must not reach the next one.
        flush(launch.index, launch.selected);
    }

    void collect(bool on) override {
        if (on && context_ && api.cuCtxSynchronize() == CUDA_SUCCESS) flush(0, false);
    }

    void module_loaded(const CUpti_ModuleResourceData& module) override {
        CUpti_GetCubinCrcParams crc{CUpti_GetCubinCrcParamsSize};
        crc.cubin = module.pCubin;
        crc.cubinSize = module.cubinSize;
        if (!module.pCubin || !module.cubinSize || !succeeded("cuptiGetCubinCrc", api.cuptiGetCubinCrc(&crc))) return;
        std::string name = std::to_string(crc.cubinCrc) + ".cubin";
        if (replace(request.images + "/" + name, module.pCubin, module.cubinSize)) events.line("cubin", crc.cubinCrc, name);
    }

    void context_destroyed(CUcontext context) override {
        if (context == context_) disable();
    }

    void end() override {
        disable();
        if (columns_.empty()) return;
        CUpti_SassMetricsUnsetConfig_Params unset{CUpti_SassMetricsUnsetConfig_Params_STRUCT_SIZE};
        unset.deviceIndex = device_;
        succeeded("cuptiSassMetricsUnsetConfig", api.cuptiSassMetricsUnsetConfig(&unset));
    }

private:
    void disable() {
        if (!context_) return;
        CUpti_SassMetricsDisable_Params disable{CUpti_SassMetricsDisable_Params_STRUCT_SIZE};
        disable.ctx = context_;
        context_ = nullptr;
        succeeded("cuptiSassMetricsDisable", api.cuptiSassMetricsDisable(&disable));
    }

    void flush(uint64_t launch, bool keep) {
        CUpti_SassMetricsGetDataProperties_Params properties{CUpti_SassMetricsGetDataProperties_Params_STRUCT_SIZE};
        properties.ctx = context_;
        if (!succeeded("cuptiSassMetricsGetDataProperties", api.cuptiSassMetricsGetDataProperties(&properties))) return;
        size_t records = properties.numOfPatchedInstructionRecords, instances = properties.numOfInstances;
        if (!records || !instances) return;
        std::vector<CUpti_SassMetrics_Data> data(records);
        std::vector<CUpti_SassMetrics_InstanceValue> values(records * instances);
        for (size_t i = 0; i < records; ++i) {
            data[i].structSize = CUpti_SassMetricsFlushData_Params_STRUCT_SIZE;
            data[i].pInstanceValues = &values[i * instances];
        }
        CUpti_SassMetricsFlushData_Params flush{CUpti_SassMetricsFlushData_Params_STRUCT_SIZE};
        flush.ctx = context_;
        flush.numOfPatchedInstructionRecords = records;
        flush.numOfInstances = instances;
        flush.pMetricsData = data.data();
        if (!succeeded("cuptiSassMetricsFlushData", api.cuptiSassMetricsFlushData(&flush)) || !keep) return;
        // One record a metric and instruction; one line of the answer an instruction.
        // Functions are told apart by name: CUPTI 13.0 gives all of a module the index 0.
        using Instruction = std::tuple<uint32_t, size_t, uint32_t>;
        std::map<Instruction, std::vector<uint64_t>> rows;
        for (auto& record : data) {
            auto [function, fresh] = functions_.try_emplace({record.cubinCrc, record.functionName}, functions_.size());
            if (fresh) events.line("function", record.cubinCrc, function->second, record.functionName);
            auto& row = rows[{record.cubinCrc, function->second, record.pcOffset}];
            row.resize(columns_.size());
            for (size_t i = 0; i < instances; ++i)
                if (auto column = column_.find(record.pInstanceValues[i].metricId); column != column_.end())
                    row[column->second] += record.pInstanceValues[i].value;
        }
        for (auto& [instruction, row] : rows) {
            if (std::all_of(row.begin(), row.end(), [](uint64_t value) { return value == 0; })) continue;
            std::string text;
            for (uint64_t value : row) {
                if (!text.empty()) text += ' ';
                text += std::to_string(value);
            }
            events.line("sass", launch, std::get<0>(instruction), std::get<1>(instruction), std::get<2>(instruction), text);
        }
    }

    CUcontext context_ = nullptr;
    uint32_t device_ = 0;
    std::vector<std::string> columns_;
    std::map<uint64_t, size_t> column_;
    std::map<std::pair<uint32_t, std::string>, size_t> functions_;  // → number in order of appearance
};

}  // namespace

std::unique_ptr<Collector> make_sass_collector() { return std::make_unique<SassCollector>(); }

}  // namespace lanescope::inject
