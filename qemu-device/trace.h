/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "hw/tensordma/trace-hw_tensordma.h"
