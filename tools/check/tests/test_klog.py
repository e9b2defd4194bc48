# SPDX-License-Identifier: GPL-2.0
"""The kernel log scan."""

import unittest

import klog

CLEAN = """\
[    0.000000] Linux version 6.12.1
[    0.100000] PCI: Using configuration type 1 for base access
[    0.200000] DMA-API: preallocated 65536 debug entries
[    0.200001] DMA-API: debugging enabled by kernel config
[    0.300000] kmemleak: Kernel memory leak detector initialized (mem pool available: 38823)
[    2.000000] tensordma: loading out-of-tree module taints kernel.
[    2.100000] tensordma 0000:01:00.0: 4 threads, 256 MiB
[    3.000000] dmatest: dma0chan0-copy0: summary 50 tests, 0 failures 99.1 iops 0 KB/s (0)
""".splitlines()

SPLATS = (
    "BUG: kernel NULL pointer dereference, address: 0000000000000008",
    "WARNING: CPU: 1 PID: 77 at kernel/dma/mapping.c:300 dma_free_attrs+0x1/0x2",
    "Oops: 0000 [#1] PREEMPT SMP PTI",
    "Kernel panic - not syncing: Fatal exception",
    "BUG: sleeping function called from invalid context at mm/slab.h:1",
    "WARNING: possible circular locking dependency detected",
    "watchdog: BUG: soft lockup - CPU#0 stuck for 26s! [test:99]",
    "rcu: INFO: rcu_preempt self-detected stall on CPU",
    "INFO: task test:88 blocked for more than 120 seconds.",
    "BUG: KASAN: slab-use-after-free in tdma_free+0x10/0x20",
    "BUG: KFENCE: out-of-bounds read in tdma_get+0x10/0x20",
    "UBSAN: shift-out-of-bounds in driver/tdma_hw.c:10:2",
    "DMA-API: tensordma 0000:01:00.0: device driver frees DMA memory",
    "DMAR: [DMA Write NO_PASID] Request device [01:00.0] fault addr 0x1000",
    "refcount_t: underflow; use-after-free.",
    "unreferenced object 0xffff888004e0c000 (size 64):",
    "DMA-API: debugging out of memory - disabling",
    "kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)",
    "kmemleak: Kernel memory leak detector disabled",
    "ODEBUG: free active (active state 0) object: 0 object type: work_struct",
    "INFO: trying to register non-static key.",
    "irq 16: nobody cared (try booting with the \"irqpoll\" option)",
    "dmatest: Kernel memory may be corrupted!!",
    "RIP: 0010:tdma_submit+0x12/0x30 [tensordma]",
)


class Scan(unittest.TestCase):
    def test_clean(self):
        self.assertEqual(klog.scan(CLEAN), [])

    def test_each_kind(self):
        for splat in SPLATS:
            with self.subTest(splat):
                reports = klog.scan(CLEAN + ["[    4.000000] " + splat])
                self.assertEqual([headline for headline, _ in reports],
                                 [splat])

    def test_one_report_per_splat(self):
        lines = CLEAN + ["[ 4.0] BUG: bad", "[ 4.1] RIP: 0010:f",
                         "[ 4.2] Call Trace:"] + CLEAN * 5
        self.assertEqual(len(klog.scan(lines)), 1)

    def test_two_splats(self):
        lines = ["BUG: one"] + CLEAN * 5 + ["BUG: two"]
        self.assertEqual(len(klog.scan(lines)), 2)

    def test_context(self):
        _, context = klog.scan(["BUG: one", "who", "where"])[0]
        self.assertEqual(context, ["BUG: one", "who", "where"])

    def test_allowed(self):
        self.assertEqual(klog.scan(["segfault at 0"], [r"segfault at 0"]), [])

    def test_allowed_with_its_trace(self):
        lines = ["vmalloc error: size 4096", "Call Trace:", " f+0x1/0x2",
                 "RIP: 0033:0x44b2c0"]
        self.assertEqual(klog.scan(lines, [r"vmalloc error"]), [])
        self.assertEqual(len(klog.scan(lines)), 1)

    def test_not_what_comes_next(self):
        lines = ["vmalloc error: size 4096", "Call Trace:", "BUG: bad",
                 "Call Trace:"]
        self.assertEqual([headline for headline, _ in
                          klog.scan(lines, [r"vmalloc error"])], ["BUG: bad"])

    def test_trace_alone(self):
        lines = ["segfault at 0"] + ["x"] * 70 + ["Call Trace:"]
        self.assertEqual(len(klog.scan(lines, [r"segfault at 0"])), 1)


if __name__ == "__main__":
    unittest.main()
