/* PE program of role reused: sends eight elements, one vector at a time: the even ones, then the odd
 * ones backwards. */
#include "pe.h"

enum { Y };

struct memory {
    int32_t data[8];
    struct vector send;
};

static void done(struct pe *pe)
{
    invocation_done(pe);
}

static void pe_main(struct pe *pe)
{
    struct memory *my = pe->memory;

    for (int i = 0; i < 8; i += 1)
        my->data[i] = i;
    configure(pe, &my->send, NO_COUNTER, COPY, SIZES(4), INT32_FABRIC, INT32_OPERAND(2),
              NO_OPERAND);
    stream_send(pe, &my->send, Y, &my->data[0], NULL);
    configure(pe, &my->send, NO_COUNTER, COPY, SIZES(4), INT32_FABRIC, INT32_OPERAND(-2),
              NO_OPERAND);
    stream_send(pe, &my->send, Y, &my->data[7], done);
}

const struct program program_reused = {
    .name = "reused", .memory = sizeof(struct memory), .main = pe_main
};
