/* How long a vector instruction takes: its lanes, the strides of its operands, their banks. */
#include <stdlib.h>

#include "engine.h"

enum { MAX_BANKS = 64 };

/* The type that tells which lanes compute: the widest one of the sources that are no numbers. */
static enum element type_of_sources(const struct vector *v)
{
    static const int rank[TYPES] = { [INT16] = 1, [FLOAT16] = 2, [INT32] = 3, [FLOAT32] = 4 };
    enum element widest = v->operand[0].type;
    int greatest = 0;

    for (int k = 1; k < operands_of(v); k += 1)
        if (!is_number(v, k) && rank[v->operand[k].type] > greatest) {
            widest = v->operand[k].type;
            greatest = rank[widest];
        }
    return widest;
}

/* The dimension along which elements follow each other; -1 if there is a single one. */
static int innermost(const struct vector *v)
{
    int dimension = v->sizes.rank - 1;

    while (dimension >= 0 && v->sizes.size[dimension] == 1)
        dimension -= 1;
    return dimension;
}

/* Elements a cycle that the machine has lanes for; 0: it has no such instruction. */
int64_t find_lanes(const struct machine *machine, const struct vector *v)
{
    return machine->lanes[v->operand[0].type][type_of_sources(v)][v->operation];
}

/* Elements a cycle where no operand is in the way. */
static int64_t lanes_of(const struct machine *machine, const struct vector *v)
{
    const int64_t lanes = find_lanes(machine, v);
    const int along = innermost(v);
    const int mixed = v->operand[0].type != type_of_sources(v);
    const int32_t sums = mixed ? machine->mixed_sum_lanes : machine->sum_lanes;

    if (along >= 0 && v->operand[0].stride[along] == 0 && sums > 0 && sums < lanes)
        return sums;
    return lanes;
}

/* Elements a cycle, by the stride of the slowest operand. */
static int64_t strided(const struct machine *machine, const struct vector *v, int64_t lanes)
{
    const int along = innermost(v);

    for (int k = 0; along >= 0 && k < operands_of(v); k += 1) {
        const int32_t stride = v->operand[k].stride[along];
        const int32_t limit = machine->stride_limit[(stride % 8 + 8) % 8];

        if (stride != 0 && stride != 1 && limit > 0 && limit < lanes)
            lanes = limit;
    }
    return lanes;
}

static int64_t words(const struct operand *operand, int dimension)
{
    return operand->stride[dimension] * (int64_t)element_size(operand->type) / 2;
}

static int64_t modulo(int64_t number, int64_t banks)
{
    return (number % banks + banks) % banks;
}

/* At how many points operands p and q, the first of which lie `apart` 16-bit words from each other,
 * are read from one bank. */
static int64_t conflicts(const struct vector *v, int p, int q, int64_t apart, int64_t banks)
{
    int64_t count[MAX_BANKS] = { 0 }, next[MAX_BANKS];

    count[modulo(apart, banks)] = 1;
    for (int i = 0; i < v->sizes.rank; i += 1) {
        const int64_t step = modulo(words(&v->operand[p], i) - words(&v->operand[q], i), banks);
        const int64_t size = v->sizes.size[i];

        memset(next, 0, sizeof next);
        for (int64_t k = 0; k < banks && k < size; k += 1)
            for (int64_t from = 0; from < banks; from += 1)
                next[(from + k * step) % banks] += count[from] * ((size - k + banks - 1) / banks);
        memcpy(count, next, sizeof count);
    }
    return count[0];
}

/* The most of its points at which two of its operands are read from one bank. */
static int64_t conflicting(const struct machine *machine, const struct vector *v,
                           char *const base[MAX_OPERANDS])
{
    int64_t most = 0;

    for (int p = v->operation != MAC; p < operands_of(v); p += 1)
        for (int q = p + 1; q < operands_of(v); q += 1)
            if (!is_number(v, p) && !is_number(v, q)) {
                const int64_t found =
                    conflicts(v, p, q, (base[p] - base[q]) / 2, machine->read_banks);

                most = found > most ? found : most;
            }
    return most;
}

static int64_t over(int64_t count, int64_t each)
{
    return (count + each - 1) / each;
}

/* The points at which v waits for a bank. */
static int64_t waiting(const struct node *node, const struct vector *v,
                       char *const base[MAX_OPERANDS])
{
    const struct machine *machine = &node->engine->layout->machine;

    if (points(&v->sizes) == 0 || machine->read_banks == 0)
        return 0;
    return machine->write_latency > 0 ? bank_waits(node, v, base) : conflicting(machine, v, base);
}

/* The cycles of v after its start-up. */
struct rate rate_of(const struct node *node, const struct vector *v,
                    char *const base[MAX_OPERANDS])
{
    const struct machine *machine = &node->engine->layout->machine;
    const int64_t count = points(&v->sizes), lanes = lanes_of(machine, v);
    const int64_t each = strided(machine, v, lanes);
    const int64_t waits = waiting(node, v, base);
    int64_t full;

    if (lanes == 0)                            /* it was refused when it was configured */
        return (struct rate){ 0 };
    full = over(count, lanes);
    return (struct rate){ .lanes = full, .rounding = count % lanes != 0,
                          .memory = over(count, each) - full + over(waits, each) };
}
