#include "exec/decoder.h"

namespace lanescope::exec {

bool decode_async(Decoder&, const ptx::Instruction&) { return false; }
bool decode_matrix(Decoder&, const ptx::Instruction&) { return false; }
bool decode_texture(Decoder&, const ptx::Instruction&) { return false; }

}  // namespace lanescope::exec
