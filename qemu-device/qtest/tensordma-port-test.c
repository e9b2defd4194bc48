/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * QTest testcase for the tensordma device behind a PCI Express root port:
 * what the port does to it, and errors that are reported to the port.
 *
 * Configuration space is reached through MMCONFIG, since firmware, which would
 * set that and the bridge up, is absent.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/units.h"
#include "libqtest.h"
#include "hw/pci/pci_regs.h"
#include <linux/tensordma_desc.h>
#include <linux/tensordma_regs.h>

#define ECAM            0xb0000000
#define REGS            0xe0000000      /* BAR 0, in the port's window */
#define HBM             0xe4000000
#define WINDOW_END      0xe7f00000

#define RING            0x1000000
#define RECORDS         0x1100000
#define SEGMENTS        0x1200000
#define SRC             0x2000000
#define DST             0x3000000
#define DATA_SIZE       0x100000
#define RING_ORDER      4

#define TIMEOUT_US      (30 * G_USEC_PER_SEC)
#define SETTLE_US       (20 * 1000)

#define AER             0x100           /* first extended capability */

/* Where the function's configuration space is */
enum {
    HOST_BRIDGE = 0,
    PORT = 3 << 15,             /* bus 0, device 3 */
    DEVICE = 1 << 20,           /* bus 1, device 0 */
};

static char *rom_file;

static uint32_t config_read(QTestState *qts, uint32_t function, unsigned reg)
{
    return qtest_readl(qts, ECAM + function + reg);
}

static void config_write(QTestState *qts, uint32_t function, unsigned reg,
                         uint32_t value)
{
    qtest_writel(qts, ECAM + function + reg, value);
}

/* What firmware does: MMCONFIG by the old way, then the bridge. */
static void bridge_setup(QTestState *qts)
{
    qtest_outl(qts, 0xcf8, 0x80000060);
    qtest_outl(qts, 0xcfc, ECAM | 1);
    config_write(qts, PORT, PCI_PRIMARY_BUS, 0x00010100);
    config_write(qts, PORT, PCI_MEMORY_BASE,
                 (WINDOW_END & 0xfff00000) | REGS >> 16);
    config_write(qts, PORT, PCI_COMMAND,
                 PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
}

static void device_setup(QTestState *qts)
{
    config_write(qts, DEVICE, PCI_BASE_ADDRESS_0, REGS);
    config_write(qts, DEVICE, PCI_BASE_ADDRESS_2, HBM);
    config_write(qts, DEVICE, PCI_BASE_ADDRESS_3, 0);
    config_write(qts, DEVICE, PCI_COMMAND,
                 PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
    g_assert_cmphex(qtest_readl(qts, REGS + TDMA_REG_ID), ==, TDMA_ID_VALUE);
}

static QTestState *start(const char *options)
{
    QTestState *qts = qtest_initf(
        "-machine q35 -nodefaults -bios %s "
        "-device pcie-root-port,id=rp,addr=3,slot=1 "
        "-device tensordma,id=t0,bus=rp,hbm-size=1M%s", rom_file, options);

    bridge_setup(qts);
    device_setup(qts);
    return qts;
}

static void wr(QTestState *qts, uint64_t reg, uint32_t value)
{
    qtest_writel(qts, REGS + reg, value);
}

static void set_segment(QTestState *qts, unsigned index, uint64_t base)
{
    struct tdma_segment seg = {
        .space = cpu_to_le32(TDMA_SPACE_HOST),
        .flags = cpu_to_le32(TDMA_SEG_READ | TDMA_SEG_WRITE),
        .length = cpu_to_le64(DATA_SIZE),
        .base = cpu_to_le64(base),
    };

    qtest_memwrite(qts, SEGMENTS + index * sizeof(seg), &seg, sizeof(seg));
}

static void queue_start(QTestState *qts)
{
    uint64_t queue = TDMA_QUEUE_BASE;
    int64_t end = g_get_monotonic_time() + TIMEOUT_US;

    wr(qts, queue + TDMA_QUEUE_CONTROL, 0);
    while (qtest_readl(qts, REGS + queue + TDMA_QUEUE_STATE)) {
        g_assert_cmpint(g_get_monotonic_time(), <, end);
    }
    set_segment(qts, 0, SRC);
    set_segment(qts, 1, DST);
    qtest_memset(qts, RECORDS, 0, sizeof(struct tdma_record) << RING_ORDER);
    qtest_writeq(qts, REGS + TDMA_CONTEXT_BASE + TDMA_CONTEXT_TABLE, SEGMENTS);
    wr(qts, TDMA_CONTEXT_BASE + TDMA_CONTEXT_COUNT, 2);
    qtest_writeq(qts, REGS + queue + TDMA_QUEUE_RING, RING);
    qtest_writeq(qts, REGS + queue + TDMA_QUEUE_RECORDS, RECORDS);
    wr(qts, queue + TDMA_QUEUE_RING_ORDER, RING_ORDER);
    wr(qts, queue + TDMA_QUEUE_THREAD, TDMA_THREAD_ANY);
    wr(qts, TDMA_REG_CONTROL, TDMA_CONTROL_ENABLE);
    wr(qts, queue + TDMA_QUEUE_CONTROL, TDMA_QCTL_ENABLE);
}

static void submit(QTestState *qts, unsigned ndims, uint32_t steps)
{
    struct tdma_desc d = {
        .version = TDMA_DESC_VERSION,
        .opcode = TDMA_OP_COPY,
        .ndims = ndims,
        .elem_bytes = cpu_to_le32(1),
        .src_segment = cpu_to_le32(0),
        .dst_segment = cpu_to_le32(1),
        .src_stride = { cpu_to_le64(1) },
        .dst_stride = { cpu_to_le64(1) },
        .dst_sync_interval = cpu_to_le32(4096),
    };

    for (unsigned i = 0; i < ndims; i++) {
        d.steps[i] = cpu_to_le32(steps);
    }
    qtest_memwrite(qts, RING, &d, sizeof(d));
    wr(qts, TDMA_DOORBELL_BASE, 1);
}

static struct tdma_record read_record(QTestState *qts)
{
    struct tdma_record r;

    qtest_memread(qts, RECORDS, &r, sizeof(r));
    return r;
}

static void fill(QTestState *qts, uint64_t addr, uint8_t *copy, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        copy[i] = g_test_rand_int();
    }
    qtest_memwrite(qts, addr, copy, len);
}

static void check_memory(QTestState *qts, uint64_t addr, const uint8_t *want,
                         size_t len)
{
    g_autofree uint8_t *have = g_malloc(len);

    qtest_memread(qts, addr, have, len);
    g_assert_cmpmem(have, len, want, len);
}

static void check_works(QTestState *qts)
{
    int64_t end = g_get_monotonic_time() + TIMEOUT_US;
    uint8_t data[1000];

    queue_start(qts);
    fill(qts, SRC, data, sizeof(data));
    submit(qts, 1, sizeof(data));
    while (le32_to_cpu(read_record(qts).status) == TDMA_STATUS_PENDING) {
        g_assert_cmpint(g_get_monotonic_time(), <, end);
    }
    g_assert_cmpint(le32_to_cpu(read_record(qts).status), ==, TDMA_STATUS_OK);
    check_memory(qts, DST, data, sizeof(data));
}

/* 2^40 elements, of which some have been moved */
static void start_huge(QTestState *qts)
{
    int64_t end = g_get_monotonic_time() + TIMEOUT_US;

    queue_start(qts);
    submit(qts, TDMA_MAX_DIMS, 32);
    while (!read_record(qts).dst_done) {
        g_assert_cmpint(g_get_monotonic_time(), <, end);
    }
}

/* Nothing is written any more. */
static void check_still(QTestState *qts)
{
    struct tdma_record before = read_record(qts), after;
    uint8_t guard[64];

    fill(qts, DST, guard, sizeof(guard));
    g_usleep(SETTLE_US);
    check_memory(qts, DST, guard, sizeof(guard));
    after = read_record(qts);
    g_assert_cmpmem(&before, sizeof(before), &after, sizeof(after));
}

static void test_secondary_bus_reset(const void *options)
{
    QTestState *qts = start(options);
    uint32_t generation;

    for (int round = 0; round < 20; round++) {
        generation = qtest_readl(qts, REGS + TDMA_REG_GENERATION);
        start_huge(qts);
        qtest_writew(qts, ECAM + PORT + PCI_BRIDGE_CONTROL,
                     PCI_BRIDGE_CTL_BUS_RESET);
        check_still(qts);
        qtest_writew(qts, ECAM + PORT + PCI_BRIDGE_CONTROL, 0);
        g_assert_cmphex(config_read(qts, DEVICE, PCI_COMMAND) & 0xffff, ==, 0);
        device_setup(qts);
        g_assert_cmpint(qtest_readl(qts, REGS + TDMA_REG_GENERATION), ==,
                        generation + 1);
        g_assert_cmphex(qtest_readl(qts, REGS + TDMA_REG_CONTROL), ==, 0);
        g_assert_cmphex(qtest_readl(qts, REGS + TDMA_QUEUE_BASE +
                                    TDMA_QUEUE_STATE), ==, TDMA_QSTATE_OFF);
        check_works(qts);
    }
    qtest_quit(qts);
}

static void inject(QTestState *qts, const char *error)
{
    g_autofree char *text = qtest_hmp(qts, "pcie_aer_inject_error t0 %s",
                                      error);

    g_assert_nonnull(strstr(text, "OK id: t0"));
}

/*
 * Injected errors show where software looks for them, at the device and at the
 * port, and are cleared there; the engine goes on.
 */
static void test_aer(void)
{
    QTestState *qts = start("");
    const uint32_t uncorrectable = PCI_ERR_UNC_POISON_TLP;
    const uint32_t correctable = PCI_ERR_COR_BAD_TLP;

    g_assert_cmphex(config_read(qts, DEVICE, AER) & 0xffff, ==,
                    PCI_EXT_CAP_ID_ERR);
    g_assert_cmphex(config_read(qts, DEVICE, AER + PCI_ERR_UNCOR_STATUS), ==,
                    0);
    inject(qts, "POISON_TLP");
    inject(qts, "BAD_TLP");
    g_assert_cmphex(config_read(qts, DEVICE, AER + PCI_ERR_UNCOR_STATUS) &
                    uncorrectable, ==, uncorrectable);
    g_assert_cmphex(config_read(qts, DEVICE, AER + PCI_ERR_COR_STATUS) &
                    correctable, ==, correctable);
    config_write(qts, DEVICE, AER + PCI_ERR_UNCOR_STATUS, uncorrectable);
    config_write(qts, DEVICE, AER + PCI_ERR_COR_STATUS, correctable);
    g_assert_cmphex(config_read(qts, DEVICE, AER + PCI_ERR_UNCOR_STATUS), ==,
                    0);
    g_assert_cmphex(config_read(qts, DEVICE, AER + PCI_ERR_COR_STATUS), ==, 0);
    check_works(qts);
    qtest_quit(qts);
}

static void rom_create(void)
{
    g_autofree uint8_t *rom = g_malloc0(64 * KiB);
    g_autoptr(GError) error = NULL;
    int fd = g_file_open_tmp("tensordma-rom-XXXXXX", &rom_file, &error);

    g_assert_no_error(error);
    g_assert_cmpint(write(fd, rom, 64 * KiB), ==, 64 * KiB);
    close(fd);
}

int main(int argc, char **argv)
{
    int ret;

    g_test_init(&argc, &argv, NULL);
    rom_create();
    qtest_add_data_func("/tensordma-port/secondary-bus-reset/fast", "",
                        test_secondary_bus_reset);
    qtest_add_data_func("/tensordma-port/secondary-bus-reset/cycle",
                        ",fidelity=cycle", test_secondary_bus_reset);
    qtest_add_data_func("/tensordma-port/secondary-bus-reset/inline",
                        ",x-inline=on", test_secondary_bus_reset);
    qtest_add_func("/tensordma-port/aer", test_aer);
    ret = g_test_run();
    unlink(rom_file);
    g_free(rom_file);
    return ret;
}
