# Writes OUTPUT, the source of gpu::embedded(), from the description FILES (a list separated by commas).
string(REPLACE "," ";" FILES "${FILES}")
set(rows "")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  string(APPEND rows "    {\"${name}\", R\"toml(${text})toml\"},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"gpu/embedded.h\"

namespace lanescope::gpu {
namespace {
constexpr Embedded kEmbedded[] = {
${rows}};
}  // namespace

std::span<const Embedded> embedded() { return kEmbedded; }

}  // namespace lanescope::gpu
")
