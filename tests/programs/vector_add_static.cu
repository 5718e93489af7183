// The same program linked with libcudart_static.a.
#include "vector_add.cu"

// OUT: c[99999] = 99999.5, 0 wrong
// LINK: static
