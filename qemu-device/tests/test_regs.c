/* SPDX-License-Identifier: MIT */
/*
 * Registers: what they say, what they keep, and that nothing else is there.
 */
#include "arena.h"

static struct machine *new_machine(void)
{
    struct tdma_properties props = machine_properties();

    return machine_new(&props, WINDOWS_ALL);
}

static bool is_cycle(const struct tdma_properties *props)
{
    return props->fidelity == TDMA_FIDELITY_CYCLE;
}

static void test_capabilities(void **state)
{
    struct tdma_properties props = machine_properties();
    struct machine *m;

    (void)state;
    props.threads = 3;
    props.queues = 17;
    props.contexts = 9;
    props.segments = 777;
    props.ring_order = 7;
    props.dims = 5;
    props.lanes = 6;
    props.ids = 321;
    props.sync_flags = 55;
    m = machine_new(&props, WINDOWS_ALL);
    assert_int_equal(machine_read(m, TDMA_REG_ID), 0x414d4454);
    assert_int_equal(machine_read(m, TDMA_REG_VERSION), 0x00010000);
    assert_int_equal(machine_read(m, TDMA_REG_THREADS), 3);
    assert_int_equal(machine_read(m, TDMA_REG_QUEUES), 17);
    assert_int_equal(machine_read(m, TDMA_REG_CONTEXTS), 9);
    assert_int_equal(machine_read(m, TDMA_REG_SEGMENTS), 777);
    assert_int_equal(machine_read(m, TDMA_REG_RING_ORDER), 7);
    assert_int_equal(machine_read(m, TDMA_REG_DIMS), 5);
    assert_int_equal(machine_read(m, TDMA_REG_LANES), 6);
    assert_int_equal(machine_read(m, TDMA_REG_IDS), 321);
    assert_int_equal(machine_read(m, TDMA_REG_VECTORS), MACHINE_VECTORS);
    assert_int_equal(machine_read(m, TDMA_REG_SYNC_FLAGS), 55);
    assert_int_equal(machine_read64(m, TDMA_REG_HBM_SIZE), props.hbm_size);
    assert_int_equal(machine_read(m, TDMA_REG_OPCODES), 0x1f);
    assert_int_equal(machine_read(m, TDMA_REG_TYPES), 0x3e);
    assert_int_equal(machine_read(m, TDMA_REG_STATUS),
                     TDMA_STATUS_REG_READY | TDMA_STATUS_REG_IDLE);
    assert_int_equal(machine_read(m, TDMA_REG_FEATURES),
                     TDMA_FEATURE_EXT | TDMA_FEATURE_SYNC_FLAGS |
                     TDMA_FEATURE_TRACE |
                     (is_cycle(&props) ? TDMA_FEATURE_CYCLE : 0));
    assert_int_equal(machine_read(m, TDMA_REG_GENERATION), 0);
    assert_int_equal(machine_read(m, TDMA_REG_BAD_ACCESS), 0);
    machine_free(m);
}

/* The dims property is the limit of what a descriptor may have. */
static void test_dims_property(void **state)
{
    struct tdma_properties props = machine_properties();
    struct tdma_desc d = desc_copy(SEG_HOST, SEG_HOST2, 4, 2);
    struct arena *a;
    unsigned i;

    (void)state;
    props.dims = 4;
    a = arena_new(&props, WINDOWS_ALL, 1 << 14, 1);
    for (i = 1; i <= 8; i++) {
        d.ndims = i;
        d.steps[i - 1] = 2;
        d.src_stride[i - 1] = 4 << (i - 1);
        d.dst_stride[i - 1] = 4 << (i - 1);
        if (i <= 4) {
            arena_run(a, &d, NULL);
        } else {
            arena_refuse(a, &d, NULL, TDMA_STATUS_BAD_NDIMS);
        }
    }
    arena_free(a);
}

static const char *try_property(const struct tdma_properties *props)
{
    static uint8_t hbm[4096];
    struct tdma_config config = { .props = *props, .hbm = hbm };
    struct tdma_host_ops ops = { 0 };
    const char *error;
    struct tdma_core *core = tdma_core_new(&config, &ops, NULL, &error);

    tdma_core_free(core);
    assert_true(core ? !error : error != NULL);
    return error;
}

/* Each property just below and above its range, and at its ends */
static void test_property_ranges(void **state)
{
    (void)state;
#define SMALL(p) ((p) = machine_properties(), (p).hbm_size = 4096)
#define TRY(field, value, ok, name)                                         \
    do {                                                                    \
        struct tdma_properties p;                                           \
                                                                            \
        SMALL(p);                                                           \
        p.latency_max = p.latency_min;                                      \
        p.field = (value);                                                  \
        if (p.latency_min > p.latency_max) {                                \
            p.latency_min = p.latency_max = (value);                        \
        }                                                                   \
        if (ok) {                                                           \
            assert_null(try_property(&p));                                  \
        } else {                                                            \
            assert_non_null(try_property(&p));                              \
        }                                                                   \
    } while (0);
#define TRY_RANGE(field, name, def, min, max, text)                         \
    TRY(field, min, true, name)                                             \
    TRY(field, max, true, name)                                             \
    TRY(field, (uint64_t)(max) + 1, false, name)                            \
    if ((min) > 0) {                                                        \
        TRY(field, (uint64_t)(min) - 1, false, name)                        \
    }
    TDMA_PROPERTIES(TRY_RANGE)
#undef TRY_RANGE
    TRY(hbm_size, 12288, false, "hbm-size")
#undef TRY
}

static void test_property_error_names_it(void **state)
{
    struct tdma_properties p = machine_properties();

    (void)state;
    p.hbm_size = 4096;
    p.lanes = 9;
    assert_string_equal(try_property(&p), "lanes");
    p = machine_properties();
    p.hbm_size = 4096 * 3;
    assert_string_equal(try_property(&p), "hbm-size");
    p = machine_properties();
    p.hbm_size = 4096;
    p.latency_min = p.latency_max + 1;
    assert_string_equal(try_property(&p), "latency-min");
}

/* Writes to what can only be read are counted, and change nothing. */
static void test_read_only(void **state)
{
    struct machine *m = new_machine();
    static const uint32_t regs[] = {
        TDMA_REG_ID, TDMA_REG_VERSION, TDMA_REG_FEATURES, TDMA_REG_THREADS,
        TDMA_REG_QUEUES, TDMA_REG_CONTEXTS, TDMA_REG_SEGMENTS,
        TDMA_REG_RING_ORDER, TDMA_REG_DIMS, TDMA_REG_LANES, TDMA_REG_IDS,
        TDMA_REG_VECTORS, TDMA_REG_HBM_SIZE, TDMA_REG_HBM_SIZE + 4,
        TDMA_REG_OPCODES, TDMA_REG_TYPES, TDMA_REG_STATUS,
        TDMA_REG_GENERATION, TDMA_REG_SYNC_FLAGS,
        TDMA_THREAD_BASE + TDMA_THREAD_CYCLES,
        TDMA_THREAD_BASE + TDMA_THREAD_THROTTLE_STATUS,
        TDMA_THREAD_BASE + TDMA_THREAD_SRC_COUNTERS,
        TDMA_QUEUE_BASE + TDMA_QUEUE_STATE, TDMA_QUEUE_BASE + TDMA_QUEUE_HEAD,
        TDMA_QUEUE_BASE + TDMA_QUEUE_TAIL, TDMA_QUEUE_BASE + TDMA_QUEUE_DONE,
        TDMA_QUEUE_BASE + TDMA_QUEUE_ERROR,
    };
    unsigned i;

    (void)state;
    for (i = 0; i < TEST_COUNT(regs); i++) {
        uint64_t was = machine_read(m, regs[i]);

        machine_write(m, regs[i], ~was);
        assert_int_equal(machine_read(m, regs[i]), was);
        assert_int_equal(machine_read(m, TDMA_REG_BAD_ACCESS), i + 1);
    }
    machine_write(m, TDMA_REG_BAD_ACCESS, 5);
    assert_int_equal(machine_read(m, TDMA_REG_BAD_ACCESS), 0);
    machine_free(m);
}

static void test_absent(void **state)
{
    struct machine *m = new_machine();
    static const uint32_t absent[] = {
        0x54, 0xffc, TDMA_THREAD_BASE + 4 * TDMA_THREAD_STRIDE,
        TDMA_THREAD_BASE + 0x38, 0x2000, 0x3ffc,
        TDMA_CONTEXT_BASE + 0x0c, TDMA_CONTEXT_BASE + 128 * 0x20, 0x6000,
        0xfffc, TDMA_QUEUE_BASE + 0x30, TDMA_QUEUE_BASE + 0x68,
        TDMA_QUEUE_BASE + 128 * TDMA_QUEUE_STRIDE, 0x7fffc,
        TDMA_SYNC_BASE + 1024 * TDMA_SYNC_STRIDE, TDMA_DOORBELL_BASE + 4,
        TDMA_DOORBELL_BASE + 128 * TDMA_DOORBELL_STRIDE, TDMA_BAR0_SIZE - 4,
    };
    unsigned i;

    (void)state;
    for (i = 0; i < TEST_COUNT(absent); i++) {
        assert_int_equal(machine_read(m, absent[i]), 0);
        machine_write(m, absent[i], UINT32_MAX);
        assert_int_equal(machine_read(m, TDMA_REG_BAD_ACCESS), 2 * i + 2);
    }
    /* A 32-bit register takes no 64-bit access. */
    assert_int_equal(machine_read64(m, TDMA_REG_ID), 0);
    assert_int_equal(machine_read(m, TDMA_REG_BAD_ACCESS), 2 * i + 1);
    machine_free(m);
}

/* Every address of BAR0, read and written with noise: nothing breaks. */
static void test_every_address(void **state)
{
    struct machine *m = new_machine();
    struct rng rng = { test_env("TDMA_SEED", 3) };
    uint64_t at;

    (void)state;
    for (at = 0; at < TDMA_BAR0_SIZE; at += 4) {
        machine_read(m, at);
        machine_write(m, at, rng_next(&rng));
        if (at % 8 == 0) {
            machine_read64(m, at);
            machine_write64(m, at, rng_next(&rng));
        }
        if (at % 65536 == 0) {
            machine_run(m);
        }
    }
    machine_write(m, TDMA_REG_CONTROL, TDMA_CONTROL_RESET);
    machine_run(m);
    assert_int_equal(machine_read(m, TDMA_REG_ID), TDMA_ID_VALUE);
    machine_free(m);
}

static void test_64_bit_halves(void **state)
{
    struct machine *m = new_machine();
    uint64_t reg = queue_reg(77, TDMA_QUEUE_RING);

    (void)state;
    machine_write(m, reg, 0x11223300);
    machine_write(m, reg + 4, 0xaabbccdd);
    assert_true(machine_read64(m, reg) == 0xaabbccdd11223300);
    machine_write64(m, reg, 0x0102030405060700);
    assert_int_equal(machine_read(m, reg), 0x05060700);
    assert_int_equal(machine_read(m, reg + 4), 0x01020304);
    machine_free(m);
}

static void test_context_count_limit(void **state)
{
    struct machine *m = new_machine();
    uint64_t reg = TDMA_CONTEXT_BASE + 5 * TDMA_CONTEXT_STRIDE;

    (void)state;
    machine_write(m, reg + TDMA_CONTEXT_COUNT, 4096);
    assert_int_equal(machine_read(m, reg + TDMA_CONTEXT_COUNT), 4096);
    machine_write(m, reg + TDMA_CONTEXT_COUNT, 4097);
    assert_int_equal(machine_read(m, reg + TDMA_CONTEXT_COUNT), 4096);
    assert_int_equal(machine_read(m, TDMA_REG_BAD_ACCESS), 1);
    machine_free(m);
}

static uint64_t counter(struct machine *m, unsigned thread, unsigned side,
                        unsigned which)
{
    return machine_read64(m, TDMA_THREAD_BASE + thread * TDMA_THREAD_STRIDE +
                             (side ? TDMA_THREAD_DST_COUNTERS
                                   : TDMA_THREAD_SRC_COUNTERS) + which);
}

/*
 * Requests and cycles are counted per thread, and can be cleared (A20). Those
 * of a pipeline also go by before the first request and after the last
 * response.
 */
static void test_counters(void **state)
{
    struct tdma_properties props = machine_properties();
    struct arena *a = arena_new(&props, WINDOWS_ALL, 1 << 16, 1);
    struct tdma_desc copy = desc_copy(SEG_HOST, SEG_HOST2, 4, 1000);
    struct tdma_desc fill = desc_memset(SEG_HOST, 4, 500, 0);
    struct machine *m = a->m;
    uint64_t cycles = TDMA_THREAD_BASE + TDMA_THREAD_CYCLES;
    struct tdma_record r;

    (void)state;
    r = arena_run(a, &copy, NULL);
    assert_true(r.cycles >= 1000 / props.lanes);
    assert_int_equal(counter(m, 0, 0, TDMA_COUNTER_REQUESTS), 1000);
    assert_int_equal(counter(m, 0, 1, TDMA_COUNTER_REQUESTS), 1000);
    assert_in_range(machine_read64(m, cycles), r.cycles,
                    r.cycles + (is_cycle(&props) ? 20 : 0));
    arena_run(a, &fill, NULL);
    assert_int_equal(counter(m, 0, 0, TDMA_COUNTER_REQUESTS), 1000);
    assert_int_equal(counter(m, 0, 1, TDMA_COUNTER_REQUESTS), 1500);
    assert_int_equal(counter(m, 1, 1, TDMA_COUNTER_REQUESTS), 0);
    machine_write(m, TDMA_THREAD_BASE + TDMA_THREAD_COUNTER_CLEAR, 1);
    assert_int_equal(counter(m, 0, 1, TDMA_COUNTER_REQUESTS), 0);
    assert_int_equal(machine_read64(m, cycles), 0);
    arena_run(a, &fill, NULL);
    assert_int_equal(counter(m, 0, 1, TDMA_COUNTER_REQUESTS), 500);
    arena_free(a);
}

static void set_throttle(struct machine *m, uint32_t window, uint32_t budget)
{
    machine_write(m, TDMA_THREAD_BASE + TDMA_THREAD_THROTTLE_BUDGET, budget);
    machine_write(m, TDMA_THREAD_BASE + TDMA_THREAD_THROTTLE_WINDOW, window);
}

/* A tenth of the requests per cycle takes ten times as long (A21). */
static void test_throttle_estimate(void **state)
{
    struct tdma_properties props = machine_properties();
    struct arena *a = arena_new(&props, WINDOWS_ALL, 1 << 16, 1);
    struct tdma_desc copy = desc_copy(SEG_HOST, SEG_HOST2, 1, 40000);
    struct tdma_record r;

    (void)state;
    r = arena_run(a, &copy, NULL);
    assert_int_equal(r.stall_throttle, 0);
    set_throttle(a->m, 1000, 400);
    r = arena_run(a, &copy, NULL);
    assert_in_range(r.cycles, 99000, 101000);
    assert_true(r.cycles - r.stall_throttle <= 40000 / props.lanes +
                                               props.latency_max);
    assert_int_equal(counter(a->m, 0, 1, TDMA_COUNTER_STALL_THROTTLE),
                     r.stall_throttle);
    set_throttle(a->m, 0, 0);
    arena_run(a, &copy, NULL);  /* a window may have to end first */
    r = arena_run(a, &copy, NULL);
    assert_int_equal(r.stall_throttle, 0);
    arena_free(a);
}

/*
 * What no throttle can be is refused, by a register and by every descriptor
 * that is fetched meanwhile, and changes nothing (A21).
 */
static void test_throttle_misconfigured(void **state)
{
    static const struct {
        uint32_t window, budget, status;
    } cases[] = {
        { 0, 0, TDMA_THROTTLE_OFF },
        { 1000, 0, TDMA_THROTTLE_BAD_ZERO },
        { 0, 1, TDMA_THROTTLE_BAD_ZERO },
        { 1, 1, TDMA_THROTTLE_ON },
        { 1000, 4000, TDMA_THROTTLE_ON },
        { 1000, 4001, TDMA_THROTTLE_BAD_BUDGET },
        { 1000, UINT32_MAX, TDMA_THROTTLE_BAD_BUDGET },
        { TDMA_THROTTLE_WINDOW_MAX, 4 * TDMA_THROTTLE_WINDOW_MAX,
          TDMA_THROTTLE_ON },
        { TDMA_THROTTLE_WINDOW_MAX + 1, 4, TDMA_THROTTLE_BAD_WINDOW },
        { UINT32_MAX, UINT32_MAX, TDMA_THROTTLE_BAD_WINDOW },
    };
    struct tdma_properties props = machine_properties();
    struct arena *a = arena_new(&props, WINDOWS_ALL, 1 << 16, 1);
    struct tdma_desc copy = desc_copy(SEG_HOST, SEG_HOST2, 1, 4);
    struct tdma_desc nop = desc_nop(), empty = desc_copy(1, 2, 1, 0);
    uint64_t reg = TDMA_THREAD_BASE + TDMA_THREAD_THROTTLE_STATUS;
    struct tdma_record r;
    unsigned i;

    (void)state;
    assert_int_equal(props.lanes, 4);
    for (i = 0; i < TEST_COUNT(cases); i++) {
        set_throttle(a->m, cases[i].window, cases[i].budget);
        assert_int_equal(machine_read(a->m, reg), cases[i].status);
        if (cases[i].status < TDMA_THROTTLE_BAD) {
            arena_run(a, &copy, NULL);
            continue;
        }
        r = arena_refuse(a, &copy, NULL, TDMA_STATUS_BAD_THROTTLE);
        assert_int_equal(r.fault_side, TDMA_SIDE_NONE);
        assert_int_equal(r.fault_dim, TDMA_DIM_NONE);
        /* what issues nothing does not mind; nor do other threads */
        assert_int_equal(queue_do(&a->q, &nop, NULL).status, TDMA_STATUS_OK);
        assert_int_equal(queue_do(&a->q, &empty, NULL).status, TDMA_STATUS_OK);
        assert_int_equal(machine_read(a->m, reg + TDMA_THREAD_STRIDE),
                         TDMA_THROTTLE_OFF);
    }
    machine_write(a->m, TDMA_REG_CONTROL, TDMA_CONTROL_RESET);
    assert_int_equal(machine_read(a->m, reg), TDMA_THROTTLE_OFF);
    arena_free(a);
}

/* What another thread of software does while a quantum is running */
static void next_job(struct machine *m, unsigned queue, uint32_t index)
{
    struct queue *q = m->progress_opaque;
    struct tdma_desc copy = desc_copy(SEG_HOST, SEG_HOST2, 1, 4000);

    (void)queue;
    if (!index) {
        set_throttle(m, 1000, 1000);
        machine_write(m, TDMA_THREAD_BASE + TDMA_THREAD_COUNTER_CLEAR, 1);
        queue_put(q, &copy, NULL);
        queue_ring(q);
    }
}

/* Registers written before the doorbell hold for the descriptor. */
static void test_settings_before_doorbell(void **state)
{
    struct tdma_properties props = machine_properties();
    struct arena *a = arena_new(&props, WINDOWS_ALL, 1 << 16, 1);
    struct tdma_desc copy = desc_copy(SEG_HOST, SEG_HOST2, 1, 1000);
    struct queue_config config = { .context = 1 };
    struct queue q = machine_queue(a->m, 8, &config);

    (void)state;
    a->m->on_progress = next_job;
    a->m->progress_opaque = &q;
    copy.dst_sync_interval = 900;
    queue_put(&a->q, &copy, NULL);
    queue_ring(&a->q);
    assert_false(tdma_core_run(a->m->core, 0));
    assert_int_equal(queue_record(&a->q, 0).status, TDMA_STATUS_OK);
    assert_int_equal(queue_record(&q, 0).status, TDMA_STATUS_OK);
    assert_in_range(queue_record(&q, 0).stall_throttle, 1500, 4000);
    assert_in_range(counter(a->m, 0, 1, TDMA_COUNTER_REQUESTS), 4000, 4100);
    arena_free(a);
}

/* A descriptor under way keeps the setting it had; none is in between. */
static void test_throttle_pair(void **state)
{
    struct tdma_properties props = machine_properties();
    struct tdma_desc copy = desc_copy(SEG_HOST, SEG_HOST2, 1, 40000);
    struct tdma_record r;
    struct arena *a;

    (void)state;
    props.quantum_steps = 64;
    props.quantum_bytes = 4096;
    a = arena_new(&props, WINDOWS_ALL, 1 << 16, 1);
    set_throttle(a->m, 1000, 1000);
    queue_put(&a->q, &copy, NULL);
    queue_ring(&a->q);
    assert_true(tdma_core_run(a->m->core, 0));
    set_throttle(a->m, 1000, 0);
    machine_run(a->m);
    r = queue_record(&a->q, 0);
    assert_int_equal(r.status, TDMA_STATUS_OK);
    assert_in_range(r.cycles, 39000, 41000);
    /* the budget alone is half a setting */
    set_throttle(a->m, 1000, 1000);
    machine_write(a->m, TDMA_THREAD_BASE + TDMA_THREAD_THROTTLE_BUDGET, 0);
    r = arena_run(a, &copy, NULL);
    assert_in_range(r.cycles, 39000, 41000);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_capabilities),
        cmocka_unit_test(test_dims_property),
        cmocka_unit_test(test_property_ranges),
        cmocka_unit_test(test_property_error_names_it),
        cmocka_unit_test(test_read_only),
        cmocka_unit_test(test_absent),
        cmocka_unit_test(test_every_address),
        cmocka_unit_test(test_64_bit_halves),
        cmocka_unit_test(test_context_count_limit),
        cmocka_unit_test(test_counters),
        cmocka_unit_test(test_throttle_estimate),
        cmocka_unit_test(test_throttle_misconfigured),
        cmocka_unit_test(test_throttle_pair),
        cmocka_unit_test(test_settings_before_doorbell),
    };

    return cmocka_run_group_tests_name("registers", tests, NULL, NULL);
}
