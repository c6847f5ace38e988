/* PE program of role star: PE 0 adds the v of all others to its own, the nearest first; each PE
 * sends its own and passes on those from behind it, begun before cycle 0. */
#include "pe.h"

enum { Y_A, Y_B };

struct memory {
    int32_t size[2];
    float v_local[512];
    float y_local[512];
    struct vector stream;
    struct vector pass;
};

static void done(struct pe *pe)
{
    invocation_done(pe);
}

static void pe_main(struct pe *pe)
{
    struct memory *my = pe->memory;
    const int elements = my->size[0], behind = my->size[1] - 1 - pe->x;
    const int out = pe->x % 2 == 0 ? Y_A : Y_B, in = pe->x % 2 == 0 ? Y_B : Y_A;

    if (pe->x == 0) {
        memcpy(my->y_local, my->v_local, sizeof my->y_local);
        configure(pe, &my->stream, NO_COUNTER, ADD, SIZES(behind, elements),
                  FLOAT32_OPERAND(0, 1), FLOAT32_FABRIC, FLOAT32_OPERAND(0, 1));
        stream_accumulate(pe, &my->stream, in, &my->y_local[0], &my->y_local[0], done);
        return;
    }
    configure(pe, &my->stream, NO_COUNTER, COPY, SIZES(elements), FLOAT32_FABRIC,
              FLOAT32_OPERAND(1), NO_OPERAND);
    stream_send(pe, &my->stream, out, &my->v_local[0], behind > 0 ? NULL : done);
    if (behind > 0) {
        configure(pe, &my->pass, NO_COUNTER, COPY, SIZES(behind, elements), FLOAT32_FABRIC,
                  FLOAT32_FABRIC, NO_OPERAND);
        stream_pass(pe, &my->pass, out, in, done);
    }
}

const struct program program_star = {
    .name = "star", .memory = sizeof(struct memory), .main = pe_main
};
