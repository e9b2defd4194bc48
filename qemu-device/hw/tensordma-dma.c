/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tensordma: access to host memory, from the workers and without the BQL.
 *
 * A DMA access must reach RAM or fail: reaching MMIO would call a device model
 * from a foreign thread (this one's own registers, in the worst case), and
 * even a refused write to ROM would take the BQL inside the generic accessors.
 * So pci_dma_*() and dma_memory_map() are not used. Each piece is translated
 * and checked once and copied within the same RCU section.
 */
#include "qemu/osdep.h"
#include "qemu/log.h"
#include "qemu/rcu.h"
#include "hw/pci/pci.h"
#include "tensordma.h"
#include "../trace.h"

bool tensordma_translate(TensordmaState *s, hwaddr addr, hwaddr len,
                         bool is_write, TensordmaPiece *piece)
{
    AddressSpace *as = pci_get_address_space(PCI_DEVICE(s));
    const MemTxAttrs attrs = {
        .memory = true,
        .requester_id = pci_requester_id(PCI_DEVICE(s)),
    };
    MemoryRegion *mr;

    piece->len = len;
    mr = address_space_translate(as, addr, &piece->offset, &piece->len,
                                 is_write, attrs);
    if (!piece->len || !memory_access_is_direct(mr, is_write, attrs)) {
        return false;
    }
    if (!is_write) {
        fuzz_dma_read_cb(addr, piece->len, mr);
    }
    piece->mr = mr;
    piece->ptr = (uint8_t *)memory_region_get_ram_ptr(mr) + piece->offset;
    return true;
}

static bool tensordma_map(TensordmaState *s, hwaddr addr, hwaddr len,
                          bool is_write, TensordmaPiece *piece)
{
    bool ok = false;

    if (qatomic_read(&s->dma_enabled) && len && len - 1 <= UINT64_MAX - addr) {
        if (s->behind_iommu && !bql_locked()) {
            ok = tensordma_translate_remote(s, addr, len, is_write, piece);
        } else {
            ok = tensordma_translate(s, addr, len, is_write, piece);
        }
    }
    if (!ok) {
        trace_tensordma_err_dma_refused(s, addr, len, is_write);
        qemu_log_mask(LOG_GUEST_ERROR, "tensordma: %s of 0x%" PRIx64
                      " bytes at 0x%" PRIx64 " refused, not memory\n",
                      is_write ? "write" : "read", len, addr);
    }
    return ok;
}

/*
 * Tell the rest of QEMU that RAM changed: migration and display, and TCG,
 * which may have translated code from it. memory_region_set_dirty() does not
 * do the last; it would leave stale code behind that later writes no longer
 * find. The public call that does is the second half of a mapping, and it
 * drops the reference that the first half would have taken.
 */
static void tensordma_mark_written(TensordmaState *s, MemoryRegion *mr,
                                   uint8_t *ptr, hwaddr len)
{
    memory_region_ref(mr);
    address_space_unmap(pci_get_address_space(PCI_DEVICE(s)), ptr, len, true,
                        len);
}

/* Aligned words that both sides poll (tail, status) must not be torn. */
static void tensordma_copy_in(void *buf, const uint8_t *ptr, size_t len)
{
    if (len == 4 && QEMU_PTR_IS_ALIGNED(ptr, 4)) {
        stl_he_p(buf, qatomic_read((const uint32_t *)ptr));
        smp_rmb();      /* what the word announces is read after it */
    } else {
        memcpy(buf, ptr, len);
    }
}

static void tensordma_copy_out(uint8_t *ptr, const void *buf, size_t len)
{
    if (len == 8 && QEMU_PTR_IS_ALIGNED(ptr, 8)) {
        smp_wmb();      /* what the word announces is written before it */
        qatomic_set__nocheck((uint64_t *)ptr, ldq_he_p(buf));
    } else {
        memcpy(ptr, buf, len);
    }
}

int tensordma_dma_read(void *opaque, uint64_t addr, void *buf, size_t len)
{
    TensordmaState *s = opaque;
    TensordmaPiece piece;
    uint8_t *to = buf;

    RCU_READ_LOCK_GUARD();
    while (len) {
        if (!tensordma_map(s, addr, len, false, &piece)) {
            return -1;
        }
        tensordma_copy_in(to, piece.ptr, piece.len);
        addr += piece.len;
        to += piece.len;
        len -= piece.len;
    }
    return 0;
}

int tensordma_dma_write(void *opaque, uint64_t addr, const void *buf,
                        size_t len)
{
    TensordmaState *s = opaque;
    TensordmaPiece piece;
    const uint8_t *from = buf;

    RCU_READ_LOCK_GUARD();
    while (len) {
        if (!tensordma_map(s, addr, len, true, &piece)) {
            return -1;
        }
        tensordma_copy_out(piece.ptr, from, piece.len);
        tensordma_mark_written(s, piece.mr, piece.ptr, piece.len);
        addr += piece.len;
        from += piece.len;
        len -= piece.len;
    }
    return 0;
}

/*
 * The pointer stays valid until the quantum ends because the whole quantum is
 * one RCU section (tensordma-worker.c).
 */
bool tensordma_dma_window(void *opaque, uint64_t addr, uint64_t len,
                          bool is_write, struct tdma_window *window)
{
    TensordmaState *s = opaque;
    TensordmaPiece piece;

    if (!tensordma_map(s, addr, len, is_write, &piece)) {
        return false;
    }
    window->ptr = piece.ptr;
    window->len = piece.len;
    window->cookie = piece.mr;
    window->cookie_offset = piece.offset;
    return true;
}

void tensordma_dma_written(void *opaque, const struct tdma_window *window,
                           uint64_t offset, uint64_t len)
{
    tensordma_mark_written(opaque, window->cookie, window->ptr + offset, len);
}

void tensordma_hbm_written(void *opaque, uint64_t offset, uint64_t len)
{
    TensordmaState *s = opaque;
    uint8_t *ram = memory_region_get_ram_ptr(&s->hbm);

    RCU_READ_LOCK_GUARD();
    tensordma_mark_written(s, &s->hbm, ram + offset, len);
}
