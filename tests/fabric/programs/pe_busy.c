/* PE program of role busy: two streams of `size[0]` arrive, and a vector instruction runs meanwhile on
 * `size[1]` elements. */
#include "pe.h"

enum { X, Y };

struct memory {
    int32_t size[2];
    float x_local[512];
    float y_local[512];
    float v_local[512];
    struct vector receive, compute;
    int32_t done;
};

static void done(struct pe *pe)
{
    struct memory *my = pe->memory;

    my->done += 1;
    if (my->done == 3)
        invocation_done(pe);
}

static void run(struct pe *pe)
{
    struct memory *my = pe->memory;

    vector_run(pe, &my->compute, my->v_local, my->v_local, NULL);
    done(pe);
}

static void pe_main(struct pe *pe)
{
    struct memory *my = pe->memory;

    configure(pe, &my->receive, NO_COUNTER, COPY, SIZES(my->size[0]), FLOAT32_OPERAND(1),
              FLOAT32_FABRIC, NO_OPERAND);
    configure(pe, &my->compute, NO_COUNTER, COPY, SIZES(my->size[1]), FLOAT32_OPERAND(1),
              FLOAT32_OPERAND(1), NO_OPERAND);
    stream_receive(pe, &my->receive, X, my->x_local, done);
    stream_receive(pe, &my->receive, Y, my->y_local, done);
    activate(pe, run);
}

const struct program program_busy = {
    .name = "busy", .memory = sizeof(struct memory), .main = pe_main
};
