/* PE program of role uvbke: with w and n, v of the PEs to the west and to the north,
 * y = v (v + n - (v + w) v) / 2, and in the next rounds the same of n and w. PEs with x or y 0 only
 * send. */
#include "pe.h"

enum { WEST, NORTH };                          /* two colours each, by parity */

static const int32_t heard[] = { WEST, NORTH, NORTH, WEST };

struct memory {
    int32_t size[2];
    float v_local[16];
    float y_local[16];
    float sum[16], product[16], result[2][16], z_local[16];
    struct vector receive, send, compute[4];
    int32_t round;
};

static void start_round(struct pe *pe);

/* The colour on which the PE hears this side, or sends what another one hears from there. */
static int colour_of(const struct pe *pe, int from, int sends)
{
    const int at = from == WEST ? pe->x : pe->y;

    return 2 * from + (at + !sends) % 2;
}

static void send(struct pe *pe, int from)
{
    struct memory *my = pe->memory;
    const int x = pe->x + (from == WEST), y = pe->y + (from == NORTH);

    if (x == 0 || y == 0 || x == my->size[1] || y == my->size[1])
        return;
    configure(pe, &my->send, NO_COUNTER, COPY, SIZES(my->size[0]), FLOAT32_FABRIC,
              FLOAT32_OPERAND(1), NO_OPERAND);
    stream_send(pe, &my->send, colour_of(pe, from, 1), my->v_local, NULL);
}

static void compute(struct pe *pe, int at, enum operation operation, float *d, const float *a,
                    const float *b)
{
    struct memory *my = pe->memory;
    static const float half = 0.5f;
    const struct operand local = FLOAT32_OPERAND(1);

    configure(pe, &my->compute[at], NO_COUNTER, operation, SIZES(my->size[0]), local, local,
              b == NULL ? FLOAT32_OPERAND(0) : local);
    vector_run(pe, &my->compute[at], d, a, b == NULL ? &half : b);
}

static void end_round(struct pe *pe)
{
    struct memory *my = pe->memory;
    float *const result = my->result[my->round / 2];

    if (my->round % 2 == 0) {
        compute(pe, 0, MUL, my->product, my->sum, my->v_local);
    } else {
        compute(pe, 0, SUB, result, my->sum, my->product);
        compute(pe, 1, MUL, result, result, NULL);
        compute(pe, 2, MUL, result, result, my->v_local);
    }
    my->round += 1;
    if (my->round < 4) {
        start_round(pe);
        return;
    }
    compute(pe, 0, COPY, my->y_local, my->result[0], my->v_local);
    compute(pe, 1, COPY, my->z_local, my->result[1], my->v_local);
    invocation_done(pe);
}

static void start_round(struct pe *pe)
{
    struct memory *my = pe->memory;
    const int from = heard[my->round];

    configure(pe, &my->receive, NO_COUNTER, ADD, SIZES(my->size[0]), FLOAT32_OPERAND(1),
              FLOAT32_FABRIC, FLOAT32_OPERAND(1));
    stream_accumulate(pe, &my->receive, colour_of(pe, from, 0), my->sum, my->v_local, end_round);
    send(pe, from);
}

static void send_only(struct pe *pe)
{
    for (int round = 0; round < 4; round += 1)
        send(pe, heard[round]);
    invocation_done(pe);
}

static void pe_main(struct pe *pe)
{
    activate(pe, pe->x > 0 && pe->y > 0 ? start_round : send_only);
}

const struct program program_uvbke = {
    .name = "uvbke", .memory = sizeof(struct memory), .main = pe_main
};
