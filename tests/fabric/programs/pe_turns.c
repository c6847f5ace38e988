/* PE program of role turns: v from west to east, PE after PE, begun before cycle 0. */
#include "pe.h"

enum { Y_A, Y_B };

struct memory {
    float v_local[16];
    struct vector before;
    struct vector own;
};

static void done(struct pe *pe)
{
    invocation_done(pe);
}

static void pe_main(struct pe *pe)
{
    struct memory *my = pe->memory;
    const int out = pe->x % 2 == 0 ? Y_A : Y_B, in = pe->x % 2 == 0 ? Y_B : Y_A;

    configure(pe, &my->before, NO_COUNTER, COPY, SIZES(pe->x, 16), FLOAT32_FABRIC, FLOAT32_FABRIC,
              NO_OPERAND);
    configure(pe, &my->own, NO_COUNTER, COPY, SIZES(16), FLOAT32_FABRIC, FLOAT32_OPERAND(1),
              NO_OPERAND);
    if (pe->x > 0)
        stream_pass(pe, &my->before, out, in, NULL);
    stream_send(pe, &my->own, out, &my->v_local[0], done);
}

const struct program program_turns = {
    .name = "turns", .memory = sizeof(struct memory), .main = pe_main
};
