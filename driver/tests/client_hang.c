// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of a channel whose transfer hangs: the driver ends it, and a pause
 * stays one whatever comes between. hang_timeout_ms says how long they take.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/pci.h>
#include <linux/tensordma_regs.h>

#include "client.h"

#define ROUNDS		12
/* About the time between two looks of the watchdog, and longer than a few */
#define SHORT_MS	150
#define LONG_MS		250

/**
 * struct step - a transfer among others
 * @outcome: how it ended
 * @cookie: its cookie
 */
struct step {
	struct outcome outcome;
	dma_cookie_t cookie;
};

/* Only the one that hangs has a second element of 4096 bytes. */
static bool start(struct client *c, struct step *step, size_t at, size_t len)
{
	struct dma_async_tx_descriptor *tx = client_copy(c, at, len);

	EXPECT(tx);
	step->cookie = client_submit(tx, &step->outcome);
	dma_async_issue_pending(c->chan);
	return true;
}

static bool start_hanging(struct client *c, struct step *step)
{
	client_fill(c);
	client_arm(c, TDMA_INJECT_LOST_RESPONSE, 0, 1);
	return start(c, step, 0, 8192);
}

static bool aborted(const struct step *step)
{
	EXPECT(step->outcome.calls == 1);
	EXPECT(step->outcome.result.result == DMA_TRANS_ABORTED);
	return true;
}

static bool recovered(struct client *c)
{
	struct step step[2];
	unsigned int i;

	EXPECT(start_hanging(c, &step[0]));
	EXPECT(start(c, &step[1], 8192, 4096));
	for (i = 0; i < 2; i++) {
		EXPECT(client_wait(&step[i].outcome));
		EXPECT(aborted(&step[i]));
	}
	EXPECT(step[0].outcome.record.status == TDMA_STATUS_TIMEOUT);
	EXPECT(step[0].outcome.result.residue == 4096);
	EXPECT(step[1].outcome.result.residue == 4096);
	memcpy(c->want, c->src, 4096);
	EXPECT(client_equal(c));
	EXPECT(client_run(c, client_copy(c, 0, 100)));
	return true;
}

/* Nothing is moved while the channel is paused, be it recovered meanwhile. */
static bool stays_paused(struct client *c, struct step *step)
{
	bool hangs = client_status(c, step[0].cookie) == DMA_PAUSED;

	EXPECT(start(c, &step[1], 8192, 4096));
	msleep(LONG_MS);
	if (client_status(c, step[1].cookie) != DMA_PAUSED) {
		EXPECT(hangs);
		EXPECT(client_status(c, step[1].cookie) == DMA_ERROR);
	}
	EXPECT(start(c, &step[2], 12288, 4096));
	msleep(SHORT_MS);
	EXPECT(client_status(c, step[2].cookie) == DMA_PAUSED);
	EXPECT(!memcmp(c->dst + 8192, c->want + 8192, 8192));
	return true;
}

static bool ended(struct client *c, const struct step *step, size_t at)
{
	if (step->outcome.result.result != DMA_TRANS_NOERROR)
		return aborted(step);
	memcpy(c->want + at, c->src + at, 4096);
	return true;
}

static bool pause_a_hang(struct client *c, struct step *step)
{
	unsigned int i;

	EXPECT(start_hanging(c, &step[0]));
	/* Before, after, or while it is recovered, after 100 ms and a look */
	msleep(client_random(c, 80, SHORT_MS));
	EXPECT(client_pause(c));
	EXPECT(stays_paused(c, step));
	EXPECT(!dmaengine_resume(c->chan));
	for (i = 0; i < 3; i++)
		EXPECT(client_wait(&step[i].outcome));
	EXPECT(aborted(&step[0]));
	memcpy(c->want, c->src, 4096);
	EXPECT(ended(c, &step[1], 8192));
	EXPECT(ended(c, &step[2], 12288));
	EXPECT(client_equal(c));
	EXPECT(client_run(c, client_copy(c, 0, 100)));
	return true;
}

static bool paused(struct client *c)
{
	struct step *step = kcalloc(3, sizeof(*step), GFP_KERNEL);
	bool good = true;
	unsigned int i;

	EXPECT(step);
	for (i = 0; i < ROUNDS && good; i++)
		good = pause_a_hang(c, step);
	if (!good)	/* nobody may write to the outcomes any more */
		dmaengine_terminate_sync(c->chan);
	kfree(step);
	return good;
}

/* A pause outlives all else, too. */
static bool paused_through_reset(struct client *c)
{
	struct step step;

	client_fill(c);
	EXPECT(client_pause(c));
	EXPECT(!pci_reset_function(to_pci_dev(c->dev)));
	EXPECT(start(c, &step, 8192, 4096));
	msleep(SHORT_MS);
	EXPECT(client_status(c, step.cookie) == DMA_PAUSED);
	EXPECT(client_equal(c));
	EXPECT(!dmaengine_resume(c->chan));
	EXPECT(client_wait(&step.outcome));
	EXPECT(step.outcome.result.result == DMA_TRANS_NOERROR);
	memcpy(c->want + 8192, c->src + 8192, 4096);
	EXPECT(client_equal(c));
	return true;
}

const struct client_test hang_tests[] = {
	{ "hang: recovered", recovered, true },
	{ "hang: paused", paused, true },
	{ "hang: paused through a reset", paused_through_reset, .resets = true },
	{ }
};
