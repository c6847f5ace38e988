/* PE program of role laplacian: y = v of the four neighbours - 4 v; PEs on a border only send. */
#include "pe.h"

/* Where an element comes from, in rounds; two colours each, by parity. */
enum { EAST, WEST, SOUTH, NORTH, SIDES };

struct memory {
    int32_t size[2];
    float v_local[16];
    float y_local[16];
    float t_local[SIDES][16];
    struct vector send[SIDES], add[SIDES];
    struct vector multiply, sum, copy;
    int32_t round;
};

static void start_round(struct pe *pe);

static int is_inner(const struct pe *pe, int x, int y)
{
    const int last = ((const struct memory *)pe->memory)->size[1] - 1;

    return x > 0 && x < last && y > 0 && y < last;
}

/* The colour on which the PE hears this side, or sends what another one hears from there. */
static int colour_of(const struct pe *pe, int from, int sends)
{
    const int at = from == WEST || from == EAST ? pe->x : pe->y;

    return 2 * from + (at + !sends) % 2;
}

static void send(struct pe *pe, int from, task *then)
{
    struct memory *my = pe->memory;

    configure(pe, &my->send[from], NO_COUNTER, COPY, SIZES(my->size[0]), FLOAT32_FABRIC,
              FLOAT32_OPERAND(1), NO_OPERAND);
    stream_send(pe, &my->send[from], colour_of(pe, from, 1), &my->v_local[0], then);
}

/* Whether the PE that would hear this PE on its side `from` is an inner one. */
static int is_heard(const struct pe *pe, int from)
{
    static const int dx[] = { -1, 1, 0, 0 }, dy[] = { 0, 0, -1, 1 };

    return is_inner(pe, pe->x + dx[from], pe->y + dy[from]);
}

static void finish(struct pe *pe)
{
    struct memory *my = pe->memory;
    const struct operand local = FLOAT32_OPERAND(1);
    const struct sizes sizes = SIZES(my->size[0]);
    static const float factor = -4.0f;

    configure(pe, &my->multiply, NO_COUNTER, MUL, sizes, local, FLOAT32_OPERAND(0), local);
    vector_run(pe, &my->multiply, my->t_local[0], &factor, my->v_local);
    configure(pe, &my->sum, NO_COUNTER, ADD, sizes, local, local, local);
    vector_run(pe, &my->sum, my->t_local[1], my->t_local[0], my->t_local[3]);
    configure(pe, &my->copy, NO_COUNTER, COPY, sizes, local, local, NO_OPERAND);
    vector_run(pe, &my->copy, my->y_local, my->t_local[1], NULL);
    invocation_done(pe);
}

static void next_round(struct pe *pe)
{
    struct memory *my = pe->memory;

    my->round += 1;
    if (my->round < SIDES)
        start_round(pe);
    else
        finish(pe);
}

static void receive(struct pe *pe, int from)
{
    struct memory *my = pe->memory;
    const int in = colour_of(pe, from, 0);

    configure(pe, &my->add[from], NO_COUNTER, from > 0 ? ADD : COPY, SIZES(my->size[0]),
              FLOAT32_OPERAND(1), FLOAT32_FABRIC, FLOAT32_OPERAND(1));
    if (from == 0)
        stream_receive(pe, &my->add[from], in, my->t_local[from], next_round);
    else
        stream_accumulate(pe, &my->add[from], in, my->t_local[from], my->t_local[from - 1],
                          next_round);
}

static void start_round(struct pe *pe)
{
    struct memory *my = pe->memory;

    receive(pe, my->round);
    if (is_heard(pe, my->round))
        send(pe, my->round, NULL);
}

static void send_only(struct pe *pe)
{
    for (int from = 0; from < SIDES; from += 1)
        if (is_heard(pe, from))
            send(pe, from, NULL);
    invocation_done(pe);
}

static void pe_main(struct pe *pe)
{
    activate(pe, is_inner(pe, pe->x, pe->y) ? start_round : send_only);
}

const struct program program_laplacian = {
    .name = "laplacian", .memory = sizeof(struct memory), .main = pe_main
};
