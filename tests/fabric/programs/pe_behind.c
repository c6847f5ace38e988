/* PE program of role behind: its router turns behind two elements, and not behind none. */
#include "pe.h"

enum { Y };

struct memory {
    int32_t v[4];
    struct vector none, two;
};

static void pe_main(struct pe *pe)
{
    struct memory *my = pe->memory;

    for (int i = 0; i < 4; i += 1)
        my->v[i] = 10 * (i / 2) + i % 2;
    configure(pe, &my->none, NO_COUNTER, COPY, SIZES(0), INT32_FABRIC, INT32_OPERAND(1),
              NO_OPERAND);
    configure(pe, &my->two, NO_COUNTER, COPY, SIZES(2), INT32_FABRIC, INT32_OPERAND(1),
              NO_OPERAND);
    stream_send_turning(pe, &my->none, Y, &my->v[0], NULL);
    stream_send_turning(pe, &my->two, Y, &my->v[0], NULL);
    stream_send(pe, &my->two, Y, &my->v[2], NULL);
    invocation_done(pe);
}

const struct program program_behind = {
    .name = "behind", .memory = sizeof(struct memory), .main = pe_main
};
