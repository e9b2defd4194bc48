// SPDX-License-Identifier: GPL-2.0-only
/*
 * An in-kernel client of the dmaengine channels, for what dmatest does not
 * test: interleaved, cyclic and tensor transfers, order of submission, errors,
 * residue, pause, terminate, reuse, submission from callbacks.
 *
 * The tests run when the module is loaded and report in the kernel's log, one
 * line each, TAP with a prefix. Loading succeeds if all have passed.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/dma-mapping.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/random.h>
#include <linux/tensordma_regs.h>

#include "client.h"

static unsigned int seed;
module_param(seed, uint, 0444);
MODULE_PARM_DESC(seed, "of the random numbers (default: another one each time)");

static bool resets;
module_param(resets, bool, 0444);
MODULE_PARM_DESC(resets, "run the tests that reset the device, instead of the others");

static const struct client_test *const groups[] = {
	interleaved_tests, tensor_tests, cyclic_tests, error_tests,
	control_tests, reuse_tests, hang_tests,
};

static unsigned int count_tests(void)
{
	const struct client_test *test;
	unsigned int i, count = 0;

	for (i = 0; i < ARRAY_SIZE(groups); i++)
		for (test = groups[i]; test->name; test++)
			count += test->resets == resets;
	return count;
}

/* Returns true if it has not failed. */
static bool run_test(struct client *c, const struct client_test *test,
		     unsigned int number)
{
	bool good;

	if (test->injects && !c->inject) {
		pr_info("ok %u %s # SKIP the device injects no errors\n",
			number, test->name);
		return true;
	}
	good = test->run(c);
	/* Whatever it left behind must not disturb the next one. */
	if (!good)
		dmaengine_terminate_sync(c->chan);
	pr_info("%s %u %s\n", good ? "ok" : "not ok", number, test->name);
	return good;
}

static bool run_tests(struct client *c)
{
	const struct client_test *test;
	unsigned int i, number = 0;
	bool good = true;

	pr_info("1..%u\n", count_tests());
	pr_info("# seed=%u\n", seed);
	prandom_seed_state(&c->random, seed);
	for (i = 0; i < ARRAY_SIZE(groups); i++)
		for (test = groups[i]; test->name; test++)
			if (test->resets == resets)
				good &= run_test(c, test, ++number);
	return good;
}

static bool is_ours(struct dma_chan *chan, void *param)
{
	return !strcmp(dev_driver_string(chan->device->dev), "tensordma");
}

static struct dma_chan *request_channel(void)
{
	dma_cap_mask_t mask;

	dma_cap_zero(mask);
	dma_cap_set(DMA_MEMCPY, mask);
	dma_cap_set(DMA_INTERLEAVE, mask);
	dma_cap_set(DMA_CYCLIC, mask);
	return dma_request_channel(mask, is_ours, NULL);
}

/* The injection of errors has no way through the driver. */
static int run_with_registers(struct client *c)
{
	void __iomem *regs = pci_iomap(to_pci_dev(c->dev), TDMA_BAR_REGS, 0);
	bool good;

	if (!regs)
		return -ENOMEM;
	c->thread = regs + TDMA_THREAD_BASE +
		    c->chan->chan_id * TDMA_THREAD_STRIDE;
	c->inject = readl(regs + TDMA_REG_FEATURES) & TDMA_FEATURE_INJECT;
	good = run_tests(c);
	pci_iounmap(to_pci_dev(c->dev), regs);
	return good ? 0 : -EIO;
}

static int __init tensordma_test_init(void)
{
	struct client c = { .chan = request_channel() };
	int ret = -ENOMEM;

	if (!c.chan)
		return -ENODEV;
	seed = seed ?: get_random_u32();
	c.dev = c.chan->device->dev;
	c.want = kmalloc(BUF_BYTES, GFP_KERNEL);
	c.src = dma_alloc_coherent(c.dev, BUF_BYTES, &c.src_dma, GFP_KERNEL);
	c.dst = dma_alloc_coherent(c.dev, BUF_BYTES, &c.dst_dma, GFP_KERNEL);
	if (c.want && c.src && c.dst)
		ret = run_with_registers(&c);
	dma_release_channel(c.chan);
	if (c.dst)
		dma_free_coherent(c.dev, BUF_BYTES, c.dst, c.dst_dma);
	if (c.src)
		dma_free_coherent(c.dev, BUF_BYTES, c.src, c.src_dma);
	kfree(c.want);
	return ret;
}

static void __exit tensordma_test_exit(void)
{
}

module_init(tensordma_test_init);
module_exit(tensordma_test_exit);

MODULE_DESCRIPTION("Test client of the tensor DMA engine's channels");
MODULE_LICENSE("GPL");
