#include "recording.h"

#include <zstd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace lanescope::semantics {
namespace {

std::string decompress(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string packed{std::istreambuf_iterator<char>(file), {}};
    const unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
    if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > (64u << 20)) throw std::runtime_error("no recording: " + path);
    std::string text(size, '\0');
    if (ZSTD_isError(ZSTD_decompress(text.data(), text.size(), packed.data(), packed.size()))) throw std::runtime_error("damaged recording: " + path);
    return text;
}

}  // namespace

Recording read_recording(const std::string& path) {
    const std::string text = decompress(path);
    Recording recording;
    size_t at = text.find("\n\n");
    if (!text.starts_with("lanescope-semantics/1\n") || at == std::string::npos) throw std::runtime_error("unknown format: " + path);
    recording.header = text.substr(0, at + 1);
    at += 2;
    const auto take = [&](void* to, size_t bytes) {
        if (text.size() - at < bytes) throw std::runtime_error("truncated recording: " + path);
        std::memcpy(to, text.data() + at, bytes);
        at += bytes;
    };
    while (at < text.size()) {
        const size_t end = text.find('\n', at);
        if (end == std::string::npos) throw std::runtime_error("truncated recording: " + path);
        RecordedVariant recorded;
        recorded.variant = parse_variant(text.substr(at, end - at));
        at = end + 1;
        take(&recorded.checksum, sizeof recorded.checksum);
        for (const Slot& slot : recorded.variant.outputs) {
            auto& values = recorded.outputs.emplace_back(kSamples);
            for (uint64_t& value : values) take(&value, slot.bits == 1 ? 1 : slot.bits / 8);
        }
        recording.variants.push_back(std::move(recorded));
    }
    return recording;
}

}  // namespace lanescope::semantics
