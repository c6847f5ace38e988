/* PE program of role outside: touch memory that is its own in column 0, and what is not beyond. */
#include "pe.h"

enum { Y };

struct memory {
    float y_local[4][3];
    struct vector backwards, beyond, sends;
};

static void pe_main(struct pe *pe)
{
    struct memory *my = pe->memory;
    float one = 1.0f;

    configure(pe, &my->backwards, NO_COUNTER, COPY, SIZES(4, 3), FLOAT32_OPERAND(-3, 1),
              FLOAT32_OPERAND(0, 0), NO_OPERAND);
    configure(pe, &my->beyond, NO_COUNTER, ADD, SIZES(4), FLOAT32_OPERAND(1), FLOAT32_OPERAND(0),
              FLOAT32_OPERAND((int32_t)sizeof(struct memory)));
    configure(pe, &my->sends, NO_COUNTER, COPY, SIZES(2), FLOAT32_FABRIC, FLOAT32_OPERAND(-1),
              NO_OPERAND);
    vector_run(pe, &my->backwards, &my->y_local[pe->x == 1 ? 2 : 3][0], &one, NULL);
    if (pe->x == 2)
        vector_run(pe, &my->beyond, my->y_local, &one, my->y_local);
    if (pe->x == 3)
        stream_send(pe, &my->sends, Y, my->y_local, NULL);
    invocation_done(pe);
}

const struct program program_outside = {
    .name = "outside", .memory = sizeof(struct memory), .main = pe_main,
};
