/* PE program of role copy: one vector instruction from v to y, in a task. */
#include "pe.h"

struct memory {
    int32_t size[2];
    float v_local[512];
    float y_local[512];
    struct vector copy;
};

static void run(struct pe *pe)
{
    struct memory *my = pe->memory;

    configure(pe, &my->copy, NO_COUNTER, COPY, SIZES(my->size[0]), FLOAT32_OPERAND(1),
              FLOAT32_OPERAND(1), NO_OPERAND);
    vector_run(pe, &my->copy, &my->y_local[0], &my->v_local[0], NULL);
    invocation_done(pe);
}

static void pe_main(struct pe *pe)
{
    activate(pe, run);
}

const struct program program_copy = {
    .name = "copy", .memory = sizeof(struct memory), .main = pe_main
};
