/* PE program of role chain: sums of v from west to east, begun before cycle 0. */
#include "pe.h"

enum { Y_A, Y_B };

struct memory {
    float v_local[16];
    struct vector begin;
    struct vector collect;
};

static void done(struct pe *pe)
{
    invocation_done(pe);
}

static void pe_main(struct pe *pe)
{
    struct memory *my = pe->memory;

    configure(pe, &my->begin, NO_COUNTER, COPY, SIZES(16), FLOAT32_FABRIC, FLOAT32_OPERAND(1),
              NO_OPERAND);
    configure(pe, &my->collect, NO_COUNTER, ADD, SIZES(16), FLOAT32_FABRIC, FLOAT32_FABRIC,
              FLOAT32_OPERAND(1));
    if (pe->x == 0)
        stream_send(pe, &my->begin, Y_A, &my->v_local[0], done);
    else if (pe->x % 2 == 1)
        stream_combine(pe, &my->collect, Y_B, Y_A, &my->v_local[0], done);
    else
        stream_combine(pe, &my->collect, Y_A, Y_B, &my->v_local[0], done);
}

const struct program program_chain = {
    .name = "chain", .memory = sizeof(struct memory), .main = pe_main
};
