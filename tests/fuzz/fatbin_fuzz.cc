// Fat binaries and the ELF files around them: any bytes give images or an error, never a crash.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/elf.h"
#include "cudart/fat_binary.h"
#include "emulator/cubin.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    auto images = lanescope::cudart::parse_fat_binary({data, size});
    if (images) {
        (void)lanescope::cudart::best_ptx(*images, 90);
        (void)lanescope::cudart::best_elf(*images, 90);
    }
    std::string_view text(reinterpret_cast<const char*>(data), size);
    (void)lanescope::emulator::read_cubin(text);
    if (auto sections = lanescope::base::elf_sections(text)) (void)lanescope::base::elf_needed_libraries(*sections);
    return 0;
}
