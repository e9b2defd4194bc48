/* SPDX-License-Identifier: GPL-2.0-only */
/* perf: the counters of the DMA threads as a PMU of their own. */
#ifndef TDMA_PMU_H
#define TDMA_PMU_H

#include <linux/kconfig.h>

struct tdma_device;

#if IS_ENABLED(CONFIG_PERF_EVENTS)
int tdma_pmu_init(void);
void tdma_pmu_exit(void);
void tdma_pmu_attach(struct tdma_device *tdev);
void tdma_pmu_detach(struct tdma_device *tdev);
#else
static inline int tdma_pmu_init(void)
{
	return 0;
}

static inline void tdma_pmu_exit(void)
{
}

static inline void tdma_pmu_attach(struct tdma_device *tdev)
{
}

static inline void tdma_pmu_detach(struct tdma_device *tdev)
{
}
#endif

#endif /* TDMA_PMU_H */
