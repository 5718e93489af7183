// Every name that a CUDA runtime exports and this folder does not implement.
#include "cudart/stub.h"
#include "names.def"
