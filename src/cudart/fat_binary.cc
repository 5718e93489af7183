#include "cudart/fat_binary.h"

#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include <cstring>

namespace lanescope::cudart {
namespace {


constexpr uint64_t kContainerHeader = 16, kEntryHeader = 64;
constexpr uint64_t kFlagLz4 = 0x2000, kFlagZstd = 0x8000;
/// Larger than any device code seen; keeps a forged size from allocating the machine's memory.
constexpr uint64_t kPayloadLimit = uint64_t(1) << 30;

template <class T>
T read(std::span<const uint8_t> bytes, uint64_t offset) {
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

base::Diagnostic malformed(uint64_t offset, const std::string& why) {
    return base::error(fmt::format("fat binary, byte {}: {}", offset, why));
}

base::Result<std::string> decompress(std::span<const uint8_t> packed, uint64_t flags, uint64_t size, uint64_t offset) {
    if (size > kPayloadLimit) return malformed(offset, fmt::format("decompressed size {} is too large", size));
    std::string text(size, '\0');
    if (flags & kFlagZstd) {
        size_t got = ZSTD_decompress(text.data(), text.size(), packed.data(), packed.size());
        if (ZSTD_isError(got)) return malformed(offset, fmt::format("bad zstd data: {}", ZSTD_getErrorName(got)));
        if (got != size) return malformed(offset, fmt::format("zstd data holds {} bytes where {} are announced", got, size));
    } else {
        int got = packed.size() > LZ4_MAX_INPUT_SIZE || size > LZ4_MAX_INPUT_SIZE ? -1
            : LZ4_decompress_safe(reinterpret_cast<const char*>(packed.data()), text.data(), int(packed.size()), int(size));
        if (got < 0) return malformed(offset, "bad LZ4 data");
        if (uint64_t(got) != size) return malformed(offset, fmt::format("LZ4 data holds {} bytes where {} are announced", got, size));
    }
    return text;
}

}  // namespace

std::optional<uint64_t> fat_binary_size(std::span<const uint8_t> header) {
    if (header.size() < kContainerHeader || read<uint32_t>(header, 0) != kFatBinaryMagic) return std::nullopt;
    uint64_t own = read<uint16_t>(header, 6), rest = read<uint64_t>(header, 8);
    if (own < kContainerHeader || rest > UINT64_MAX - own) return std::nullopt;
    return own + rest;
}

base::Result<std::vector<Image>> parse_fat_binary(std::span<const uint8_t> bytes) {
    if (bytes.size() < kContainerHeader) return malformed(0, fmt::format("{} bytes are less than a header", bytes.size()));
    std::optional<uint64_t> total = fat_binary_size(bytes);
    if (!total) return malformed(0, fmt::format("no fat binary: it starts with {:08x}", read<uint32_t>(bytes, 0)));
    if (*total > bytes.size()) return malformed(0, fmt::format("truncated: {} of {} bytes", bytes.size(), *total));
    bytes = bytes.first(*total);

    std::vector<Image> images;
    for (uint64_t at = read<uint16_t>(bytes, 6); at < bytes.size();) {
        if (bytes.size() - at < kEntryHeader) return malformed(at, "truncated entry header");
        uint64_t header = read<uint32_t>(bytes, at + 4), padded = read<uint64_t>(bytes, at + 8);
        if (header < kEntryHeader || header > bytes.size() - at) return malformed(at, fmt::format("entry header of {} bytes", header));
        if (padded > bytes.size() - at - header) return malformed(at, fmt::format("payload of {} bytes reaches over the end", padded));
        uint64_t compressed = read<uint32_t>(bytes, at + 16), flags = read<uint64_t>(bytes, at + 40), size = read<uint64_t>(bytes, at + 56);
        uint64_t name = read<uint32_t>(bytes, at + 32), name_length = read<uint32_t>(bytes, at + 36);

        Image image;
        uint16_t kind = read<uint16_t>(bytes, at);
        image.kind = kind == 1 ? Image::Kind::kPtx : kind == 2 ? Image::Kind::kElf : Image::Kind::kOther;
        image.architecture = read<uint32_t>(bytes, at + 28);
        if (name_length) {
            if (name > header || name_length > header - name) return malformed(at, "name outside its entry");
            image.name.assign(reinterpret_cast<const char*>(bytes.data() + at + name), name_length);
        }
        std::span<const uint8_t> payload = bytes.subspan(at + header, padded);
        if (flags & (kFlagLz4 | kFlagZstd)) {
            if (compressed > padded) return malformed(at, fmt::format("{} compressed bytes in a payload of {}", compressed, padded));
            base::Result<std::string> text = decompress(payload.first(compressed), flags, size, at);
            if (!text) return text.errors();
            image.payload = *std::move(text);
        } else {
            image.payload.assign(reinterpret_cast<const char*>(payload.data()), payload.size());
        }
        if (image.kind == Image::Kind::kPtx) image.payload.resize(std::strlen(image.payload.c_str()));
        images.push_back(std::move(image));
        at += header + padded;
    }
    return images;
}

const Image* best_ptx(const std::vector<Image>& images, uint32_t architecture) {
    const Image* best = nullptr;
    for (const Image& image : images) {
        if (image.kind != Image::Kind::kPtx) continue;
        bool runs = image.architecture <= architecture, best_runs = best && best->architecture <= architecture;
        if (!best || (runs && (!best_runs || image.architecture > best->architecture)) ||
            (!runs && !best_runs && image.architecture < best->architecture))
            best = &image;
    }
    return best;
}

const Image* best_elf(const std::vector<Image>& images, uint32_t architecture) {
    const Image* best = nullptr;
    for (const Image& image : images) {
        if (image.kind != Image::Kind::kElf || image.architecture / 10 != architecture / 10 || image.architecture > architecture) continue;
        if (!best || image.architecture > best->architecture) best = &image;
    }
    return best;
}

}  // namespace lanescope::cudart
