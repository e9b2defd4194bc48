/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * QTest testcase for the tensordma device.
 *
 * What belongs to the PCI function: identity, registers, doorbells, messages,
 * what DMA may reach, and that nothing happens after a reset, a stop or an
 * unplug. That tensors are moved correctly is tested natively, without QEMU.
 *
 * Most tests run four times: with worker threads, with x-inline=on, with the
 * cycle-accurate engine, and behind an IOMMU that maps addresses to themselves.
 */
#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/units.h"
#include "qobject/qlist.h"
#include "libqtest.h"
#include "libqos/pci.h"
#include "libqos/pci-pc.h"
#include "hw/i386/intel_iommu_internal.h"
#include "hw/pci/pci_regs.h"
#include <linux/tensordma_desc.h>
#include <linux/tensordma_regs.h>
#include <linux/tensordma_trace.h>

/* Where things are in guest memory */
#define RING            0x1000000
#define RECORDS         0x1100000
#define SEGMENTS        0x1200000
#define TAIL            0x1300000
#define TRACE           0x1500000
#define MESSAGE         0x1400000
#define SRC             0x2000000
#define DST             0x3000000
#define DATA_SIZE       0x100000
#define IOMMU_ROOT      0x4000000
#define IOMMU_CONTEXTS  0x4001000
#define IOMMU_TOP       0x4002000
#define IOMMU_TABLES    0x4003000
#define IOVA            (4 * GiB)
#define IOVA_PAGES      16

#define RESULT          0x6000          /* below 1 MiB: see rom_code */
#define CODE            0x8000
#define ROM             0xffffe000      /* a page in the firmware */
#define ROM_SIZE        (64 * KiB)
#define LOCAL_APIC      0xfee00000
#define HOLE            0xd0000000      /* PCI window, no BAR placed here */

#define RING_ORDER      4
#define SLOTS           (1 << RING_ORDER)
#define HBM_SIZE        (1 * MiB)
#define VECTORS         8

/* Segments of context 0 */
enum { SEG_SRC, SEG_DST, SEG_HBM, SEG_ANY, NUM_SEGMENTS };

#define TIMEOUT_US      (30 * G_USEC_PER_SEC)
#define SETTLE_US       (20 * 1000)

typedef struct Board {
    QPCIDevice *dev;
    QPCIBar regs;
    QPCIBar hbm;
    uint32_t bars[6];
    uint32_t tail;
    uint32_t ring;              /* its address, and those of the others */
} Board;

typedef struct Rig {
    QTestState *qts;
    QPCIBus *bus;
    Board board[2];
} Rig;

typedef struct Mode {
    const char *name;
    const char *machine;
    const char *options;
    bool iommu;
} Mode;

static const Mode modes[] = {
    { "threads", "", "" },
    { "inline", "", ",x-inline=on" },
    { "cycle", "", ",fidelity=cycle" },
    { "iommu", "-device intel-iommu", "", true },
};

/*
 * Firmware, since the machine has none of its own (-bios). Where a CPU runs it
 * does nothing but call CODE and store what that returns at RESULT:
 *
 *          xor %ax, %ax;  mov %ax, %ds;  mov %ax, %ss;  mov $0x7000, %sp
 *     1:   lcall $0, $CODE
 *          mov %ax, RESULT
 *          jmp 1b
 */
static const uint8_t rom_code[] = {
    0x31, 0xc0, 0x8e, 0xd8, 0x8e, 0xd0, 0xbc, 0x00, 0x70,
    0x9a, 0x00, 0x80, 0x00, 0x00,
    0xa3, 0x00, 0x60,
    0xeb, 0xf6,
};

/* At the reset vector: jmp to the beginning of the ROM */
static const uint8_t rom_reset[] = { 0xe9, 0x0d, 0x00 };

static char *rom_file;

static void rom_create(void)
{
    g_autofree uint8_t *rom = g_malloc(ROM_SIZE);
    g_autoptr(GError) error = NULL;
    int fd = g_file_open_tmp("tensordma-rom-XXXXXX", &rom_file, &error);

    g_assert_no_error(error);
    memset(rom, 0x5a, ROM_SIZE);
    memcpy(rom, rom_code, sizeof(rom_code));
    memcpy(rom + ROM_SIZE - 16, rom_reset, sizeof(rom_reset));
    g_assert_cmpint(write(fd, rom, ROM_SIZE), ==, ROM_SIZE);
    close(fd);
}

/* Registers */

static uint32_t rd(Board *b, uint64_t reg)
{
    return qpci_io_readl(b->dev, b->regs, reg);
}

static void wr(Board *b, uint64_t reg, uint32_t value)
{
    qpci_io_writel(b->dev, b->regs, reg, value);
}

static void wr64(Board *b, uint64_t reg, uint64_t value)
{
    qpci_io_writeq(b->dev, b->regs, reg, value);
}

static uint64_t queue_reg(unsigned queue, unsigned reg)
{
    return TDMA_QUEUE_BASE + queue * TDMA_QUEUE_STRIDE + reg;
}

static uint32_t rdq(Board *b, unsigned queue, unsigned reg)
{
    return rd(b, queue_reg(queue, reg));
}

static void wrq(Board *b, unsigned queue, unsigned reg, uint32_t value)
{
    wr(b, queue_reg(queue, reg), value);
}

static void doorbell(Board *b, unsigned queue, uint32_t tail)
{
    wr(b, TDMA_DOORBELL_BASE + queue * TDMA_DOORBELL_STRIDE, tail);
}

static void wait_register(Board *b, uint64_t reg, uint32_t value)
{
    int64_t end = g_get_monotonic_time() + TIMEOUT_US;

    while (rd(b, reg) != value) {
        g_assert_cmpint(g_get_monotonic_time(), <, end);
    }
}

static void wait_queue(Board *b, unsigned queue, unsigned reg, uint32_t value)
{
    wait_register(b, queue_reg(queue, reg), value);
}

/* Bringing a board up */

static void board_map(Board *b)
{
    qpci_device_enable(b->dev);
    b->regs = qpci_iomap(b->dev, TDMA_BAR_REGS, NULL);
    b->hbm = qpci_iomap(b->dev, TDMA_BAR_HBM, NULL);
    for (int i = 0; i < 6; i++) {
        b->bars[i] = qpci_config_readl(b->dev, PCI_BASE_ADDRESS_0 + 4 * i);
    }
}

/* What firmware does again after a reset: addresses and command register. */
static void board_remap_only(Board *b)
{
    for (int i = 0; i < 6; i++) {
        qpci_config_writel(b->dev, PCI_BASE_ADDRESS_0 + 4 * i, b->bars[i]);
    }
    qpci_config_writew(b->dev, PCI_COMMAND, PCI_COMMAND_MEMORY);
}

static void board_remap(Board *b)
{
    board_remap_only(b);
    qpci_device_enable(b->dev);
}

static void set_segment(Rig *rig, Board *b, unsigned index, uint32_t space,
                        uint64_t base, uint64_t length)
{
    struct tdma_segment seg = {
        .space = cpu_to_le32(space),
        .flags = cpu_to_le32(TDMA_SEG_READ | TDMA_SEG_WRITE),
        .length = cpu_to_le64(length),
        .base = cpu_to_le64(base),
    };
    uint64_t at = b->ring - RING + SEGMENTS + index * sizeof(seg);

    qtest_memwrite(rig->qts, at, &seg, sizeof(seg));
    /* The device may keep what it read of the table until it is told. */
    wr64(b, TDMA_CONTEXT_BASE + TDMA_CONTEXT_TABLE,
         b->ring - RING + SEGMENTS);
    wr(b, TDMA_CONTEXT_BASE + TDMA_CONTEXT_COUNT, NUM_SEGMENTS);
}

static void queue_configure(Board *b, unsigned queue)
{
    uint32_t delta = b->ring - RING;

    wr64(b, queue_reg(queue, TDMA_QUEUE_RING), b->ring);
    wr64(b, queue_reg(queue, TDMA_QUEUE_RECORDS), RECORDS + delta);
    wrq(b, queue, TDMA_QUEUE_RING_ORDER, RING_ORDER);
    wrq(b, queue, TDMA_QUEUE_CONTEXT, 0);
    wrq(b, queue, TDMA_QUEUE_VECTOR, 3);
    wrq(b, queue, TDMA_QUEUE_THREAD, TDMA_THREAD_ANY);
}

static void board_start(Rig *rig, Board *b)
{
    qtest_memset(rig->qts, b->ring - RING + RECORDS, 0,
                 SLOTS * sizeof(struct tdma_record));
    set_segment(rig, b, SEG_SRC, TDMA_SPACE_HOST, SRC, DATA_SIZE);
    set_segment(rig, b, SEG_DST, TDMA_SPACE_HOST, DST, DATA_SIZE);
    set_segment(rig, b, SEG_HBM, TDMA_SPACE_HBM, 0, HBM_SIZE);
    set_segment(rig, b, SEG_ANY, TDMA_SPACE_HOST, SRC, DATA_SIZE);
    queue_configure(b, 0);
    b->tail = 0;
    wr(b, TDMA_REG_CONTROL, TDMA_CONTROL_ENABLE);
    wrq(b, 0, TDMA_QUEUE_CONTROL, TDMA_QCTL_ENABLE);
    g_assert_cmphex(rdq(b, 0, TDMA_QUEUE_STATE), ==, TDMA_QSTATE_IDLE);
}

/*
 * VT-d, legacy mode, three levels: the first four gigabytes are mapped to
 * themselves, the fifth page by page to DST, backwards, and odd pages for
 * reading only.
 */
static void iommu_enable(Rig *rig)
{
    const uint64_t present = 1, rw = 3, ro = 1, large = 1 << 7;
    QTestState *qts = rig->qts;

    qtest_writeq(qts, IOMMU_ROOT, IOMMU_CONTEXTS | present);
    for (int slot = 4; slot <= 5; slot++) {
        uint64_t entry = IOMMU_CONTEXTS + QPCI_DEVFN(slot, 0) * 16;

        qtest_writeq(qts, entry, IOMMU_TOP | present);
        qtest_writeq(qts, entry + 8, 1 << 8 | 1);   /* domain 1, 39 bits */
    }
    for (uint64_t gb = 0; gb < 4; gb++) {
        uint64_t table = IOMMU_TABLES + gb * 4096;

        qtest_writeq(qts, IOMMU_TOP + gb * 8, table | rw);
        for (uint64_t i = 0; i < 512; i++) {
            qtest_writeq(qts, table + i * 8,
                         gb << 30 | i << 21 | large | rw);
        }
    }
    qtest_writeq(qts, IOMMU_TOP + 4 * 8, (IOMMU_TABLES + 4 * 4096) | rw);
    qtest_writeq(qts, IOMMU_TABLES + 4 * 4096, (IOMMU_TABLES + 5 * 4096) | rw);
    for (uint64_t i = 0; i < IOVA_PAGES; i++) {
        qtest_writeq(qts, IOMMU_TABLES + 5 * 4096 + i * 8,
                     (DST + (IOVA_PAGES - 1 - i) * 4096) | (i & 1 ? ro : rw));
    }
    qtest_writeq(qts, Q35_HOST_BRIDGE_IOMMU_ADDR + DMAR_RTADDR_REG,
                 IOMMU_ROOT);
    qtest_writel(qts, Q35_HOST_BRIDGE_IOMMU_ADDR + DMAR_GCMD_REG,
                 VTD_GCMD_SRTP);
    qtest_writel(qts, Q35_HOST_BRIDGE_IOMMU_ADDR + DMAR_GCMD_REG,
                 VTD_GCMD_TE);
    g_assert_true(qtest_readl(qts, Q35_HOST_BRIDGE_IOMMU_ADDR + DMAR_GSTS_REG) &
                  VTD_GSTS_TES);
}

static Rig *rig_new_with(const Mode *mode, const char *options)
{
    Rig *rig = g_new0(Rig, 1);

    rig->qts = qtest_initf(
        "-machine q35 -nodefaults -bios %s %s "
        "-device tensordma,addr=4,id=t0,hbm-size=1M,vectors=%d%s%s "
        "-device tensordma,addr=5,id=t1,hbm-size=1M,vectors=%d%s%s",
        rom_file, mode->machine, VECTORS, mode->options, options,
        VECTORS, mode->options, options);
    if (mode->iommu) {
        iommu_enable(rig);
    }
    rig->bus = qpci_new_pc(rig->qts, NULL);
    for (int i = 0; i < 2; i++) {
        rig->board[i].dev = qpci_device_find(rig->bus, QPCI_DEVFN(4 + i, 0));
        g_assert_nonnull(rig->board[i].dev);
        rig->board[i].ring = RING + i * 0x10000;
        board_map(&rig->board[i]);
    }
    return rig;
}

static Rig *rig_new(const Mode *mode)
{
    return rig_new_with(mode, "");
}

static Rig *rig_started(const Mode *mode)
{
    Rig *rig = rig_new(mode);

    board_start(rig, &rig->board[0]);
    board_start(rig, &rig->board[1]);
    return rig;
}

static void rig_free(Rig *rig)
{
    for (int i = 0; i < 2; i++) {
        g_free(rig->board[i].dev);
    }
    qpci_free_pc(rig->bus);
    qtest_quit(rig->qts);
    g_free(rig);
}

/* Descriptors; only the fields the tests use are converted to little endian */

static struct tdma_desc copy_desc(uint32_t src, uint32_t dst, uint32_t bytes)
{
    return (struct tdma_desc) {
        .version = TDMA_DESC_VERSION,
        .opcode = TDMA_OP_COPY,
        .ndims = 1,
        .flags = cpu_to_le32(TDMA_DESC_IRQ),
        .elem_bytes = cpu_to_le32(1),
        .src_segment = cpu_to_le32(src),
        .dst_segment = cpu_to_le32(dst),
        .tag = cpu_to_le64(0x1122334455667788),
        .steps = { cpu_to_le32(bytes) },
        .src_stride = { cpu_to_le64(1) },
        .dst_stride = { cpu_to_le64(1) },
    };
}

/* 2^40 one-byte elements, over and over the same 32 bytes. */
static struct tdma_desc huge_desc(void)
{
    struct tdma_desc d = copy_desc(SEG_SRC, SEG_DST, 32);

    d.ndims = TDMA_MAX_DIMS;
    for (int i = 1; i < TDMA_MAX_DIMS; i++) {
        d.steps[i] = cpu_to_le32(32);
    }
    d.dst_sync_interval = cpu_to_le32(4096);
    return d;
}

static uint32_t submit(Rig *rig, Board *b, const struct tdma_desc *d)
{
    uint32_t index = b->tail++;

    qtest_memwrite(rig->qts, b->ring + index % SLOTS * sizeof(*d), d,
                   sizeof(*d));
    doorbell(b, 0, b->tail);
    return index;
}

static struct tdma_record read_record(Rig *rig, Board *b, uint32_t index)
{
    struct tdma_record r;

    qtest_memread(rig->qts, b->ring - RING + RECORDS +
                  index % SLOTS * sizeof(r), &r, sizeof(r));
    r.tag = le64_to_cpu(r.tag);
    r.src_done = le64_to_cpu(r.src_done);
    r.dst_done = le64_to_cpu(r.dst_done);
    r.fault_offset = le64_to_cpu(r.fault_offset);
    r.status = le32_to_cpu(r.status);
    r.sequence = le32_to_cpu(r.sequence);
    return r;
}

static struct tdma_record wait_record(Rig *rig, Board *b, uint32_t index)
{
    int64_t end = g_get_monotonic_time() + TIMEOUT_US;
    struct tdma_record r;

    do {
        g_assert_cmpint(g_get_monotonic_time(), <, end);
        r = read_record(rig, b, index);
    } while (r.sequence != index + 1 || r.status == TDMA_STATUS_PENDING);
    return r;
}

static uint32_t run(Rig *rig, Board *b, const struct tdma_desc *d)
{
    return wait_record(rig, b, submit(rig, b, d)).status;
}

static void start_huge(Rig *rig, Board *b)
{
    struct tdma_desc d = huge_desc();
    uint32_t index = submit(rig, b, &d);
    int64_t end = g_get_monotonic_time() + TIMEOUT_US;

    while (read_record(rig, b, index).dst_done == 0) {
        g_assert_cmpint(g_get_monotonic_time(), <, end);
    }
    g_assert_cmphex(read_record(rig, b, index).status, ==,
                    TDMA_STATUS_PENDING);
}

/* A pattern that differs everywhere and from run to run. */
static void fill(Rig *rig, uint64_t addr, uint8_t *copy, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        copy[i] = g_test_rand_int();
    }
    qtest_memwrite(rig->qts, addr, copy, len);
}

static void check_memory(Rig *rig, uint64_t addr, const uint8_t *want,
                         size_t len)
{
    g_autofree uint8_t *have = g_malloc(len);

    qtest_memread(rig->qts, addr, have, len);
    g_assert_cmpmem(have, len, want, len);
}

/*
 * Nothing moves any more: overwrite what the job would write and look again
 * when a job that went on would have been there thousands of times.
 */
static void check_still(Rig *rig)
{
    uint8_t guard[64];

    fill(rig, DST, guard, sizeof(guard));
    fill(rig, SRC, (uint8_t[64]) { 0 }, 64);
    g_usleep(SETTLE_US);
    check_memory(rig, DST, guard, sizeof(guard));
}

/* The board does what it should: a job of its own, whatever came before. */
static void check_works(Rig *rig, Board *b)
{
    struct tdma_desc d = copy_desc(SEG_SRC, SEG_DST, 5000);
    uint8_t data[5000];

    set_segment(rig, b, SEG_SRC, TDMA_SPACE_HOST, SRC, DATA_SIZE);
    set_segment(rig, b, SEG_DST, TDMA_SPACE_HOST, DST, DATA_SIZE);
    fill(rig, SRC, data, sizeof(data));
    g_assert_cmphex(run(rig, b, &d), ==, TDMA_STATUS_OK);
    check_memory(rig, DST, data, sizeof(data));
}

static void flr(Board *b)
{
    uint8_t cap = qpci_find_capability(b->dev, PCI_CAP_ID_EXP, 0);
    uint16_t control = qpci_config_readw(b->dev, cap + PCI_EXP_DEVCTL);

    qpci_config_writew(b->dev, cap + PCI_EXP_DEVCTL,
                       control | PCI_EXP_DEVCTL_BCR_FLR);
}

/* What device_del does once the guest has agreed, which takes a guest. */
static void unplug(Rig *rig, const char *id)
{
    g_autofree char *path = g_strdup_printf("/machine/peripheral/%s", id);

    qtest_qmp_assert_success(rig->qts, "{ 'execute': 'qom-set',"
        " 'arguments': { 'path': %s, 'property': 'realized',"
        " 'value': false } }", path);
}

static void set_bus_master(Board *b, bool on)
{
    uint16_t command = qpci_config_readw(b->dev, PCI_COMMAND);

    command &= ~PCI_COMMAND_MASTER;
    qpci_config_writew(b->dev, PCI_COMMAND,
                       command | (on ? PCI_COMMAND_MASTER : 0));
}

/* Tests */

static void test_identity(const void *opaque)
{
    Rig *rig = rig_new(opaque);
    QPCIDevice *dev = rig->board[0].dev;
    uint8_t exp = qpci_find_capability(dev, PCI_CAP_ID_EXP, 0);
    uint8_t pm = qpci_find_capability(dev, PCI_CAP_ID_PM, 0);
    uint64_t size;

    g_assert_cmphex(qpci_config_readw(dev, PCI_VENDOR_ID), ==,
                    TDMA_PCI_VENDOR_ID);
    g_assert_cmphex(qpci_config_readw(dev, PCI_DEVICE_ID), ==,
                    TDMA_PCI_DEVICE_ID);
    g_assert_cmphex(qpci_config_readl(dev, PCI_CLASS_REVISION) >> 8, ==,
                    TDMA_PCI_CLASS << 8);
    g_assert_cmphex(qpci_config_readb(dev, PCI_INTERRUPT_PIN), ==, 0);
    g_assert_cmpint(exp, !=, 0);
    g_assert_true(qpci_config_readl(dev, exp + PCI_EXP_DEVCAP) &
                  PCI_EXP_DEVCAP_FLR);
    g_assert_cmpint(pm, !=, 0);
    g_assert_cmpint(qpci_msix_table_size(dev), ==, VECTORS);

    g_assert_cmphex(qpci_config_readl(dev, PCI_BASE_ADDRESS_2) & 0xf, ==,
                    PCI_BASE_ADDRESS_MEM_TYPE_64 |
                    PCI_BASE_ADDRESS_MEM_PREFETCH);
    qpci_iomap(dev, TDMA_BAR_REGS, &size);
    g_assert_cmphex(size, ==, TDMA_BAR0_SIZE);
    qpci_iomap(dev, TDMA_BAR_HBM, &size);
    g_assert_cmphex(size, ==, HBM_SIZE);
    rig_free(rig);
}

static void check_power_on(Board *b, uint32_t generation)
{
    g_assert_cmphex(rd(b, TDMA_REG_ID), ==, TDMA_ID_VALUE);
    g_assert_cmphex(rd(b, TDMA_REG_CONTROL), ==, 0);
    g_assert_cmphex(rd(b, TDMA_REG_STATUS), ==,
                    TDMA_STATUS_REG_READY | TDMA_STATUS_REG_IDLE);
    g_assert_cmpint(rd(b, TDMA_REG_GENERATION), ==, generation);
    g_assert_cmpint(rd(b, TDMA_REG_BAD_ACCESS), ==, 0);
    for (unsigned q = 0; q < 128; q++) {
        for (unsigned reg = TDMA_QUEUE_CONTROL; reg <= TDMA_QUEUE_IRQ_STATUS;
             reg += 4) {
            g_assert_cmphex(rdq(b, q, reg), ==, 0);
        }
    }
    for (unsigned c = 0; c < 128; c++) {
        uint64_t context = TDMA_CONTEXT_BASE + c * TDMA_CONTEXT_STRIDE;

        g_assert_cmphex(rd(b, context + TDMA_CONTEXT_COUNT), ==, 0);
    }
}

static void test_registers(const void *opaque)
{
    Rig *rig = rig_new(opaque);
    Board *b = &rig->board[0];
    uint64_t ring = queue_reg(1, TDMA_QUEUE_RING);

    check_power_on(b, rd(b, TDMA_REG_GENERATION));
    g_assert_cmphex(rd(b, TDMA_REG_VERSION), ==, TDMA_VERSION_VALUE);
    g_assert_cmpint(rd(b, TDMA_REG_THREADS), ==, 4);
    g_assert_cmpint(rd(b, TDMA_REG_QUEUES), ==, 128);
    g_assert_cmpint(rd(b, TDMA_REG_VECTORS), ==, VECTORS);
    g_assert_cmphex(rd(b, TDMA_REG_HBM_SIZE), ==, HBM_SIZE);
    g_assert_cmphex(qpci_io_readq(b->dev, b->regs, TDMA_REG_HBM_SIZE), ==,
                    HBM_SIZE);

    /* one 64-bit register, written and read whole and in halves */
    wr64(b, ring, 0x123456789abcde00);
    g_assert_cmphex(rd(b, ring), ==, 0x9abcde00);
    g_assert_cmphex(rd(b, ring + 4), ==, 0x12345678);
    wr(b, ring + 4, 0x0badcafe);
    wr(b, ring, 0x55aa5500);
    g_assert_cmphex(qpci_io_readq(b->dev, b->regs, ring), ==,
                    0x0badcafe55aa5500);
    rig_free(rig);
}

static void test_bad_access(const void *opaque)
{
    Rig *rig = rig_new(opaque);
    Board *b = &rig->board[0];
    uint64_t base = b->regs.addr;
    uint32_t count;

    /* nothing there: zero, ignored, counted */
    g_assert_cmphex(rd(b, 0x800), ==, 0);
    wr(b, 0x800, 0xffffffff);
    g_assert_cmphex(rd(b, 0x800), ==, 0);
    count = rd(b, TDMA_REG_BAD_ACCESS);
    g_assert_cmpint(count, >=, 2);
    wr(b, TDMA_REG_BAD_ACCESS, 0);
    g_assert_cmpint(rd(b, TDMA_REG_BAD_ACCESS), ==, 0);

    /* too narrow or not aligned: must not reach a register */
    qtest_writeb(rig->qts, base + TDMA_REG_CONTROL, TDMA_CONTROL_ENABLE);
    qtest_writew(rig->qts, base + TDMA_REG_CONTROL, TDMA_CONTROL_ENABLE);
    qtest_writel(rig->qts, base + TDMA_REG_CONTROL - 1,
                 TDMA_CONTROL_ENABLE << 8);
    qtest_writel(rig->qts, base + TDMA_REG_CONTROL + 2, 0xffffffff);
    qtest_readl(rig->qts, base + TDMA_REG_ID + 2);
    qtest_readb(rig->qts, base + TDMA_REG_ID);
    qtest_readq(rig->qts, base + TDMA_BAR0_SIZE - 4);
    g_assert_cmphex(rd(b, TDMA_REG_CONTROL), ==, 0);

    board_start(rig, b);
    check_works(rig, b);
    rig_free(rig);
}

static void test_copy(const void *opaque)
{
    Rig *rig = rig_started(opaque);
    Board *b = &rig->board[0];
    struct tdma_desc d = copy_desc(SEG_SRC, SEG_DST, DATA_SIZE);
    g_autofree uint8_t *data = g_malloc(DATA_SIZE);
    struct tdma_record r;

    fill(rig, SRC, data, DATA_SIZE);
    r = wait_record(rig, b, submit(rig, b, &d));
    g_assert_cmphex(r.status, ==, TDMA_STATUS_OK);
    g_assert_cmphex(r.tag, ==, 0x1122334455667788);
    g_assert_cmpint(r.src_done, ==, DATA_SIZE);
    g_assert_cmpint(r.dst_done, ==, DATA_SIZE);
    check_memory(rig, DST, data, DATA_SIZE);
    wait_queue(b, 0, TDMA_QUEUE_DONE, 1);
    wait_queue(b, 0, TDMA_QUEUE_STATE, TDMA_QSTATE_IDLE);

    /* more jobs than the ring has slots */
    for (int i = 0; i < 3 * SLOTS; i++) {
        check_works(rig, b);
    }
    rig_free(rig);
}

static void test_hbm(const void *opaque)
{
    Rig *rig = rig_started(opaque);
    Board *b = &rig->board[0];
    struct tdma_desc in = copy_desc(SEG_SRC, SEG_HBM, HBM_SIZE);
    struct tdma_desc out = copy_desc(SEG_HBM, SEG_DST, 4096);
    g_autofree uint8_t *data = g_malloc(HBM_SIZE);

    fill(rig, SRC, data, HBM_SIZE);
    g_assert_cmphex(run(rig, b, &in), ==, TDMA_STATUS_OK);
    check_memory(rig, b->hbm.addr, data, HBM_SIZE);

    fill(rig, b->hbm.addr, data, 4096);
    g_assert_cmphex(run(rig, b, &out), ==, TDMA_STATUS_OK);
    check_memory(rig, DST, data, 4096);
    rig_free(rig);
}

/* The HBM of another device is memory on the bus like any other. */
static void test_peer(const void *opaque)
{
    Rig *rig = rig_started(opaque);
    Board *b = &rig->board[0];
    Board *peer = &rig->board[1];
    struct tdma_desc to = copy_desc(SEG_SRC, SEG_ANY, 10000);
    struct tdma_desc from = copy_desc(SEG_ANY, SEG_DST, 10000);
    uint8_t data[10000];

    set_segment(rig, b, SEG_ANY, TDMA_SPACE_HOST, peer->hbm.addr, HBM_SIZE);
    fill(rig, SRC, data, sizeof(data));
    g_assert_cmphex(run(rig, b, &to), ==, TDMA_STATUS_OK);
    check_memory(rig, peer->hbm.addr, data, sizeof(data));
    fill(rig, peer->hbm.addr, data, sizeof(data));
    g_assert_cmphex(run(rig, b, &from), ==, TDMA_STATUS_OK);
    check_memory(rig, DST, data, sizeof(data));
    check_works(rig, peer);
    rig_free(rig);
}

/* The tail is in memory; what the doorbell is given does not matter. */
static void check_tail_in_memory(Rig *rig)
{
    Board *b = &rig->board[0];
    struct tdma_desc d = copy_desc(SEG_SRC, SEG_DST, 100);

    board_start(rig, b);
    wrq(b, 0, TDMA_QUEUE_CONTROL, 0);
    wait_queue(b, 0, TDMA_QUEUE_STATE, TDMA_QSTATE_OFF);
    wr64(b, queue_reg(0, TDMA_QUEUE_TAIL_ADDR), TAIL);
    qtest_writel(rig->qts, TAIL, 0);
    wrq(b, 0, TDMA_QUEUE_CONTROL, TDMA_QCTL_ENABLE);
    for (uint32_t i = 0; i < 3 * SLOTS; i++) {
        qtest_memwrite(rig->qts, RING + i % SLOTS * sizeof(d), &d, sizeof(d));
        qtest_writel(rig->qts, TAIL, i + 1);
        doorbell(b, 0, 0xdeadbeef);
        g_assert_cmphex(wait_record(rig, b, i).status, ==, TDMA_STATUS_OK);
    }
}

static void test_tail_in_memory(const void *opaque)
{
    Rig *rig = rig_new(opaque);

    check_tail_in_memory(rig);
    rig_free(rig);
}

/* Doorbells come and go with queues, resets and the device. */
static void test_ioeventfd(const void *opaque)
{
    Rig *rig = rig_new_with(opaque, ",ioeventfd=on");
    Board *b = &rig->board[0];

    check_tail_in_memory(rig);
    flr(b);
    board_remap(b);
    check_tail_in_memory(rig);
    wr(b, TDMA_REG_CONTROL, TDMA_CONTROL_RESET);
    board_start(rig, b);
    check_works(rig, b);                /* the value is the tail again */
    check_tail_in_memory(rig);
    unplug(rig, "t0");
    rig_free(rig);
}

/* Messages go to guest memory here, where the test can see them. */
static void message_setup(Rig *rig, Board *b, unsigned vector, uint32_t data,
                          uint32_t control)
{
    uint64_t entry = b->dev->msix_table_off + vector * PCI_MSIX_ENTRY_SIZE;

    qtest_writel(rig->qts, MESSAGE, 0);
    qpci_io_writel(b->dev, b->dev->msix_table_bar,
                   entry + PCI_MSIX_ENTRY_LOWER_ADDR, MESSAGE);
    qpci_io_writel(b->dev, b->dev->msix_table_bar,
                   entry + PCI_MSIX_ENTRY_UPPER_ADDR, 0);
    qpci_io_writel(b->dev, b->dev->msix_table_bar,
                   entry + PCI_MSIX_ENTRY_DATA, data);
    qpci_io_writel(b->dev, b->dev->msix_table_bar,
                   entry + PCI_MSIX_ENTRY_VECTOR_CTRL, control);
}

static void wait_message(Rig *rig, uint32_t data)
{
    int64_t end = g_get_monotonic_time() + TIMEOUT_US;

    while (qtest_readl(rig->qts, MESSAGE) != data) {
        g_assert_cmpint(g_get_monotonic_time(), <, end);
    }
}

static void wait_pending(Board *b, unsigned vector)
{
    int64_t end = g_get_monotonic_time() + TIMEOUT_US;

    while (!qpci_msix_pending(b->dev, vector)) {
        g_assert_cmpint(g_get_monotonic_time(), <, end);
    }
}

static void test_msix(const void *opaque)
{
    Rig *rig = rig_started(opaque);
    Board *b = &rig->board[0];
    struct tdma_desc quiet = copy_desc(SEG_SRC, SEG_DST, 100);

    /* not enabled: the job runs, nothing is sent or kept */
    check_works(rig, b);
    wait_queue(b, 0, TDMA_QUEUE_IRQ_STATUS, 1);
    qpci_msix_enable(b->dev);
    g_assert_false(qpci_msix_pending(b->dev, 3));

    /* unmasked */
    message_setup(rig, b, 3, 0xaa01, 0);
    check_works(rig, b);
    wait_message(rig, 0xaa01);

    /* masked: pending, and delivered on unmasking with what is there then */
    message_setup(rig, b, 3, 0xaa02, PCI_MSIX_ENTRY_CTRL_MASKBIT);
    check_works(rig, b);
    wait_pending(b, 3);
    g_assert_cmphex(qtest_readl(rig->qts, MESSAGE), ==, 0);
    message_setup(rig, b, 3, 0xaa03, 0);
    wait_message(rig, 0xaa03);
    g_assert_false(qpci_msix_pending(b->dev, 3));

    /* a descriptor that does not ask for one */
    message_setup(rig, b, 3, 0xaa04, 0);
    quiet.flags = 0;
    g_assert_cmphex(run(rig, b, &quiet), ==, TDMA_STATUS_OK);
    g_usleep(SETTLE_US);
    g_assert_cmphex(qtest_readl(rig->qts, MESSAGE), ==, 0);

    /* raised where it cannot be sent: that the ring cannot be read */
    message_setup(rig, b, 3, 0xaa05, 0);
    set_bus_master(b, false);
    submit(rig, b, &quiet);
    wait_queue(b, 0, TDMA_QUEUE_STATE, TDMA_QSTATE_HALTED);
    g_usleep(SETTLE_US);
    g_assert_cmphex(qtest_readl(rig->qts, MESSAGE), ==, 0);
    set_bus_master(b, true);
    wait_message(rig, 0xaa05);

    /* pending when a reset comes: gone */
    wrq(b, 0, TDMA_QUEUE_CONTROL, 0);
    wait_queue(b, 0, TDMA_QUEUE_STATE, TDMA_QSTATE_OFF);
    board_start(rig, b);
    message_setup(rig, b, 3, 0xaa06, PCI_MSIX_ENTRY_CTRL_MASKBIT);
    check_works(rig, b);
    wait_pending(b, 3);
    flr(b);
    board_remap(b);
    message_setup(rig, b, 3, 0xaa07, 0);
    qpci_msix_enable(b->dev);
    g_usleep(SETTLE_US);
    g_assert_cmphex(qtest_readl(rig->qts, MESSAGE), ==, 0);
    rig_free(rig);
}

/* Everything on the bus that is not memory */
static void check_refused(Rig *rig, Board *b, uint64_t addr, bool as_src)
{
    struct tdma_desc d = as_src ? copy_desc(SEG_ANY, SEG_DST, 4096) :
                                  copy_desc(SEG_SRC, SEG_ANY, 4096);
    struct tdma_record r;
    uint8_t guard[64];

    set_segment(rig, b, SEG_ANY, TDMA_SPACE_HOST, addr, 4096);
    fill(rig, DST, guard, sizeof(guard));
    fill(rig, SRC, (uint8_t[64]) { 0 }, 64);
    r = wait_record(rig, b, submit(rig, b, &d));
    g_assert_cmphex(r.status, ==, TDMA_STATUS_BUS_ERROR);
    g_assert_cmpint(r.fault_side, ==, as_src ? TDMA_SIDE_SRC : TDMA_SIDE_DST);
    g_assert_cmpint(r.dst_done, ==, 0);
    check_memory(rig, DST, guard, sizeof(guard));
}

static void test_refused(const void *opaque)
{
    Rig *rig = rig_started(opaque);
    Board *b = &rig->board[0];
    Board *peer = &rig->board[1];
    uint32_t generation = rd(b, TDMA_REG_GENERATION);
    struct tdma_desc from_rom = copy_desc(SEG_ANY, SEG_DST, 4096);
    uint8_t rom[4096];
    uint64_t targets[] = {
        b->regs.addr + TDMA_REG_CONTROL,
        b->regs.addr + queue_reg(1, 0),
        b->regs.addr + TDMA_DOORBELL_BASE,
        peer->regs.addr,
        peer->regs.addr + TDMA_DOORBELL_BASE,
        0,                      /* both MSI-X tables, filled in below */
        0,
        LOCAL_APIC,
        HOLE,
        1ULL << 50,
        UINT64_MAX - 8191,
    };

    qpci_msix_enable(b->dev);
    qpci_msix_enable(peer->dev);
    targets[5] = b->dev->msix_table_bar.addr;
    targets[6] = peer->dev->msix_table_bar.addr;

    for (unsigned i = 0; i < ARRAY_SIZE(targets); i++) {
        g_test_message("target 0x%" PRIx64, targets[i]);
        check_refused(rig, b, targets[i], true);
        check_refused(rig, b, targets[i], false);
    }
    /* ROM is memory to a reader only. */
    check_refused(rig, b, ROM, false);
    set_segment(rig, b, SEG_ANY, TDMA_SPACE_HOST, ROM, 4096);
    g_assert_cmphex(run(rig, b, &from_rom), ==, TDMA_STATUS_OK);
    memset(rom, 0x5a, sizeof(rom));
    check_memory(rig, DST, rom, sizeof(rom));

    g_assert_cmphex(rd(b, TDMA_REG_CONTROL), ==, TDMA_CONTROL_ENABLE);
    g_assert_cmpint(rd(b, TDMA_REG_GENERATION), ==, generation);
    g_assert_cmpint(rd(b, TDMA_REG_BAD_ACCESS), ==, 0);
    g_assert_cmpint(rd(peer, TDMA_REG_BAD_ACCESS), ==, 0);
    g_assert_cmphex(rdq(b, 1, TDMA_QUEUE_RING), ==, 0);
    g_assert_cmphex(rdq(b, 1, TDMA_QUEUE_STATE), ==, TDMA_QSTATE_OFF);
    check_works(rig, b);
    check_works(rig, peer);
    rig_free(rig);
}

/* A job whose memory ends in the middle: what is before the end is moved. */
static void test_runs_off(const void *opaque)
{
    Rig *rig = rig_started(opaque);
    Board *b = &rig->board[0];
    uint64_t end = 128 * MiB;           /* of RAM */
    struct tdma_desc d = copy_desc(SEG_SRC, SEG_ANY, 8192);
    struct tdma_record r;
    uint8_t data[4096];

    set_segment(rig, b, SEG_ANY, TDMA_SPACE_HOST, end - 4096, 8192);
    fill(rig, SRC, data, sizeof(data));
    r = wait_record(rig, b, submit(rig, b, &d));
    g_assert_cmphex(r.status, ==, TDMA_STATUS_BUS_ERROR);
    g_assert_cmpint(r.fault_side, ==, TDMA_SIDE_DST);
    g_assert_cmpint(r.dst_done, <=, 4096);
    check_memory(rig, end - 4096, data, r.dst_done);
    check_works(rig, b);
    rig_free(rig);
}

static void test_bus_master(const void *opaque)
{
    Rig *rig = rig_started(opaque);
    Board *b = &rig->board[0];
    struct tdma_desc d = copy_desc(SEG_SRC, SEG_DST, 100);

    set_bus_master(b, false);
    submit(rig, b, &d);
    wait_queue(b, 0, TDMA_QUEUE_STATE, TDMA_QSTATE_HALTED);
    g_assert_cmpint(rdq(b, 0, TDMA_QUEUE_ERROR), ==, TDMA_QERR_RING);
    g_assert_cmpint(read_record(rig, b, 0).sequence, ==, 0);

    set_bus_master(b, true);
    wrq(b, 0, TDMA_QUEUE_CONTROL, 0);
    wait_queue(b, 0, TDMA_QUEUE_STATE, TDMA_QSTATE_OFF);
    board_start(rig, b);
    check_works(rig, b);

    /* in the middle of a job: nothing moves once the write has returned */
    start_huge(rig, b);
    set_bus_master(b, false);
    check_still(rig);

    /* a reset turns it off as well */
    set_bus_master(b, true);
    flr(b);
    board_remap_only(b);
    board_start(rig, b);
    submit(rig, b, &d);
    wait_queue(b, 0, TDMA_QUEUE_ERROR, TDMA_QERR_RING);
    rig_free(rig);
}

static void test_queue_errors(const void *opaque)
{
    static const struct {
        unsigned reg;
        uint32_t value;
    } bad[] = {
        { TDMA_QUEUE_RING, RING + 64 },
        { TDMA_QUEUE_RECORDS, RECORDS + 32 },
        { TDMA_QUEUE_TAIL_ADDR, TAIL + 2 },
        { TDMA_QUEUE_RING_ORDER, 0 },
        { TDMA_QUEUE_RING_ORDER, 13 },
        { TDMA_QUEUE_RING_ORDER, UINT32_MAX },
        { TDMA_QUEUE_CONTEXT, 128 },
        { TDMA_QUEUE_CONTEXT, UINT32_MAX },
        { TDMA_QUEUE_VECTOR, VECTORS },
        { TDMA_QUEUE_VECTOR, UINT32_MAX },
        { TDMA_QUEUE_THREAD, 4 },
        { TDMA_QUEUE_PRIORITY, 8 },
        { TDMA_QUEUE_POLICY, 2 },
    };
    Rig *rig = rig_started(opaque);
    Board *b = &rig->board[0];

    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        unsigned q = 1 + i;

        queue_configure(b, q);
        wrq(b, q, bad[i].reg, bad[i].value);
        wrq(b, q, TDMA_QUEUE_CONTROL, TDMA_QCTL_ENABLE);
        g_test_message("register 0x%x = 0x%x", bad[i].reg, bad[i].value);
        wait_queue(b, q, TDMA_QUEUE_ERROR, TDMA_QERR_CONFIG);
    }

    /* a tail that is further ahead than the ring is long */
    doorbell(b, 0, SLOTS + 1);
    wait_queue(b, 0, TDMA_QUEUE_ERROR, TDMA_QERR_TAIL);
    g_assert_cmpint(read_record(rig, b, 0).sequence, ==, 0);
    check_works(rig, &rig->board[1]);
    rig_free(rig);
}

/* A ring in nowhere, and records that cannot be written */
static void test_ring_errors(const void *opaque)
{
    Rig *rig = rig_started(opaque);
    Board *b = &rig->board[0];
    struct tdma_desc d = copy_desc(SEG_SRC, SEG_DST, 100);

    queue_configure(b, 1);
    wr64(b, queue_reg(1, TDMA_QUEUE_RING), b->regs.addr);
    wrq(b, 1, TDMA_QUEUE_CONTROL, TDMA_QCTL_ENABLE);
    doorbell(b, 1, 1);
    wait_queue(b, 1, TDMA_QUEUE_ERROR, TDMA_QERR_RING);

    qtest_memwrite(rig->qts, RING, &d, sizeof(d));
    queue_configure(b, 2);
    wr64(b, queue_reg(2, TDMA_QUEUE_RECORDS), ROM);
    wrq(b, 2, TDMA_QUEUE_CONTROL, TDMA_QCTL_ENABLE);
    doorbell(b, 2, 1);
    wait_queue(b, 2, TDMA_QUEUE_ERROR, TDMA_QERR_RECORD);
    check_works(rig, b);
    rig_free(rig);
}

/* Ways to end everything at once; each must be prompt and final. */

static void end_by_flr(Rig *rig, Board *b)
{
    flr(b);
    g_assert_cmphex(qpci_config_readw(b->dev, PCI_COMMAND), ==, 0);
    board_remap(b);
}

static void end_by_register(Rig *rig, Board *b)
{
    wr(b, TDMA_REG_CONTROL, TDMA_CONTROL_RESET);
}

static void end_by_power(Rig *rig, Board *b)
{
    uint8_t pm = qpci_find_capability(b->dev, PCI_CAP_ID_PM, 0);

    qpci_config_writew(b->dev, pm + PCI_PM_CTRL, 3);
    check_still(rig);
    qpci_config_writew(b->dev, pm + PCI_PM_CTRL, 0);
    board_remap(b);
}

static void end_by_system_reset(Rig *rig, Board *b)
{
    qtest_system_reset(rig->qts);
    board_remap(b);
}

typedef struct Ending {
    const char *name;
    void (*end)(Rig *rig, Board *b);
} Ending;

static const Ending endings[] = {
    { "flr", end_by_flr },
    { "register", end_by_register },
    { "power", end_by_power },
    { "system", end_by_system_reset },
};

static void check_ending(Rig *rig, const Ending *ending)
{
    Board *b = &rig->board[0];
    uint32_t generation = rd(b, TDMA_REG_GENERATION);
    int64_t begin;

    board_start(rig, b);
    start_huge(rig, b);
    begin = g_get_monotonic_time();
    ending->end(rig, b);
    g_assert_cmpint(g_get_monotonic_time() - begin, <, 5 * G_USEC_PER_SEC);
    check_still(rig);
    check_power_on(b, generation + 1);
}

static void test_reset(const void *opaque)
{
    Rig *rig = rig_new(opaque);

    for (int round = 0; round < 5; round++) {
        for (unsigned i = 0; i < ARRAY_SIZE(endings); i++) {
            g_test_message("%s", endings[i].name);
            check_ending(rig, &endings[i]);
        }
    }
    board_start(rig, &rig->board[0]);
    check_works(rig, &rig->board[0]);
    rig_free(rig);
}

static void test_disable(const void *opaque)
{
    Rig *rig = rig_started(opaque);
    Board *b = &rig->board[0];

    start_huge(rig, b);
    wrq(b, 0, TDMA_QUEUE_CONTROL, 0);
    wait_queue(b, 0, TDMA_QUEUE_STATE, TDMA_QSTATE_OFF);
    check_still(rig);
    board_start(rig, b);
    check_works(rig, b);
    rig_free(rig);
}

/* The last run of a job must not be seen by a VM that is stopped. */
static void test_stop(const void *opaque)
{
    Rig *rig = rig_started(opaque);
    Board *b = &rig->board[0];
    struct tdma_desc d = copy_desc(SEG_SRC, SEG_DST, 100);
    struct tdma_record before, after;
    uint32_t index = 0;

    start_huge(rig, b);
    qtest_qmp_assert_success(rig->qts, "{ 'execute': 'stop' }");
    before = read_record(rig, b, index);
    check_still(rig);
    after = read_record(rig, b, index);
    g_assert_cmpmem(&before, sizeof(before), &after, sizeof(after));
    qtest_qmp_assert_success(rig->qts, "{ 'execute': 'cont' }");
    do {
        after = read_record(rig, b, index);
    } while (after.dst_done == before.dst_done);

    /* a doorbell while stopped is kept until the VM runs again */
    end_by_register(rig, b);
    board_start(rig, b);
    qtest_qmp_assert_success(rig->qts, "{ 'execute': 'stop' }");
    index = submit(rig, b, &d);
    g_usleep(SETTLE_US);
    g_assert_cmpint(read_record(rig, b, index).sequence, ==, 0);
    qtest_qmp_assert_success(rig->qts, "{ 'execute': 'cont' }");
    g_assert_cmphex(wait_record(rig, b, index).status, ==, TDMA_STATUS_OK);
    rig_free(rig);
}

static void test_unplug(const void *opaque)
{
    for (int round = 0; round < 3; round++) {
        Rig *rig = rig_started(opaque);

        start_huge(rig, &rig->board[0]);
        unplug(rig, "t0");
        check_still(rig);
        check_works(rig, &rig->board[1]);
        rig_free(rig);
    }
}

static QDict *get_state(Rig *rig, const char *id)
{
    g_autofree char *path = g_strdup_printf("/machine/peripheral/%s", id);
    QDict *reply = qtest_qmp_assert_success_ref(rig->qts,
        "{ 'execute': 'qom-get', 'arguments':"
        " { 'path': %s, 'property': 'state' } }", path);

    return reply;
}

/* The queue's entry in what "state" shows of the first board, or NULL */
static const char *queue_says(QDict *state, unsigned queue, const char *what)
{
    QListEntry *entry;

    QLIST_FOREACH_ENTRY(qdict_get_qlist(state, "queues"), entry) {
        QDict *info = qobject_to(QDict, qlist_entry_obj(entry));

        if (qdict_get_int(info, "queue") == queue) {
            return qdict_get_str(info, what);
        }
    }
    return NULL;
}

/* What is seen from outside is what software sees. */
static void test_state(const void *opaque)
{
    Rig *rig = rig_started(opaque);
    Board *b = &rig->board[0];
    uint64_t cycles = TDMA_THREAD_BASE + TDMA_THREAD_CYCLES;
    QDict *state, *thread;

    start_huge(rig, b);
    queue_configure(b, 2);
    wrq(b, 2, TDMA_QUEUE_VECTOR, VECTORS);
    wrq(b, 2, TDMA_QUEUE_CONTROL, TDMA_QCTL_ENABLE);
    rd(b, 0x800);
    state = get_state(rig, "t0");
    g_assert_cmpstr(queue_says(state, 0, "state"), ==, "running");
    g_assert_cmpstr(queue_says(state, 0, "wait"), !=, "none");
    g_assert_null(queue_says(state, 1, "state"));
    g_assert_cmpstr(queue_says(state, 2, "state"), ==, "off");
    g_assert_cmpstr(queue_says(state, 2, "error"), ==, "config");
    g_assert_true(qdict_get_bool(state, "enabled"));
    g_assert_true(qdict_get_bool(state, "bus-master"));
    g_assert_false(qdict_get_bool(state, "idle"));
    g_assert_true(qlist_empty(qdict_get_qlist(state, "held-by")));
    g_assert_cmpint(qdict_get_int(state, "bad-accesses"), ==, 1);
    g_assert_cmpint(qdict_get_int(state, "generation"), ==,
                    rd(b, TDMA_REG_GENERATION));
    qobject_unref(state);

    wrq(b, 0, TDMA_QUEUE_CONTROL, TDMA_QCTL_ENABLE | TDMA_QCTL_PAUSE);
    wait_queue(b, 0, TDMA_QUEUE_STATE, TDMA_QSTATE_PAUSED);
    qtest_qmp_assert_success(rig->qts, "{ 'execute': 'stop' }");
    state = get_state(rig, "t0");
    thread = qobject_to(QDict, qlist_peek(qdict_get_qlist(state, "threads")));
    g_assert_cmpstr(queue_says(state, 0, "state"), ==, "paused");
    g_assert_false(qlist_empty(qdict_get_qlist(state, "held-by")));
    g_assert_cmpint(qdict_get_int(thread, "cycles"), ==,
                    qpci_io_readq(b->dev, b->regs, cycles));
    g_assert_cmpstr(qdict_get_str(thread, "throttle"), ==, "off");
    qobject_unref(state);
    rig_free(rig);
}

static void wait_result(Rig *rig, uint16_t value)
{
    int64_t end = g_get_monotonic_time() + TIMEOUT_US;

    while (qtest_readw(rig->qts, RESULT) != value) {
        g_assert_cmpint(g_get_monotonic_time(), <, end);
    }
}

/*
 * TCG must notice that DMA has replaced code that it has translated, and must
 * still notice the next one who writes there.
 */
static void test_translated_code(void)
{
    static const Mode mode = { "tcg", "-accel tcg -S", "" };
    uint8_t code[] = { 0xb8, 0x00, 0xaa, 0xcb };    /* mov $0xaa00, %ax; lret */
    struct tdma_desc d = copy_desc(SEG_SRC, SEG_ANY, sizeof(code));
    Rig *rig;
    Board *b;

    if (!qtest_has_accel("tcg")) {
        g_test_skip("no TCG in this QEMU");
        return;
    }
    rig = rig_new(&mode);
    b = &rig->board[0];
    board_start(rig, b);
    set_segment(rig, b, SEG_ANY, TDMA_SPACE_HOST, CODE, sizeof(code));
    qtest_memwrite(rig->qts, CODE, code, sizeof(code));
    qtest_qmp_assert_success(rig->qts, "{ 'execute': 'cont' }");
    wait_result(rig, 0xaa00);
    for (int i = 0; i < 10; i++) {
        code[1] = 2 * i + 1;
        qtest_memwrite(rig->qts, SRC, code, sizeof(code));
        g_assert_cmphex(run(rig, b, &d), ==, TDMA_STATUS_OK);
        wait_result(rig, 0xaa00 | code[1]);
        code[1] = 2 * i + 2;
        qtest_memwrite(rig->qts, CODE, code, sizeof(code));
        wait_result(rig, 0xaa00 | code[1]);
    }
    rig_free(rig);
}

/* Hostile software: values, places and descriptors at random */

static unsigned any(unsigned count)
{
    return g_test_rand_int_range(0, count);
}

static uint64_t any_value(Board *b)
{
    const uint64_t pool[] = {
        0, 1, 2, UINT32_MAX, UINT64_MAX, 1ULL << 63, b->ring, RECORDS,
        SEGMENTS, TAIL, SRC, DST, ROM, b->regs.addr, b->hbm.addr, LOCAL_APIC,
        HOLE, any(16), any(4096), any(INT32_MAX),
        (uint64_t)any(INT32_MAX) << 33,
    };

    return pool[any(ARRAY_SIZE(pool))];
}

static uint64_t any_register(void)
{
    switch (any(8)) {
    case 0:
        return TDMA_REG_CONTROL + 4 * any(6);
    case 1:
        return TDMA_THREAD_BASE + any(4) * TDMA_THREAD_STRIDE + 4 * any(12);
    case 2:
        return TDMA_CONTEXT_BASE + any(3) * TDMA_CONTEXT_STRIDE + 4 * any(4);
    case 3:
        return TDMA_SYNC_BASE + any(4) * TDMA_SYNC_STRIDE + 4 * any(2);
    case 4:
        return TDMA_DOORBELL_BASE + any(4) * TDMA_DOORBELL_STRIDE;
    case 5:
        return any(TDMA_BAR0_SIZE / 4 - 1) * 4;
    default:
        return queue_reg(any(4), 4 * any(24));
    }
}

/* A valid descriptor with a few fields that are not, maybe */
static void any_descriptor(Rig *rig, Board *b)
{
    struct tdma_desc d = any(2) ? huge_desc() : copy_desc(any(4), any(4), 64);
    uint8_t *bytes = (uint8_t *)&d;

    for (unsigned i = any(4); i; i--) {
        bytes[any(sizeof(d))] = any(3) ? any(8) : any(256);
    }
    qtest_memwrite(rig->qts, b->ring + any(SLOTS) * sizeof(d), &d, sizeof(d));
}

static void any_act(Rig *rig, Board *b)
{
    switch (any(256)) {
    case 0:
        flr(b);
        board_remap(b);
        break;
    case 1:
        set_bus_master(b, false);
        set_bus_master(b, true);
        break;
    case 2 ... 3:
        qtest_qmp_assert_success(rig->qts, "{ 'execute': 'stop' }");
        wr(b, any_register(), any_value(b));
        qtest_qmp_assert_success(rig->qts, "{ 'execute': 'cont' }");
        break;
    case 4 ... 7:
        wr(b, TDMA_REG_CONTROL, TDMA_CONTROL_ENABLE);
        set_segment(rig, b, SEG_SRC, TDMA_SPACE_HOST, SRC, DATA_SIZE);
        set_segment(rig, b, SEG_DST, TDMA_SPACE_HOST, DST, DATA_SIZE);
        set_segment(rig, b, any(NUM_SEGMENTS), any(4), any_value(b),
                    any_value(b));
        break;
    case 8 ... 31:
        queue_configure(b, any(4));
        wrq(b, any(4), TDMA_QUEUE_CONTROL, TDMA_QCTL_ENABLE | any(16));
        break;
    case 32 ... 63:
        any_descriptor(rig, b);
        break;
    case 64 ... 127:
        doorbell(b, any(4), any(SLOTS + 2));
        break;
    case 128 ... 159:
        rd(b, any_register());
        break;
    case 160 ... 191:
        wr64(b, any_register() & ~7ULL, any_value(b));
        break;
    default:
        wr(b, any_register(), any_value(b));
        break;
    }
}

static void test_storm(const void *opaque)
{
    Rig *rig = rig_started(opaque);
    Board *b = &rig->board[0];

    for (int i = 0; i < 10000; i++) {
        any_act(rig, b);
    }
    g_assert_cmphex(rd(b, TDMA_REG_ID), ==, TDMA_ID_VALUE);
    qtest_system_reset(rig->qts);
    for (int i = 0; i < 2; i++) {
        board_remap(&rig->board[i]);
        board_start(rig, &rig->board[i]);
        check_works(rig, &rig->board[i]);
    }
    rig_free(rig);
}

static void test_properties(void)
{
    static const struct {
        const char *property;
        const char *value;
    } bad[] = {
        { "threads", "17" },
        { "threads", "0" },
        { "hbm-size", "3M" },
        { "hbm-size", "0" },
        { "vectors", "2049" },
        { "fidelity", "bogus" },
        { "latency-min", "101" },       /* above latency-max */
        { "quantum-steps", "1" },
        { "no-such-thing", "1" },
    };
    QTestState *qts = qtest_initf("-machine q35 -nodefaults -bios %s "
                                  "-device pcie-root-port,id=rp", rom_file);

    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        g_autofree char *text = qtest_hmp(qts,
            "device_add tensordma,bus=rp,%s=%s",
            bad[i].property, bad[i].value);

        g_test_message("%s=%s: %s", bad[i].property, bad[i].value, text);
        g_assert_nonnull(strstr(text, bad[i].property));
    }
    qtest_qmp_assert_success(qts, "{ 'execute': 'device_add', 'arguments':"
        " { 'driver': 'tensordma', 'bus': 'rp', 'threads': 1,"
        " 'fidelity': 'cycle', 'hbm-size': 4096 } }");
    qtest_quit(qts);
}

/* Errors can be injected as into real hardware. */
static void test_aer(void)
{
    QTestState *qts = qtest_initf("-machine q35 -nodefaults -bios %s "
                                  "-device pcie-root-port,id=rp "
                                  "-device tensordma,id=t0,bus=rp", rom_file);
    g_autofree char *text = qtest_hmp(qts,
                                      "pcie_aer_inject_error t0 RCVR");

    g_assert_nonnull(strstr(text, "OK id: t0"));
    qtest_quit(qts);
}

static void test_migration_blocked(void)
{
    QTestState *qts = qtest_initf("-machine q35 -nodefaults -bios %s "
                                  "-device tensordma", rom_file);
    QDict *reply = qtest_qmp(qts, "{ 'execute': 'migrate',"
                             " 'arguments': { 'uri': 'exec:cat' } }");
    const char *text = qdict_get_str(qdict_get_qdict(reply, "error"), "desc");

    g_assert_nonnull(strstr(text, "tensordma"));
    qobject_unref(reply);
    qtest_quit(qts);
}

static uint64_t thread_reg(unsigned thread, unsigned reg)
{
    return TDMA_THREAD_BASE + thread * TDMA_THREAD_STRIDE + reg;
}

static void set_throttle(Board *b, uint32_t window, uint32_t budget)
{
    uint32_t threads = rd(b, TDMA_REG_THREADS);

    for (unsigned i = 0; i < threads; i++) {
        wr(b, thread_reg(i, TDMA_THREAD_THROTTLE_BUDGET), budget);
        wr(b, thread_reg(i, TDMA_THREAD_THROTTLE_WINDOW), window);
    }
}

/* A throttle that cannot be: an error in a register and in each record. */
static void test_throttle(const void *opaque)
{
    Rig *rig = rig_started(opaque);
    Board *b = &rig->board[0];
    uint64_t status = thread_reg(1, TDMA_THREAD_THROTTLE_STATUS);
    struct tdma_desc d = copy_desc(SEG_SRC, SEG_DST, 64);
    uint8_t guard[64];

    g_assert_cmpint(rd(b, status), ==, TDMA_THROTTLE_OFF);
    fill(rig, DST, guard, sizeof(guard));
    set_throttle(b, 100, 0);
    g_assert_cmpint(rd(b, status), ==, TDMA_THROTTLE_BAD_ZERO);
    g_assert_cmpint(run(rig, b, &d), ==, TDMA_STATUS_BAD_THROTTLE);
    set_throttle(b, 100, 100 * rd(b, TDMA_REG_LANES) + 1);
    g_assert_cmpint(rd(b, status), ==, TDMA_THROTTLE_BAD_BUDGET);
    g_assert_cmpint(run(rig, b, &d), ==, TDMA_STATUS_BAD_THROTTLE);
    set_throttle(b, UINT32_MAX, 1);
    g_assert_cmpint(rd(b, status), ==, TDMA_THROTTLE_BAD_WINDOW);
    g_assert_cmpint(run(rig, b, &d), ==, TDMA_STATUS_BAD_THROTTLE);
    check_memory(rig, DST, guard, sizeof(guard));
    set_throttle(b, 100, 10);
    g_assert_cmpint(rd(b, status), ==, TDMA_THROTTLE_ON);
    check_works(rig, b);
    flr(b);
    board_remap(b);
    g_assert_cmpint(rd(b, status), ==, TDMA_THROTTLE_OFF);
    rig_free(rig);
}

enum { OTHER_QUEUE = 0x4000 };  /* its ring and records, from the first's */

/* Both queues on thread 0; queue 1 has a ring of its own. */
static void bind_two_queues(Rig *rig, Board *b)
{
    uint32_t delta = b->ring - RING + OTHER_QUEUE;

    wrq(b, 0, TDMA_QUEUE_CONTROL, 0);
    wait_queue(b, 0, TDMA_QUEUE_STATE, TDMA_QSTATE_OFF);
    queue_configure(b, 1);
    wr64(b, queue_reg(1, TDMA_QUEUE_RING), RING + delta);
    wr64(b, queue_reg(1, TDMA_QUEUE_RECORDS), RECORDS + delta);
    for (unsigned q = 0; q < 2; q++) {
        wrq(b, q, TDMA_QUEUE_THREAD, 0);
        wrq(b, q, TDMA_QUEUE_CONTROL, TDMA_QCTL_ENABLE);
    }
}

/* The register's value once it has stopped changing */
static uint32_t settled(Board *b, uint64_t reg)
{
    int64_t end = g_get_monotonic_time() + TIMEOUT_US;
    uint32_t value, next = rd(b, reg);

    do {
        g_assert_cmpint(g_get_monotonic_time(), <, end);
        value = next;
        g_usleep(SETTLE_US);
        next = rd(b, reg);
    } while (next != value);
    return value;
}

/* What software that looks for a hang sees of a queue at work, and paused */
static void check_wait_registers(Board *b, bool paused)
{
    int64_t end = g_get_monotonic_time() + TIMEOUT_US;
    uint32_t before = rdq(b, 0, TDMA_QUEUE_PROGRESS);

    if (paused) {
        g_assert_cmpint(rdq(b, 0, TDMA_QUEUE_WAIT), ==, TDMA_QWAIT_NONE);
        return;
    }
    g_assert_cmpint(rdq(b, 0, TDMA_QUEUE_WAIT), !=, TDMA_QWAIT_NONE);
    while (rdq(b, 0, TDMA_QUEUE_PROGRESS) == before) {
        g_assert_cmpint(g_get_monotonic_time(), <, end);
    }
}

/*
 * A paused queue keeps neither another one of its thread nor the worker: the
 * cycles of the thread stand still once the other one's job is done.
 */
static void test_pause(const void *opaque)
{
    Rig *rig = rig_started(opaque);
    Board *b = &rig->board[0];
    struct tdma_desc d = copy_desc(SEG_SRC, SEG_HBM, 5000);
    uint64_t cycles = thread_reg(0, TDMA_THREAD_CYCLES);
    uint32_t before;

    bind_two_queues(rig, b);
    b->tail = 0;
    start_huge(rig, b);
    check_wait_registers(b, false);
    wrq(b, 0, TDMA_QUEUE_CONTROL, TDMA_QCTL_ENABLE | TDMA_QCTL_PAUSE);
    wait_queue(b, 0, TDMA_QUEUE_STATE, TDMA_QSTATE_PAUSED);
    check_wait_registers(b, true);
    qtest_memwrite(rig->qts, b->ring + OTHER_QUEUE, &d, sizeof(d));
    doorbell(b, 1, 1);
    wait_queue(b, 1, TDMA_QUEUE_DONE, 1);
    wait_queue(b, 1, TDMA_QUEUE_STATE, TDMA_QSTATE_IDLE);
    before = settled(b, cycles);
    check_still(rig);
    g_assert_cmpint(rd(b, cycles), ==, before);
    g_assert_cmpint(rdq(b, 0, TDMA_QUEUE_STATE), ==, TDMA_QSTATE_PAUSED);

    /* and it goes on where it was */
    before = read_record(rig, b, 0).dst_done;
    wrq(b, 0, TDMA_QUEUE_CONTROL, TDMA_QCTL_ENABLE);
    while (read_record(rig, b, 0).dst_done == before) {
        g_assert_cmpint(rdq(b, 0, TDMA_QUEUE_STATE), ==, TDMA_QSTATE_RUNNING);
    }
    wrq(b, 0, TDMA_QUEUE_CONTROL, TDMA_QCTL_ENABLE | TDMA_QCTL_ABORT);
    g_assert_cmpint(wait_record(rig, b, 0).status, ==, TDMA_STATUS_ABORTED);
    rig_free(rig);
}

static void trace_start(Board *b, uint64_t at, uint32_t order)
{
    wr64(b, thread_reg(0, TDMA_THREAD_TRACE_BASE), at);
    wr(b, thread_reg(0, TDMA_THREAD_TRACE_ORDER), order);
    wr(b, thread_reg(0, TDMA_THREAD_TRACE_EVENTS), 1 << TDMA_TRACE_END);
    wr(b, thread_reg(0, TDMA_THREAD_TRACE_CONTROL), TDMA_TRCTL_ENABLE);
}

/*
 * The trace ring reaches what DMA reaches and nothing else; what goes wrong
 * with it is the trace's own business.
 */
static void test_trace(const void *opaque)
{
    Rig *rig = rig_started(opaque);
    Board *b = &rig->board[0];
    uint64_t state = thread_reg(0, TDMA_THREAD_TRACE_STATE);
    uint64_t head = thread_reg(0, TDMA_THREAD_TRACE_HEAD);
    const uint64_t bad[] = { b->regs.addr, LOCAL_APIC, HOLE };
    struct tdma_trace_entry e[5];

    bind_two_queues(rig, b);
    b->tail = 0;
    g_assert_cmpint(rd(b, state), ==, TDMA_TRSTATE_OFF);
    qtest_memset(rig->qts, TRACE, 0, sizeof(e));
    trace_start(b, TRACE, 2);
    g_assert_cmpint(rd(b, state), ==, TDMA_TRSTATE_ON);
    for (int i = 0; i < 5; i++) {
        check_works(rig, b);
    }
    g_assert_cmpint(settled(b, head), ==, 4);
    g_assert_cmpint(settled(b, thread_reg(0, TDMA_THREAD_TRACE_LOST)), ==, 1);
    qtest_memread(rig->qts, TRACE, e, sizeof(e));
    for (int i = 0; i < 4; i++) {
        g_assert_cmpint(e[i].event, ==, TDMA_TRACE_END);
        g_assert_cmpint(e[i].code, ==, TDMA_STATUS_OK);
        g_assert_cmpint(le32_to_cpu(e[i].index), ==, i);
        g_assert_cmpint(le32_to_cpu(e[i].sequence), ==, i);
    }
    g_assert_cmpint(e[4].event, ==, 0);
    wr(b, thread_reg(0, TDMA_THREAD_TRACE_CONTROL), 0);
    wait_register(b, state, TDMA_TRSTATE_OFF);

    /* its own registers, an interrupt controller, nothing at all */
    for (int i = 0; i < 3; i++) {
        trace_start(b, bad[i], 2);
        g_assert_cmpint(rd(b, state), ==, TDMA_TRSTATE_ON);
        check_works(rig, b);
        wait_register(b, state, TDMA_TRSTATE_FAULT);
        g_assert_cmpint(rd(b, head), ==, 0);
    }

    /* a reset is the end of it */
    trace_start(b, TRACE, 2);
    flr(b);
    board_remap(b);
    g_assert_cmpint(rd(b, state), ==, TDMA_TRSTATE_OFF);
    rig_free(rig);
}

/* Addresses that are not what they seem */
static void test_translation(void)
{
    const Mode *mode = &modes[ARRAY_SIZE(modes) - 1];
    Rig *rig = rig_started(mode);
    Board *b = &rig->board[0];
    const uint32_t size = IOVA_PAGES * 4096;
    struct tdma_desc from = copy_desc(SEG_ANY, SEG_HBM, size);
    struct tdma_desc to = copy_desc(SEG_SRC, SEG_ANY, size);
    g_autofree uint8_t *data = g_malloc(size);
    struct tdma_record r;

    g_assert_true(mode->iommu);
    set_segment(rig, b, SEG_ANY, TDMA_SPACE_HOST, IOVA, size);
    fill(rig, DST, data, size);
    g_assert_cmphex(run(rig, b, &from), ==, TDMA_STATUS_OK);
    for (int i = 0; i < IOVA_PAGES; i++) {
        check_memory(rig, b->hbm.addr + (IOVA_PAGES - 1 - i) * 4096,
                     data + i * 4096, 4096);
    }

    /* the second page is read only: what precedes it may be there */
    fill(rig, SRC, data, size);
    r = wait_record(rig, b, submit(rig, b, &to));
    g_assert_cmphex(r.status, ==, TDMA_STATUS_BUS_ERROR);
    g_assert_cmpint(r.fault_side, ==, TDMA_SIDE_DST);
    g_assert_cmpint(r.fault_offset, ==, 4096);
    g_assert_cmpint(r.dst_done, ==, 4096);
    check_memory(rig, DST + (IOVA_PAGES - 1) * 4096, data, 4096);

    /* and what follows the last page is not there */
    set_segment(rig, b, SEG_ANY, TDMA_SPACE_HOST, IOVA + size, 2 * MiB);
    g_assert_cmphex(run(rig, b, &from), ==, TDMA_STATUS_BUS_ERROR);
    check_works(rig, b);
    rig_free(rig);
}

typedef struct Case {
    const char *name;
    void (*run)(const void *opaque);
} Case;

static const Case cases[] = {
    { "identity", test_identity },
    { "registers", test_registers },
    { "bad-access", test_bad_access },
    { "copy", test_copy },
    { "hbm", test_hbm },
    { "peer", test_peer },
    { "tail-in-memory", test_tail_in_memory },
    { "ioeventfd", test_ioeventfd },
    { "msix", test_msix },
    { "refused", test_refused },
    { "runs-off", test_runs_off },
    { "bus-master", test_bus_master },
    { "queue-errors", test_queue_errors },
    { "ring-errors", test_ring_errors },
    { "reset", test_reset },
    { "disable", test_disable },
    { "stop", test_stop },
    { "pause", test_pause },
    { "throttle", test_throttle },
    { "trace", test_trace },
    { "unplug", test_unplug },
    { "state", test_state },
    { "storm", test_storm },
};

int main(int argc, char **argv)
{
    int ret;

    g_test_init(&argc, &argv, NULL);
    rom_create();
    for (unsigned m = 0; m < ARRAY_SIZE(modes); m++) {
        for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
            g_autofree char *path = g_strdup_printf("/tensordma/%s/%s",
                modes[m].name, cases[i].name);

            qtest_add_data_func(path, &modes[m], cases[i].run);
        }
    }
    qtest_add_func("/tensordma/translated-code", test_translated_code);
    qtest_add_func("/tensordma/translation", test_translation);
    qtest_add_func("/tensordma/properties", test_properties);
    qtest_add_func("/tensordma/aer", test_aer);
    qtest_add_func("/tensordma/migration-blocked", test_migration_blocked);
    ret = g_test_run();
    unlink(rom_file);
    g_free(rom_file);
    return ret;
}
