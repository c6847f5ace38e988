/* PE program of role both: two PEs beside each other send v, each on a colour of its own. */
#include "pe.h"

struct memory {
    float v_local[16];
    struct vector send;
};

static void done(struct pe *pe)
{
    invocation_done(pe);
}

static void pe_main(struct pe *pe)
{
    struct memory *my = pe->memory;

    configure(pe, &my->send, NO_COUNTER, COPY, SIZES(16), FLOAT32_FABRIC, FLOAT32_OPERAND(1),
              NO_OPERAND);
    stream_send(pe, &my->send, pe->x, &my->v_local[0], done);
}

const struct program program_both = {
    .name = "both", .memory = sizeof(struct memory), .main = pe_main
};
