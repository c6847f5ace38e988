/* PE program of role fmuls: a product of two vectors; y begins `size[1]` elements into its room. */
#include "pe.h"

enum { MOST = 5124 };

struct memory {
    int32_t size[2];
    float v_local[MOST];
    float y_local[MOST + 1];
    int32_t stamp[1];
    struct vector multiply;
};

static void run(struct pe *pe)
{
    struct memory *my = pe->memory;
    float *const y = &my->y_local[my->size[1]];
    const int64_t begun = read_clock(pe);

    vector_run(pe, &my->multiply, y, y, &my->v_local[0]);
    my->stamp[0] = (int32_t)(read_clock(pe) - begun);
    invocation_done(pe);
}

static void pe_main(struct pe *pe)
{
    struct memory *my = pe->memory;

    configure(pe, &my->multiply, NO_COUNTER, MUL, SIZES(my->size[0]), FLOAT32_OPERAND(1),
              FLOAT32_OPERAND(1), FLOAT32_OPERAND(1));
    activate(pe, run);
}

const struct program program_fmuls = {
    .name = "fmuls", .memory = sizeof(struct memory), .main = pe_main
};
