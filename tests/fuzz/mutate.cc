// A fuzz target without libFuzzer, so that any compiler and every sanitizer can run it: NAME_fuzz SECONDS CORPUS [SEED].
//
// Each file of the corpus as it is, then changed ones until the time is up: bits, bytes, pieces taken out, doubled or taken from another
// file. The changes of a seed are the same in every run; only how many are made depends on the machine. What the target does not survive is kept in
// ./NAME_fuzz.failed.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

constexpr unsigned kSecondsAnInput = 10;
constexpr size_t kLongest = 1 << 16;

int kept = -1;

void run(const std::string& input) {
    // Written before, as nothing can be said of how the process ends. An input that takes too long ends it, too.
    if (::ftruncate(kept, 0) != 0 || ::pwrite(kept, input.data(), input.size(), 0) < 0) std::perror("input");
    ::alarm(kSecondsAnInput);
    // Exactly as long as the input: a sanitizer sees a read behind it.
    const std::vector<uint8_t> bytes(input.begin(), input.end());
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

class Mutator {
public:
    Mutator(const std::vector<std::string>& corpus, uint64_t seed) : corpus_(corpus), random_(seed) {}
    std::string next() {
        std::string text = any();
        for (size_t rest = 1 + below(6); rest != 0; --rest) change(text);
        text.resize(std::min(text.size(), kLongest));
        return text;
    }

private:
    size_t below(size_t end) { return end == 0 ? 0 : random_() % end; }
    const std::string& any() { return corpus_[below(corpus_.size())]; }
    std::string piece(const std::string& of) {
        const size_t begin = below(of.size());
        return of.substr(begin, 1 + below(below(8) == 0 ? 256 : 16));
    }
    void change(std::string& text) {
        static const std::string kWords[] = {"0", "-1", "4294967296", "18446744073709551615", "1e308", "nan", "\"", "{", "}", "[", "]", std::string(1, '\0'), "\x1b[31m", "\xff\xff\xff\xff", "%", ";"};
        const size_t at = below(text.size() + 1);
        switch (below(8)) {
            case 0: if (at < text.size()) text[at] = char(text[at] ^ 1 << below(8)); break;
            case 1: if (at < text.size()) text[at] = char(random_()); break;
            case 2: text.erase(at, 1 + below(16)); break;
            case 3: text.insert(at, piece(text)); break;
            case 4: text.insert(at, piece(any())); break;
            case 5: text.replace(at, std::min(text.size() - at, below(16)), piece(any())); break;
            case 6: text.insert(at, kWords[below(std::size(kWords))]); break;
            default: if (below(8) == 0) text.resize(at); break;
        }
    }
    const std::vector<std::string>& corpus_;
    std::mt19937_64 random_;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3 && argc != 4) return 2;
    const std::string name = std::filesystem::path(argv[0]).filename().string() + ".failed";
    kept = ::open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    std::vector<std::string> corpus;
    for (const auto& entry : std::filesystem::directory_iterator(argv[2])) {
        std::ifstream file(entry.path(), std::ios::binary);
        corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    if (corpus.empty()) return 2;
    std::sort(corpus.begin(), corpus.end());
    for (const std::string& each : corpus) run(each);
    Mutator mutator(corpus, argc == 4 ? std::strtoull(argv[3], nullptr, 10) : 42);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(argv[1]));
    uint64_t count = 0;
    for (; std::chrono::steady_clock::now() < end; ++count) run(mutator.next());
    ::unlink(name.c_str());
    std::printf("%zu files, %llu changed ones\n", corpus.size(), static_cast<unsigned long long>(count));
    return 0;
}
