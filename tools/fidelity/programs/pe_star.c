/* PE program of role star: PE 0 adds the v of all others to its own, the nearest first, all on one
 * colour; the router of each other PE sends on its v, then turns to what comes from behind it. */
#include "pe.h"

enum { Y };

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
    const int elements = my->size[0], others = my->size[1] - 1;

    if (pe->x == 0) {
        memcpy(my->y_local, my->v_local, sizeof my->y_local);
        configure(pe, &my->stream, NO_COUNTER, ADD, SIZES(others, elements),
                  FLOAT32_OPERAND(0, 1), FLOAT32_FABRIC, FLOAT32_OPERAND(0, 1));
        stream_accumulate(pe, &my->stream, Y, &my->y_local[0], &my->y_local[0], done);
    } else {
        configure(pe, &my->stream, NO_COUNTER, COPY, SIZES(elements), FLOAT32_FABRIC,
                  FLOAT32_OPERAND(1), NO_OPERAND);
        stream_send_turning(pe, &my->stream, Y, &my->v_local[0], done);
    }
}

const struct program program_star = {
    .name = "star", .memory = sizeof(struct memory), .main = pe_main
};
