/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An in-kernel client of the dmaengine channels: what its tests share.
 */
#ifndef TENSORDMA_TEST_CLIENT_H
#define TENSORDMA_TEST_CLIENT_H

#include <linux/completion.h>
#include <linux/dmaengine.h>
#include <linux/jiffies.h>
#include <linux/prandom.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../tensordma.h"

#define BUF_BYTES	65536
#define WAIT		msecs_to_jiffies(30000)
#define POISON		0xa5

/**
 * struct client - what a test works with
 * @chan: the channel
 * @dev: device for the DMA API
 * @thread: registers of the DMA thread that the channel runs on
 * @inject: errors may be injected there
 * @random: random numbers
 * @src: source memory
 * @dst: destination memory
 * @want: what @dst should become
 * @src_dma: bus address of @src
 * @dst_dma: bus address of @dst
 */
struct client {
	struct dma_chan *chan;
	struct device *dev;
	void __iomem *thread;
	bool inject;
	struct rnd_state random;
	u8 *src;
	u8 *dst;
	u8 *want;
	dma_addr_t src_dma;
	dma_addr_t dst_dma;
};

/**
 * struct outcome - how a transfer ended
 * @done: completed by the callback
 * @calls: how often the callback was called
 * @result: what it was told
 * @tx: if set, whose record the callback is to take
 * @record: that record
 */
struct outcome {
	struct completion done;
	unsigned int calls;
	struct dmaengine_result result;
	struct dma_async_tx_descriptor *tx;
	struct tdma_record record;
};

/**
 * struct client_test - a test
 * @name: what it is about
 * @run: true if it has passed
 * @injects: needs a device that injects errors
 * @resets: resets the device, and with it whoever else uses it
 */
struct client_test {
	const char *name;
	bool (*run)(struct client *c);
	bool injects;
	bool resets;
};

#define EXPECT(condition)						\
	do {								\
		if (!(condition)) {					\
			pr_info("# %s:%d: %s\n", __func__, __LINE__,	\
				#condition);				\
			return false;					\
		}							\
	} while (0)

/* Tests of a file, ended by one without a name */
extern const struct client_test control_tests[];
extern const struct client_test cyclic_tests[];
extern const struct client_test error_tests[];
extern const struct client_test hang_tests[];
extern const struct client_test interleaved_tests[];
extern const struct client_test reuse_tests[];
extern const struct client_test tensor_tests[];

u32 client_random(struct client *c, u32 lowest, u32 highest);
void client_fill(struct client *c);
bool client_equal(struct client *c);
dma_cookie_t client_submit(struct dma_async_tx_descriptor *tx,
			   struct outcome *outcome);
bool client_wait(struct outcome *outcome);
bool client_run(struct client *c, struct dma_async_tx_descriptor *tx);
enum dma_status client_status(struct client *c, dma_cookie_t cookie);
u32 client_residue(struct client *c, dma_cookie_t cookie);
bool client_pause(struct client *c);
void client_arm(struct client *c, u32 kind, u32 side, u64 element);

struct dma_async_tx_descriptor *client_copy(struct client *c, size_t offset,
					    size_t len);
void client_transpose(struct client *c, struct tdma_desc *d, u32 rows,
		      u32 columns);
struct dma_async_tx_descriptor *client_count(struct client *c, u32 elements,
					     u32 laps);
u64 client_counted(struct client *c, u32 elements);

#endif /* TENSORDMA_TEST_CLIENT_H */
