/* PE program of role broadcast: PE[0, 0] sends v to all others, begun before cycle 0. */
#include "pe.h"

enum { V };

struct memory {
    int32_t size[2];
    float v_local[512];
    float y_local[512];
    struct vector stream;
};

static void done(struct pe *pe)
{
    invocation_done(pe);
}

static void pe_main(struct pe *pe)
{
    struct memory *my = pe->memory;
    const int sends = pe->x == 0 && pe->y == 0;

    configure(pe, &my->stream, NO_COUNTER, COPY, SIZES(my->size[0]),
              sends ? FLOAT32_FABRIC : FLOAT32_OPERAND(1),
              sends ? FLOAT32_OPERAND(1) : FLOAT32_FABRIC, NO_OPERAND);
    if (sends)
        stream_send(pe, &my->stream, V, &my->v_local[0], done);
    else
        stream_receive(pe, &my->stream, V, &my->y_local[0], done);
}

const struct program program_broadcast = {
    .name = "broadcast", .memory = sizeof(struct memory), .main = pe_main
};
