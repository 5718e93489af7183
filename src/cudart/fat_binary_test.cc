#include "cudart/fat_binary.h"

#include <gmock/gmock.h>
#include <lz4.h>
#include <zstd.h>

#include <cstring>

#include "base/file.h"

namespace lanescope::cudart {
namespace {

const std::string kPtxText = ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n";

template <class T>
void put(std::string& bytes, size_t offset, T value) { std::memcpy(bytes.data() + offset, &value, sizeof value); }

struct Entry {
    uint16_t kind = 1;
    uint32_t architecture = 75;
    std::string payload = kPtxText;
    uint64_t flags = 0;
    uint64_t raw_size = 0;
    std::string name;
};

/// One entry, laid out as nvcc 13.0 does: 64 bytes of header, the name, then the payload padded to 8 bytes.
std::string entry_bytes(const Entry& entry) {
    std::string name = entry.name;
    if (!name.empty()) name.resize((name.size() + 8) / 8 * 8);
    std::string payload = entry.payload;
    payload.resize((payload.size() + 7) / 8 * 8);
    std::string bytes(64, '\0');
    put<uint16_t>(bytes, 0, entry.kind);
    put<uint16_t>(bytes, 2, 0x101);
    put<uint32_t>(bytes, 4, uint32_t(64 + name.size()));
    put<uint64_t>(bytes, 8, payload.size());
    put<uint32_t>(bytes, 16, entry.flags ? uint32_t(entry.payload.size()) : 0);
    put<uint32_t>(bytes, 28, entry.architecture);
    put<uint32_t>(bytes, 32, name.empty() ? 0 : 64);
    put<uint32_t>(bytes, 36, uint32_t(entry.name.size()));
    put<uint64_t>(bytes, 40, entry.flags);
    put<uint64_t>(bytes, 56, entry.raw_size);
    return bytes + name + payload;
}

std::string container(const std::vector<Entry>& entries) {
    std::string body;
    for (const Entry& entry : entries) body += entry_bytes(entry);
    std::string bytes(16, '\0');
    put<uint32_t>(bytes, 0, 0xBA55ED50);
    put<uint16_t>(bytes, 4, 1);
    put<uint16_t>(bytes, 6, 16);
    put<uint64_t>(bytes, 8, body.size());
    return bytes + body;
}

base::Result<std::vector<Image>> parse(const std::string& bytes) {
    return parse_fat_binary({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
}

Entry zstd_entry() {
    Entry entry;
    entry.flags = 0x8041;
    entry.raw_size = kPtxText.size();
    entry.payload.resize(ZSTD_compressBound(kPtxText.size()));
    entry.payload.resize(ZSTD_compress(entry.payload.data(), entry.payload.size(), kPtxText.data(), kPtxText.size(), 3));
    return entry;
}

Entry lz4_entry() {
    Entry entry;
    entry.flags = 0x2041;
    entry.raw_size = kPtxText.size();
    entry.payload.resize(size_t(LZ4_compressBound(int(kPtxText.size()))));
    entry.payload.resize(size_t(LZ4_compress_default(kPtxText.data(), entry.payload.data(), int(kPtxText.size()), int(entry.payload.size()))));
    return entry;
}

TEST(FatBinary, ReadsRawLz4AndZstd) {
    for (const Entry& entry : {Entry{.name = "a.cu"}, lz4_entry(), zstd_entry()}) {
        auto images = parse(container({entry}));
        ASSERT_TRUE(images) << to_string(images.errors());
        ASSERT_EQ(images->size(), 1u);
        EXPECT_EQ((*images)[0].kind, Image::Kind::kPtx);
        EXPECT_EQ((*images)[0].architecture, 75u);
        EXPECT_EQ((*images)[0].payload, kPtxText);
        EXPECT_EQ((*images)[0].name, entry.name);
    }
}

TEST(FatBinary, AcceptsEmptyAndUnknownKindsAndBytesBehindTheEnd) {
    auto empty = parse(container({}));
    ASSERT_TRUE(empty);
    EXPECT_TRUE(empty->empty());
    auto images = parse(container({{.kind = 64}, {.kind = 2, .payload = "\177ELF"}}) + "what the linker put next");
    ASSERT_TRUE(images);
    ASSERT_EQ(images->size(), 2u);
    EXPECT_EQ((*images)[0].kind, Image::Kind::kOther);
    EXPECT_EQ((*images)[1].kind, Image::Kind::kElf);
}

TEST(FatBinary, EveryTruncationIsAnError) {
    const std::string whole = container({zstd_entry(), lz4_entry()});
    for (size_t size = 0; size < whole.size(); ++size) {
        auto images = parse(whole.substr(0, size));
        ASSERT_FALSE(images) << size;
        EXPECT_THAT(images.errors()[0].message, testing::HasSubstr("fat binary, byte 0: ")) << size;
    }
}

TEST(FatBinary, MalformedFieldsAreNamed) {
    struct Case { size_t offset; uint64_t value; size_t width; const char* message; };
    const std::string good = container({zstd_entry()});
    for (const Case& c : std::vector<Case>{
             {0, 0x12345678, 4, "no fat binary: it starts with 12345678"},
             {16 + 4, 63, 4, "entry header of 63 bytes"},
             {16 + 4, 1u << 30, 4, "entry header of 1073741824 bytes"},
             {16 + 8, UINT64_MAX, 8, "payload of 18446744073709551615 bytes reaches over the end"},
             {16 + 16, 1u << 30, 4, "1073741824 compressed bytes in a payload of"},
             {16 + 36, 100, 4, "name outside its entry"},
             {16 + 56, UINT64_MAX, 8, "decompressed size 18446744073709551615 is too large"},
             {16 + 56, 10, 8, "bad zstd data"},
             {16 + 56, kPtxText.size() + 1, 8, "bytes where"},
             {16 + 64, 0, 4, "bad zstd data"}}) {
        std::string bad = good;
        std::memcpy(bad.data() + c.offset, &c.value, c.width);
        auto images = parse(bad);
        ASSERT_FALSE(images) << c.message;
        EXPECT_THAT(images.errors()[0].message, testing::HasSubstr(c.message));
    }
    std::string lz4 = container({lz4_entry()});
    put<uint64_t>(lz4, 16 + 56, kPtxText.size() - 1);  // one byte less than the data holds
    auto images = parse(lz4);
    ASSERT_FALSE(images);
    EXPECT_THAT(images.errors()[0].message, testing::HasSubstr("bad LZ4 data"));
}

TEST(FatBinary, ChoosesTheBestPtxAndElf) {
    std::vector<Image> images;
    for (uint32_t architecture : {52, 90, 75, 120}) images.push_back({Image::Kind::kPtx, architecture, "", ""});
    EXPECT_EQ(best_ptx(images, 89)->architecture, 75u);   // the highest that an sm_89 can run
    EXPECT_EQ(best_ptx(images, 90)->architecture, 90u);
    EXPECT_EQ(best_ptx(images, 37)->architecture, 52u);   // all are newer than a Kepler: the oldest
    EXPECT_EQ(best_ptx({}, 90), nullptr);
    EXPECT_EQ(best_elf(images, 90), nullptr);
    images = {{Image::Kind::kElf, 80, "", ""}, {Image::Kind::kElf, 86, "", ""}, {Image::Kind::kElf, 90, "", ""}};
    EXPECT_EQ(best_elf(images, 89)->architecture, 86u);   // machine code runs on later minors of its major
    EXPECT_EQ(best_elf(images, 80)->architecture, 80u);
    EXPECT_EQ(best_elf(images, 75), nullptr);
    EXPECT_EQ(best_ptx(images, 90), nullptr);
}

// Made by nvcc 13.0 from a kernel `k`: -gencode arch=compute_75,code=compute_75 with its three ways to store PTX.
TEST(FatBinary, ReadsWhatNvccWrites) {
    for (const char* kind : {"raw", "lz4", "zstd"}) {
        auto bytes = base::read_file(std::string(LANESCOPE_SOURCE_DIR) + "/tests/fuzz/corpus/fatbin_fuzz/small_" + kind + ".fatbin");
        ASSERT_TRUE(bytes);
        auto images = parse(*bytes);
        ASSERT_TRUE(images) << kind << ": " << to_string(images.errors());
        const Image* ptx = best_ptx(*images, 90);
        ASSERT_NE(ptx, nullptr) << kind;
        EXPECT_EQ(ptx->architecture, 75u);
        EXPECT_THAT(ptx->payload, testing::HasSubstr("\n.version 9.0\n.target sm_75\n"));
        EXPECT_THAT(ptx->payload, testing::EndsWith("}\n\n"));
        EXPECT_EQ(best_elf(*images, 75) != nullptr, std::string(kind) == "raw");   // that one was asked for sm_75 as well
    }
}

TEST(FatBinary, SizeOfAContainer) {
    std::string bytes = container({Entry{}});
    std::span<const uint8_t> span(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    EXPECT_EQ(fat_binary_size(span), bytes.size());
    EXPECT_EQ(fat_binary_size(span.first(15)), std::nullopt);
    EXPECT_EQ(fat_binary_size(span.subspan(1)), std::nullopt);
}

}  // namespace
}  // namespace lanescope::cudart
