/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Jobs with more dimensions than a descriptor of the device: parts of them,
 * and the sum of what became of each.
 */
#ifndef TDMA_SPLIT_H
#define TDMA_SPLIT_H

#include <linux/tensordma_desc.h>
#include <linux/types.h>

/**
 * struct tdma_split - a job in parts
 * @desc: the whole of it, checked
 * @ext: its extension block, if @desc has %TDMA_DESC_EXT
 * @dims: dimensions of a part
 * @size: elements of a part, but for the last
 * @left: elements of the parts that have not been made
 * @index: of the next part, in the dimensions from @dims on
 * @first: no part has been made
 * @running: a part is in the ring
 * @sum: what the parts that are over have done
 */
struct tdma_split {
	struct tdma_desc desc;
	struct tdma_desc_ext ext;
	u32 dims;
	u64 size;
	u64 left;
	u32 index[TDMA_MAX_DIMS];
	bool first;
	bool running;
	struct tdma_record sum;
};

void tdma_split_init(struct tdma_split *split, const struct tdma_desc *desc,
		     const struct tdma_desc_ext *ext, u32 dims);
bool tdma_split_next(struct tdma_split *split, struct tdma_desc *desc,
		     struct tdma_desc_ext *ext);
void tdma_split_add(struct tdma_record *sum, const struct tdma_record *part);
bool tdma_split_over(struct tdma_split *split, struct tdma_record *record);

#endif /* TDMA_SPLIT_H */
