// Textures and surfaces: tex, tld4, txq, suld, sust, suq. What a texture unit computes for one lane is sample.h's.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/decoder.h"
#include "exec/run.h"
#include "exec/sample.h"

namespace lanescope::exec {
namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Suffix;
using ptx::Type;

enum class Boundary : uint8_t { kTrap, kClamp, kZero };

struct TexturePlan {
    Row handle;
    std::vector<Row> coordinates;      // with the layer in front
    unsigned dimensions = 2, component = 0;
    bool layered = false, cube = false, integer = false, gather = false, half = false;
    // surfaces
    uint8_t element_bytes = 4, vector = 1;
    unsigned register_bits = 32;
    bool store = false;
    Boundary boundary = Boundary::kTrap;
    Suffix query = Suffix::kWidth;
    std::vector<Access> accesses;
};

const Texture* texture_of(Run& run, const Step& step, const TexturePlan& plan, unsigned lane) {
    const uint64_t handle = run.row<const uint64_t>(plan.handle)[lane];
    if (run.sinks.textures != nullptr)
        if (const auto it = run.sinks.textures->find(handle); it != run.sinks.textures->end()) return &it->second;
    run.fail(FaultKind::kIllegal, step, lane, fmt::format("{:#x} is no texture or surface object", handle));
    return nullptr;
}

/// The host's view of a texture's first byte; nullptr (faulted): its memory is gone.
std::byte* texels_of(Run& run, const Step& step, const Texture& texture, unsigned lane) {
    const Allocation* allocation = run.memory.find(texture.address);
    if (allocation == nullptr) {
        run.fail_access(FaultKind::kUseAfterFree, step, lane, texture.address, 1, false);
        return nullptr;
    }
    return reinterpret_cast<std::byte*>(texture.address + uint64_t(allocation->host_delta));
}

/// Announces what the lanes read: `count` texel addresses a lane. `linear`: of linear memory.
uint64_t announce_texels(Run& run, const TexturePlan& plan, Space space, uint32_t active, const uint64_t* texels, uint32_t count, const int32_t* xyz,
                         uint32_t texel_bytes, bool linear = false) {
    if (active == 0) return run.time;
    if (run.listener == nullptr) return run.time + run.machine.global_latency;
    AccessEvent event;
    event.site = plan.accesses[0].site;
    event.space = space;
    event.active = active;
    event.sm = run.sm->index;
    event.warp_slot = run.warp->slot;
    event.block_slot = run.block->slot;
    event.block = run.block->index;
    event.warp = run.warp->index;
    event.time = run.time;
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) run.addresses[lane] = texels[lane * count];
    event.addresses = run.addresses;
    event.texels = linear ? nullptr : texels;
    event.texels_per_lane = linear ? 0 : count;
    event.texel_bytes = uint8_t(texel_bytes);
    event.texel_xyz = xyz;
    return run.time + run.listener->on_access(event);
}

Coordinates coordinates_of(const Run& run, const TexturePlan& plan, unsigned lane) {
    Coordinates c;
    size_t i = 0;
    const auto word = [&](size_t index) { return index < plan.coordinates.size() ? run.row<const uint32_t>(plan.coordinates[index])[lane] : 0u; };
    if (plan.layered) c.layer = int32_t(word(i++));
    c.integer = plan.integer;
    for (unsigned d = 0; d < plan.dimensions; ++d) {
        c.texel[d] = int32_t(word(i + d));
        c.at[d] = std::bit_cast<float>(word(i + d));
    }
    if (plan.cube) {
        float s = 0, t = 0;
        const uint32_t face = cube_face(c.at[0], c.at[1], c.at[2], s, t);
        c.at = {s, t, 0};
        c.layer = int32_t(uint32_t(c.layer) * 6 + face);
    }
    return c;
}

const Step* fetch(Run& run, const Step& step, uint32_t active) {
    const auto& plan = *static_cast<const TexturePlan*>(step.plan);
    Sample samples[kWarpLanes];
    uint32_t reading = 0, most = 1, texel_bytes = 1;
    bool linear = true;
    for (uint32_t rest = active; rest != 0; rest &= rest - 1) {
        const auto lane = unsigned(std::countr_zero(rest));
        const Texture* texture = texture_of(run, step, plan, lane);
        if (texture == nullptr) return nullptr;
        const std::byte* host = texels_of(run, step, *texture, lane);
        if (host == nullptr) return nullptr;
        const Coordinates at = coordinates_of(run, plan, lane);
        samples[lane] = plan.gather ? gather(*texture, host, plan.component, at) : sample(*texture, host, plan.cube ? 2 : plan.dimensions, at);
        if (samples[lane].count != 0) reading |= 1u << lane;
        linear &= texture->linear_memory;
        texel_bytes = std::max<uint32_t>(1, texture->channels * texture->channel_bits / 8);
        most = std::max(most, samples[lane].count);
        for (unsigned v = 0; v < 4; ++v)
            if (step.rows[v]) run.row<uint32_t>(step.rows[v])[lane] = samples[lane].value[v];
    }
    uint64_t texels[kWarpLanes * 8] = {};
    int32_t xyz[kWarpLanes * 3] = {};
    each_lane_of(reading, [&](unsigned lane) {
        for (unsigned i = 0; i < most; ++i) texels[lane * most + i] = samples[lane].texels[std::min(i, samples[lane].count - 1)];
        std::copy_n(samples[lane].xyz.begin(), 3, xyz + lane * 3);
    });
    run.expect(step, announce_texels(run, plan, Space::kTexture, reading, texels, most, xyz, texel_bytes, linear));
    return &step + 1;
}

/// suld.b, sust.b: x counts bytes.
const Step* access_surface(Run& run, const Step& step, uint32_t active) {
    const auto& plan = *static_cast<const TexturePlan*>(step.plan);
    const unsigned width = plan.element_bytes * plan.vector;
    uint64_t texels[kWarpLanes] = {};
    int32_t xyz[kWarpLanes * 3] = {};
    std::byte* places[kWarpLanes] = {};
    uint32_t inside = 0;
    for (uint32_t rest = active; rest != 0; rest &= rest - 1) {
        const auto lane = unsigned(std::countr_zero(rest));
        const Texture* surface = texture_of(run, step, plan, lane);
        if (surface == nullptr) return nullptr;
        std::byte* host = texels_of(run, step, *surface, lane);
        if (host == nullptr) return nullptr;
        const Coordinates c = coordinates_of(run, plan, lane);
        const int64_t texel_bytes = std::max(1, surface->channels * surface->channel_bits / 8);
        int64_t at[3] = {c.texel[0], plan.dimensions > 1 ? c.texel[1] : 0, plan.layered ? c.layer : plan.dimensions > 2 ? c.texel[2] : 0};
        const int64_t size[3] = {int64_t(surface->width) * texel_bytes, std::max<int64_t>(surface->height, 1),
                                 std::max<int64_t>(plan.layered ? surface->layers : surface->depth, 1)};
        bool outside = at[0] < 0 || at[0] + width > size[0];
        for (unsigned d = 1; d < 3; ++d) outside |= at[d] < 0 || at[d] >= size[d];
        if (outside && plan.boundary == Boundary::kTrap)
            return run.fail(FaultKind::kOutOfBounds, step, lane,
                            fmt::format("surface access at byte {}, row {}, slice {} of a surface of {} bytes, {} rows, {} slices", at[0], at[1], at[2], size[0],
                                        size[1], size[2]));
        if (outside && plan.boundary == Boundary::kZero) continue;
        at[0] = std::clamp<int64_t>(at[0], 0, size[0] - width);
        for (unsigned d = 1; d < 3; ++d) at[d] = std::clamp<int64_t>(at[d], 0, size[d] - 1);
        const uint64_t offset = uint64_t(at[0]) + uint64_t(at[1]) * surface->row_bytes + uint64_t(at[2]) * surface->slice_bytes;
        texels[lane] = texel_address(*surface, uint32_t(at[0] / texel_bytes), uint32_t(at[1]), uint32_t(at[2])) + uint64_t(at[0] % texel_bytes);
        places[lane] = host + offset;
        xyz[lane * 3] = int32_t(at[0] / texel_bytes);
        xyz[lane * 3 + 1] = int32_t(at[1]);
        xyz[lane * 3 + 2] = int32_t(at[2]);
        inside |= 1u << lane;
    }
    const uint64_t arrival = announce_texels(run, plan, Space::kSurface, inside, texels, 1, xyz, width);
    if (!plan.store) run.expect(step, arrival);
    each_lane_of(active, [&](unsigned lane) {
        for (unsigned v = 0; v < plan.vector; ++v) {
            if (!step.rows[v]) continue;
            const unsigned register_bytes = row_bytes(plan.register_bits) / kWarpLanes;
            auto* value = run.row<std::byte>(step.rows[v]) + lane * register_bytes;
            if (!plan.store) std::memset(value, 0, register_bytes);
            if (places[lane] == nullptr) continue;
            if (plan.store) std::memcpy(places[lane] + v * plan.element_bytes, value, plan.element_bytes);
            else std::memcpy(value, places[lane] + v * plan.element_bytes, plan.element_bytes);
        }
    });
    return &step + 1;
}

const Step* query(Run& run, const Step& step, uint32_t active) {
    const auto& plan = *static_cast<const TexturePlan*>(step.plan);
    for (uint32_t rest = active; rest != 0; rest &= rest - 1) {
        const auto lane = unsigned(std::countr_zero(rest));
        const Texture* t = texture_of(run, step, plan, lane);
        if (t == nullptr) return nullptr;
        uint32_t value = 0;
        switch (plan.query) {
            case Suffix::kWidth: value = t->width; break;
            case Suffix::kHeight: value = t->height; break;
            case Suffix::kDepth: value = t->depth; break;
            case Suffix::kArraySize: value = t->layers; break;
            case Suffix::kNormalizedCoords: value = t->normalized_coordinates; break;
            default: value = 1; break;  // mipmap levels, samples
        }
        if (step.rows[0]) run.row<uint32_t>(step.rows[0])[lane] = value;
    }
    return &step + 1;
}

bool decode_geometry(TexturePlan& plan, const Instruction& instruction) {
    for (const Suffix suffix : instruction.suffixes) {
        switch (suffix) {
            case Suffix::k1d: plan.dimensions = 1; return true;
            case Suffix::k2d: plan.dimensions = 2; return true;
            case Suffix::k3d: plan.dimensions = 3; return true;
            case Suffix::kA1d: plan.dimensions = 1; plan.layered = true; return true;
            case Suffix::kA2d: plan.dimensions = 2; plan.layered = true; return true;
            case Suffix::kCube: plan.dimensions = 3; plan.cube = true; return true;
            case Suffix::kAcube: plan.dimensions = 3; plan.cube = plan.layered = true; return true;
            default: break;
        }
    }
    return false;
}

}  // namespace

bool decode_texture(Decoder& decoder, const Instruction& instruction) {
    const Opcode opcode = instruction.opcode;
    if (ptx::class_of(opcode) != ptx::OpcodeClass::kTexture || opcode == Opcode::kSured) return false;
    const auto& operands = instruction.operands;
    auto* plan = decoder.plan<TexturePlan>();
    plan->store = opcode == Opcode::kSust;
    const Operand& object = operands[plan->store ? 0 : 1];
    plan->handle = decoder.source(object.elements[0], Type::kU64);
    std::vector<Row> rows;
    if (opcode == Opcode::kTxq || opcode == Opcode::kSuq) {
        for (const Suffix suffix : instruction.suffixes)
            if (suffix == Suffix::kWidth || suffix == Suffix::kHeight || suffix == Suffix::kDepth || suffix == Suffix::kArraySize ||
                suffix == Suffix::kNormalizedCoords || suffix == Suffix::kNumMipmapLevels || suffix == Suffix::kNumSamples)
                plan->query = suffix;
        decoder.emit(query, {decoder.destination(operands[0])}).plan = plan;
        return true;
    }
    if (!decode_geometry(*plan, instruction)) return false;
    AccessSite site;
    site.operation = plan->store ? Operation::kStore : Operation::kLoad;
    const bool surface = opcode == Opcode::kSuld || plan->store;
    // The coordinates are the last part of the address; a sampler may stand before them.
    const Operand& coordinates = object.elements.back();
    plan->integer = surface || (instruction.types[1] != Type::kF32);
    for (const Operand& c : coordinates.elements.empty() ? std::vector<Operand>{coordinates} : coordinates.elements)
        plan->coordinates.push_back(decoder.source(c, plan->integer ? Type::kS32 : Type::kF32));
    if (surface) {
        if (!instruction.has(Suffix::kB)) return false;
        const Operand& value = operands[plan->store ? 1 : 0];
        const Type type = instruction.types[0];
        if (plan->store) decoder.sources(value, type, rows);
        else decoder.destinations(value, rows);
        unsigned bits = decoder.register_bits(value);
        for (const Operand& element : value.elements) bits = std::max(bits, decoder.register_bits(element));
        plan->register_bits = bits != 0 ? bits : ptx::bits(type);
        plan->vector = uint8_t(rows.size());
        plan->element_bytes = uint8_t(ptx::bits(type) / 8);
        plan->boundary = instruction.has(Suffix::kClamp) ? Boundary::kClamp : instruction.has(Suffix::kZero) ? Boundary::kZero : Boundary::kTrap;
        site.bytes = uint8_t(plan->element_bytes * plan->vector);
        plan->accesses.push_back({decoder.add_site(site), 0, site.bytes, {}});
        decoder.emit(access_surface, std::move(rows), kOrdered).plan = plan;
        return true;
    }
    plan->gather = opcode == Opcode::kTld4;
    if (plan->gather)
        plan->component = instruction.has(Suffix::kR) ? 0 : instruction.has(Suffix::kG) ? 1 : instruction.has(Suffix::kB) ? 2 : 3;
    decoder.destinations(operands[0], rows);
    rows.resize(4);
    if (ptx::bits(instruction.types[0]) != 32) return false;
    site.bytes = 4;
    plan->accesses.push_back({decoder.add_site(site), 0, 4, {}});
    decoder.emit(fetch, std::move(rows), kOrdered).plan = plan;
    return true;
}

}  // namespace lanescope::exec
