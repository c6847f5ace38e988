/* PE program of role pipelined: sums of v towards PE 0, begun in a task. */
#include "pe.h"

enum { Y_A, Y_B };

struct memory {
    int32_t size[2];
    float v_local[512];
    float y_local[512];
    struct vector stream;
    struct vector copy;
};

static void done(struct pe *pe)
{
    invocation_done(pe);
}

static void copy(struct pe *pe)
{
    struct memory *my = pe->memory;

    configure(pe, &my->copy, NO_COUNTER, COPY, SIZES(my->size[0]), FLOAT32_OPERAND(1),
              FLOAT32_OPERAND(1), NO_OPERAND);
    vector_run(pe, &my->copy, &my->y_local[0], &my->v_local[0], NULL);
    invocation_done(pe);
}

static void run(struct pe *pe)
{
    struct memory *my = pe->memory;
    const struct sizes sizes = SIZES(my->size[0]);
    const int out = pe->x % 2 == 0 ? Y_A : Y_B, in = pe->x % 2 == 0 ? Y_B : Y_A;

    if (pe->x == 0) {
        configure(pe, &my->stream, NO_COUNTER, ADD, sizes, FLOAT32_OPERAND(1), FLOAT32_FABRIC,
                  FLOAT32_OPERAND(1));
        stream_accumulate(pe, &my->stream, in, &my->v_local[0], &my->v_local[0], copy);
    } else if (pe->x == my->size[1] - 1) {
        configure(pe, &my->stream, NO_COUNTER, COPY, sizes, FLOAT32_FABRIC, FLOAT32_OPERAND(1),
                  NO_OPERAND);
        stream_send(pe, &my->stream, out, &my->v_local[0], done);
    } else {
        configure(pe, &my->stream, NO_COUNTER, ADD, sizes, FLOAT32_FABRIC, FLOAT32_FABRIC,
                  FLOAT32_OPERAND(1));
        stream_combine(pe, &my->stream, out, in, &my->v_local[0], done);
    }
}

static void pe_main(struct pe *pe)
{
    activate(pe, run);
}

const struct program program_pipelined = {
    .name = "pipelined", .memory = sizeof(struct memory), .main = pe_main
};
