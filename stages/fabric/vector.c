/* Vector instructions on memory: what they compute. */
#include "engine.h"

typedef void row(char *d, const char *a, const char *b, int32_t count, const ptrdiff_t stride[3]);

size_t element_size(enum element type)
{
    return type == FLOAT16 || type == INT16 ? 2 : 4;
}

int64_t points(const struct sizes *sizes)
{
    int64_t product = 1;

    for (int i = 0; i < sizes->rank; i += 1)
        product *= sizes->size[i] > 0 ? sizes->size[i] : 0;
    return product;
}

/* ---- One element ----------------------------------------------------------------------------- */

static int32_t load_int(enum element type, const void *element)
{
    return type == INT16 ? *(const int16_t *)element : *(const int32_t *)element;
}

/* Operand a; SLR takes its bits without a sign. */
static int32_t load_left(const struct vector *v, const void *a)
{
    const enum element type = v->operand[1].type;
    const int32_t value = load_int(type, a);

    return v->operation == SLR && type == INT16 ? value & 0xffff : value;
}

static float load_float(enum element type, const void *element)
{
    if (type == FLOAT16)
        return f32(*(const float16 *)element);
    return type == FLOAT32 ? *(const float *)element : (float)load_int(type, element);
}

static void store_int(enum element type, int32_t value, void *element)
{
    if (type == INT16)
        *(int16_t *)element = (int16_t)(uint16_t)value;
    else
        *(int32_t *)element = value;
}

static void store_float(enum element type, float value, void *element)
{
    if (type == FLOAT16)
        *(float16 *)element = f16(value);
    else if (type == FLOAT32)
        *(float *)element = value;
    else
        store_int(type, truncated(value, INT32_MAX), element);
}

static float compute_float(enum operation operation, float d, float a, float b, float c)
{
    switch (operation) {
    case COPY: return a;
    case ADD: return a + b;
    case SUB: return a - b;
    case MUL: return a * b;
    case DIV: return a / b;
    case MAX: return maximum(a, b);
    case MIN: return minimum(a, b);
    case MAC: return d + a * b;
    case FMA: return a * b + c;
    case FMS: return a * b - c;
    case FNMA: return c - a * b;
    case AND: case OR: case XOR: case SLL: case SLR: case SAR: break;
    }
    return a;
}

static int32_t compute_int(enum operation operation, int32_t d, int32_t a, int32_t b, int32_t c)
{
    const uint32_t x = (uint32_t)a, y = (uint32_t)b;

    switch (operation) {
    case ADD: return (int32_t)(x + y);
    case SUB: return (int32_t)(x - y);
    case MUL: return (int32_t)(x * y);
    case MAX: return a > b ? a : b;
    case MIN: return a < b ? a : b;
    case MAC: return (int32_t)((uint32_t)d + x * y);
    case FMA: return (int32_t)(x * y + (uint32_t)c);
    case FMS: return (int32_t)(x * y - (uint32_t)c);
    case FNMA: return (int32_t)((uint32_t)c - x * y);
    case AND: return a & b;
    case OR: return a | b;
    case XOR: return a ^ b;
    case SLL: return shifted_left(a, b);
    case SLR: return shifted_right_logical(x, b);
    case SAR: return shifted_right(a, b);
    case COPY:
    case DIV: break;
    }
    return a;
}

static bool computes_in_float(const struct vector *v)
{
    return is_float(v->operand[1].type)
        || (v->operation != COPY && is_float(v->operand[2].type))
        || (v->operation == MAC && is_float(v->operand[0].type))
        || (is_fused(v) && is_float(v->operand[3].type));
}

/* One point of v. */
void apply(const struct vector *v, void *d, const void *a, const void *b, const void *c)
{
    const enum element to = v->operand[0].type, left = v->operand[1].type;
    const enum element right = v->operand[2].type, last = v->operand[3].type;
    const bool two = v->operation != COPY, three = v->operation == MAC, four = is_fused(v);

    if (computes_in_float(v)) {
        store_float(to, compute_float(v->operation, three ? load_float(to, d) : 0.0f,
                                      load_float(left, a), two ? load_float(right, b) : 0.0f,
                                      four ? load_float(last, c) : 0.0f), d);
    } else {
        const int32_t value = compute_int(v->operation, three ? load_int(to, d) : 0,
                                          load_left(v, a), two ? load_int(right, b) : 0,
                                          four ? load_int(last, c) : 0);

        if (is_float(to))
            store_float(to, (float)value, d);
        else
            store_int(to, value, d);
    }
}

uint32_t element_to_fabric(enum element type, const void *element)
{
    uint16_t half;
    uint32_t bits;

    if (element_size(type) == 2) {
        memcpy(&half, element, sizeof half);
        return half;
    }
    memcpy(&bits, element, sizeof bits);
    return bits;
}

void element_from_fabric(enum element type, uint32_t bits, void *element)
{
    const uint16_t half = (uint16_t)bits;

    if (element_size(type) == 2)
        memcpy(element, &half, sizeof half);
    else
        memcpy(element, &bits, sizeof bits);
}

/* ---- The innermost loop, where all operands have the same float type ------------------------ */

#define SAME(x) (x)
#define ROW(name, type, load, store, value)                                                        \
    static void name(char *d, const char *a, const char *b, int32_t count,                         \
                     const ptrdiff_t stride[3])                                                    \
    {                                                                                              \
        for (; count > 0; count -= 1, d += stride[0], a += stride[1], b += stride[2]) {            \
            const float z = load(*(type *)d), x = load(*(const type *)a);                          \
            const float y = load(*(const type *)b);                                                \
                                                                                                   \
            (void)z;                                                                               \
            (void)y;                                                                               \
            *(type *)d = store(value);                                                             \
        }                                                                                          \
    }
#define ROWS(name, value)                                                                          \
    ROW(name##_float16, float16, f32, f16, value)                                                  \
    ROW(name##_float32, float, SAME, SAME, value)

ROWS(copy, x)
ROWS(add, x + y)
ROWS(sub, x - y)
ROWS(mul, x * y)
ROWS(quotient, x / y)
ROWS(maxima, maximum(x, y))
ROWS(minima, minimum(x, y))
ROWS(mac, z + x * y)

static row *const rows[][2] = {
    [COPY] = { copy_float16, copy_float32 },
    [ADD] = { add_float16, add_float32 },
    [SUB] = { sub_float16, sub_float32 },
    [MUL] = { mul_float16, mul_float32 },
    [DIV] = { quotient_float16, quotient_float32 },
    [MAX] = { maxima_float16, maxima_float32 },
    [MIN] = { minima_float16, minima_float32 },
    [MAC] = { mac_float16, mac_float32 },
};

static row *same_float(const struct vector *v)
{
    const enum element type = v->operand[0].type;
    const enum element right = v->operation == COPY ? type : v->operand[2].type;

    if (!is_float(type) || v->operand[1].type != type || right != type || is_fused(v))
        return NULL;
    return rows[v->operation][type == FLOAT32];
}

/* ---- All points ------------------------------------------------------------------------------ */

static void run_row(const struct vector *v, char *const base[MAX_OPERANDS], int32_t count,
                    const ptrdiff_t stride[MAX_OPERANDS])
{
    row *fast = same_float(v);

    if (fast != NULL) {
        fast(base[0], base[1], base[2], count, stride);
        return;
    }
    for (ptrdiff_t i = 0; i < count; i += 1)
        apply(v, base[0] + i * stride[0], base[1] + i * stride[1], base[2] + i * stride[2],
              base[3] + i * stride[3]);
}

static void run_dimensions(const struct vector *v, int dimension, char *const base[MAX_OPERANDS])
{
    const int32_t size = v->sizes.size[dimension];
    char *at[MAX_OPERANDS] = { base[0], base[1], base[2], base[3] };
    ptrdiff_t stride[MAX_OPERANDS] = { 0 };    /* what is no operand stands where a does */

    for (int k = 0; k < operands_of(v); k += 1)
        stride[k] = v->operand[k].stride[dimension] * (ptrdiff_t)element_size(v->operand[k].type);
    if (dimension + 1 == v->sizes.rank) {
        run_row(v, at, size, stride);
        return;
    }
    for (int32_t i = 0; i < size; i += 1) {
        run_dimensions(v, dimension + 1, at);
        for (int k = 0; k < MAX_OPERANDS; k += 1)
            at[k] += stride[k];
    }
}

enum { FAR = INT32_MAX };                      /* beyond any memory */

struct extent {                                /* bytes [least, end) */
    ptrdiff_t least, end;
};

/* The bytes of the PE's memory from the first to the last that operand k has. */
static struct extent extent_of(const struct node *node, const struct vector *v, int k,
                               const char *base)
{
    const struct operand *operand = &v->operand[k];
    const ptrdiff_t size = (ptrdiff_t)element_size(operand->type);
    const ptrdiff_t first = base - (const char *)node->pe.memory;
    struct extent found = { first, first + size };

    for (int i = 0; i < v->sizes.rank; i += 1) {
        const ptrdiff_t steps = (ptrdiff_t)operand->stride[i] * (v->sizes.size[i] - 1);
        const ptrdiff_t most = steps < -FAR ? -FAR : steps > FAR ? FAR : steps;

        *(steps < 0 ? &found.least : &found.end) += most * size;
    }
    return found;
}

/* Whether all elements of operand k lie in the PE's memory. */
bool is_inside(const struct node *node, const struct vector *v, int k, const char *base)
{
    const struct program *program = program_of(node);
    const size_t most = program->operands ? program->operands : program->memory;
    const ptrdiff_t size = (ptrdiff_t)element_size(v->operand[k].type);
    const ptrdiff_t first = base - (const char *)node->pe.memory;
    const struct extent extent = extent_of(node, v, k, base);

    if (first % size != 0)
        fail(node->engine, "PE[%d, %d] touches an element of %td bytes at byte %td of its memory",
             x_of(node), y_of(node), size, first);
    if (extent.least >= 0 && extent.end <= (ptrdiff_t)most)
        return true;
    fail(node->engine, "PE[%d, %d] touches bytes %td to %td of its memory, which has %zu",
         x_of(node), y_of(node), extent.least, extent.end - 1, most);
    return false;
}

/* Whether operand k is the same for all points. */
bool is_scalar(const struct vector *v, int k)
{
    for (int i = 0; i < v->sizes.rank; i += 1)
        if (v->sizes.size[i] > 1 && v->operand[k].stride[i] != 0)
            return false;
    return true;
}

static bool are_inside(const struct node *node, const struct vector *v,
                       char *const base[MAX_OPERANDS])
{
    for (int k = 0; k < operands_of(v); k += 1)
        if (!is_number(v, k) && !is_inside(node, v, k, base[k]))
            return false;
    return true;
}

/* ---- Results ---------------------------------------------------------------------------------
 *
 * The result of a vector instruction can be read `latency` cycles after its last element. What reads
 * it before waits: another instruction, a stream, scalar code that loads anything, and the end of
 * the task, so that no other task has to. What does not read it goes on. Of more results than
 * MOST_RESULTS the first one is waited for: so none is ever forgotten. */

/* For how many cycles operands of v, those in memory, wait for results. The one that is written is
 * read by a MAC. */
int64_t find_wait(const struct node *node, const struct vector *v, const bool in_memory[],
                  char *const base[MAX_OPERANDS])
{
    int64_t ready = node->pe.charge;

    for (int k = v->operation != MAC; node->pe.ready > ready && k < operands_of(v); k += 1) {
        struct extent read;

        if (!in_memory[k])
            continue;
        read = extent_of(node, v, k, base[k]);
        for (int i = 0; i < node->results; i += 1)
            if (node->result[i].ready > ready && node->result[i].least < read.end
                && read.least < node->result[i].end)
                ready = node->result[i].ready;
    }
    return ready - node->pe.charge;
}

/* Forget the first result, once it can be read. */
static void drop_result(struct node *node)
{
    wait_until(&node->pe, node->result[0].ready);
    node->results -= 1;
    memmove(node->result, node->result + 1, (size_t)node->results * sizeof *node->result);
}

/* v wrote its result: operand 0. */
static void keep_result(struct node *node, const struct vector *v, const char *base)
{
    const struct extent written = extent_of(node, v, 0, base);
    const int64_t ready = node->pe.charge + node->engine->layout->machine.latency;

    while (node->results > 0 && (node->results == MOST_RESULTS
                                 || node->result[0].ready <= node->pe.charge))
        drop_result(node);
    node->result[node->results] = (struct result){
        (int32_t)written.least, (int32_t)written.end,
        (int32_t)(ready < LAST_CYCLE ? ready : LAST_CYCLE)
    };
    node->results += 1;
    node->pe.ready = ready;
}

static void count_usage(struct node *node, int64_t count, struct rate rate)
{
    struct usage *usage = &node->engine->layout->usage[node->id];

    if (node->engine->running_mains)
        return;
    node->pe.computes = 1;
    usage->points += count;
    usage->lanes += rate.lanes;
    usage->rounding += rate.rounding;
    usage->memory += rate.memory;
    usage->start_up += node->engine->layout->machine.start_up;
}

/* Whether v lies in the PE's memory. */
bool has_place(const struct node *node, const struct vector *v)
{
    const ptrdiff_t at = (const char *)v - (const char *)node->pe.memory;

    return at >= 0 && at <= (ptrdiff_t)(program_of(node)->memory - sizeof *v);
}

/* Whether v lies there, and was configured. */
bool is_configured(const struct node *node, const struct vector *v)
{
    if (has_place(node, v) && v->configured)
        return true;
    fail(node->engine, "PE[%d, %d] runs a vector instruction that it did not configure",
         x_of(node), y_of(node));
    return false;
}

/* A number in a register lies nowhere in memory: no result is there. */
static const bool everything[MAX_OPERANDS] = { true, true, true, true };

static void run(struct node *node, const struct vector *v, char *const base[MAX_OPERANDS])
{
    const struct machine *machine = &node->engine->layout->machine;
    const int64_t count = points(&v->sizes);
    const struct rate rate = rate_of(node, v, base);

    if (count > 0 && machine->latency > 0)
        wait_until(&node->pe, node->pe.charge + find_wait(node, v, everything, base));
    node->pe.charge += machine->start_up + rate.lanes + rate.memory;
    record_vector(node, machine->start_up + rate.lanes + rate.memory);
    count_usage(node, count, rate);
    if (v->counter != NO_COUNTER)
        node->pe.counters[v->counter].points += count;
    if (count > 0 && are_inside(node, v, base)) {
        run_dimensions(v, 0, base);
        if (machine->latency > 0)
            keep_result(node, v, base[0]);
    }
}

void vector_run(struct pe *pe, const struct vector *v, void *d, const void *a, const void *b)
{
    struct node *node = (struct node *)pe;

    if (is_configured(node, v))
        vector_run_fused(pe, v, d, a, v->operation == COPY ? a : b, a);
}

void vector_run_fused(struct pe *pe, const struct vector *v, void *d, const void *a, const void *b,
                      const void *c)
{
    struct node *node = (struct node *)pe;
    char *const base[MAX_OPERANDS] = { d, (char *)(uintptr_t)a, (char *)(uintptr_t)b,
                                       (char *)(uintptr_t)c };

    if (is_configured(node, v))
        run(node, v, base);
}
