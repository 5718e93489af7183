// Any bytes as an experiment file and as a claim: parsed or refused with places, never a crash; what is accepted can be evaluated.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lab/experiment.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
    using namespace lanescope;
    const std::string_view text(reinterpret_cast<const char*>(bytes), size);
    (void)lab::parse(text, "fuzz.toml");
    if (const auto expression = lab::Expression::parse(text)) {
        lab::Data data;
        data.cases = {{{"a", 1.0}, {"b", 2.0}, {"c", "word"}}, {{"a", 2.0}}};
        (void)expression->decide(data);
        (void)expression->of(data.cases[0]);
    }
    return 0;
}
