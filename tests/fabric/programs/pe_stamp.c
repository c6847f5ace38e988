/* PE program of role stamp: note when tasks begin, and how long one takes. */
#include "pe.h"

enum { FIRST };

struct memory {
    int32_t stamp_local[3];
};

static void second(struct pe *pe)
{
    struct memory *my = pe->memory;

    my->stamp_local[2] = (int32_t)read_clock(pe);
    invocation_done(pe);
}

static void first(struct pe *pe)
{
    struct memory *my = pe->memory;

    my->stamp_local[0] = (int32_t)read_clock(pe);
    CHARGE(pe, .scalar = 7);
    my->stamp_local[1] = (int32_t)read_clock(pe);
    COUNT_CALL(pe, FIRST);
    COUNT_CYCLES(pe, FIRST, my->stamp_local[1] - my->stamp_local[0]);
    activate(pe, second);
}

static void pe_main(struct pe *pe)
{
    activate(pe, first);
}

const struct program program_stamp = {
    .name = "stamp", .memory = sizeof(struct memory), .main = pe_main, .counters = 1
};
