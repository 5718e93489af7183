// Every name that the driver's library exports and this folder does not implement.
#include "cudart/stub.h"
#include "driver_names.def"
