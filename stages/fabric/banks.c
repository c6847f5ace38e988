/* Banks of memory that writes occupy, too: at which points a vector instruction waits.
 *
 * Successive words of 32 bits lie in successive banks, and each bank serves one access in a cycle. An
 * instruction reads a point as soon as the banks of its operands are free, at most one in a cycle, and
 * writes its result `write_latency` cycles after the last read, before anything is read there. Points
 * that several lanes compute wait as if they came one after the other. What stays where it is from a
 * point to the next is read once, and written once.
 *
 * Of addresses only banks matter. So a dimension that comes to a state in which it was before goes on
 * as it did then, and only its last part is run.
 */
#include "engine.h"

enum { BANK_BYTES = 4 };

/* An instruction, as far as its waits depend on it; dimensions of one element are left out. `read` and
 * `written` are the operands, a bit each, of a point that a step along a dimension leads to, or away
 * from; behind the last dimension those of the first, and of the last point. */
struct access {
    int32_t size[MAX_RANK];
    uint16_t first[MAX_OPERANDS], step[MAX_RANK][MAX_OPERANDS];    /* bytes, modulo all banks */
    uint8_t read[MAX_RANK + 1], written[MAX_RANK + 1];
    uint16_t rank;
};

struct known_access {                          /* 0 cycles: none */
    struct access of;
    int64_t cycles;
};

enum { BUCKETS = 128 };

/* `pending` has a byte for each of the next cycles: 1 + the bank that is written then, or 0. */
struct progress {
    uint64_t pending;
    uint16_t at[MAX_OPERANDS];
    int64_t cycles;
};

/* A row, as it began, and what it comes to. */
struct known_row {
    struct progress before, after;
    int from, to;
};

enum { ROWS = 64 };

struct run {
    const struct machine *machine;
    const struct access *of;
    struct progress now;
    struct known_row row[ROWS];                /* in buckets; 0 cycles: none */
};

static uint16_t within(int64_t bytes, int64_t every)
{
    return (uint16_t)((bytes % every + every) % every);
}

static struct access access_of(const struct node *node, const struct vector *v,
                               char *const base[MAX_OPERANDS])
{
    const int64_t every = BANK_BYTES * node->engine->layout->machine.read_banks;
    struct access found;

    memset(&found, 0, sizeof found);
    for (int i = 0; i < v->sizes.rank; i += 1)
        if (v->sizes.size[i] > 1)
            found.size[found.rank++] = v->sizes.size[i];
    for (int k = 0; k < operands_of(v); k += 1) {
        const int64_t size = (int64_t)element_size(v->operand[k].type);
        const uint8_t reads = (uint8_t)((k > 0 || v->operation == MAC) << k);
        int64_t back = 0;
        int to = found.rank;

        if (is_number(v, k))
            continue;
        found.first[k] = within(base[k] - (const char *)node->pe.memory, every);
        found.read[to] |= reads;
        found.written[to] |= k == 0;
        for (int i = v->sizes.rank - 1; i >= 0; i -= 1) {
            const int64_t step = v->operand[k].stride[i] * size;

            if (v->sizes.size[i] <= 1)
                continue;
            to -= 1;
            found.step[to][k] = within(step, every);
            if (step != back) {
                found.read[to] |= reads;
                found.written[to] |= k == 0;
            }
            back += step * (v->sizes.size[i] - 1);
        }
    }
    return found;
}

/* One point: read some operands, then perhaps write the first one. */
static void run_point(struct run *run, unsigned reads, bool writes)
{
    struct progress *p = &run->now;

    do {
        const uint64_t due = p->pending & 0xff;
        uint64_t busy = due > 0 ? UINT64_C(1) << (due - 1) : 0;

        p->pending >>= 8;
        p->cycles += 1;
        for (int k = 0; k < MAX_OPERANDS; k += 1) {
            const uint64_t bank = UINT64_C(1) << p->at[k] / BANK_BYTES;

            if (reads >> k & 1 && !(busy & bank)) {
                busy |= bank;
                reads &= ~(1U << k);
            }
        }
    } while (reads != 0);
    if (writes)
        p->pending |= (uint64_t)(p->at[0] / BANK_BYTES + 1) << 8 * (run->machine->write_latency - 1);
}

static bool are_alike(const struct progress *p, const struct progress *q)
{
    return p->pending == q->pending && memcmp(p->at, q->at, sizeof p->at) == 0;
}

static void run_points(struct run *run, int dimension, int from, int to);

/* All points along a dimension and those within; a step along `from` led to the first one, and one
 * along `to` leads away from the last one. */
static void run_all(struct run *run, int dimension, int from, int to)
{
    const struct access *of = run->of;
    const int64_t every = BANK_BYTES * run->machine->read_banks;
    struct progress before = { 0 };
    int64_t next = 1, seen = 0;
    uint16_t at[MAX_OPERANDS];

    memcpy(at, run->now.at, sizeof at);
    for (int64_t i = 0, last = of->size[dimension] - 1; i <= last; i += 1) {
        if (i > 0 && i < last) {
            if (seen > 0 && are_alike(&before, &run->now)) {
                const int64_t times = (last - i) / (i - seen);

                run->now.cycles += times * (run->now.cycles - before.cycles);
                i += times * (i - seen);
                seen = 0;
                next = last;
            } else if (i == next) {            /* those before may be at its start only */
                before = run->now;
                seen = i;
                next = 2 * i;
            }
        }
        run_points(run, dimension + 1, i == 0 ? from : dimension, i == last ? to : dimension);
        for (int k = 0; k < MAX_OPERANDS; k += 1)
            run->now.at[k] = at[k] = (uint16_t)((at[k] + of->step[dimension][k]) % every);
    }
}

static uint32_t hash_words(const void *bytes, size_t size)
{
    uint32_t word, found = 0;

    for (size_t i = 0; i < size; i += sizeof word) {
        memcpy(&word, (const char *)bytes + i, sizeof word);
        found = (found ^ word) * UINT32_C(0x9e3779b1);
        found ^= found >> 15;
    }
    return found;
}

/* A row that began as one before comes to what that one came to. */
static void run_row(struct run *run, int dimension, int from, int to)
{
    const struct progress before = run->now;
    const size_t size = sizeof before.pending + sizeof before.at;
    struct known_row *row = &run->row[hash_words(&before, size) % ROWS];

    if (row->after.cycles == 0 || row->from != from || row->to != to
        || !are_alike(&row->before, &before)) {
        run_all(run, dimension, from, to);
        *row = (struct known_row){ before, run->now, from, to };
        row->after.cycles -= before.cycles;
        return;
    }
    run->now = row->after;
    run->now.cycles += before.cycles;
}

static void run_points(struct run *run, int dimension, int from, int to)
{
    if (dimension == run->of->rank)
        run_point(run, run->of->read[from], run->of->written[to] != 0);
    else
        (dimension == run->of->rank - 1 ? run_row : run_all)(run, dimension, from, to);
}

/* Cycles in which v waits where it computes a point in each other cycle. What was found is kept. */
int64_t bank_waits(const struct node *node, const struct vector *v, char *const base[MAX_OPERANDS])
{
    const struct access of = access_of(node, v, base);
    struct known_access *known = &node->engine->accesses[hash_words(&of, sizeof of) % BUCKETS];

    if (known->cycles == 0 || memcmp(&known->of, &of, sizeof of) != 0) {
        struct run run = { .machine = &node->engine->layout->machine, .of = &of };

        memcpy(run.now.at, of.first, sizeof run.now.at);
        run_points(&run, 0, of.rank, of.rank);
        *known = (struct known_access){ of, run.now.cycles };
    }
    return known->cycles - points(&v->sizes);
}

/* Where what is found will be kept. */
struct known_access *make_accesses(struct engine *engine)
{
    return zeros(engine, BUCKETS, sizeof(struct known_access));
}
