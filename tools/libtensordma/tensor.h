/* SPDX-License-Identifier: MIT */
/* Tensors, within the library. */
#ifndef TDL_TENSOR_H
#define TDL_TENSOR_H

#include "tensordma.h"

/* Strides of a tensor whose elements follow each other */
void tdl_row_major(struct tensordma_tensor *t);

#endif /* TDL_TENSOR_H */
