/* PE program of role torn: elements that came, and how often the router was torn down. What it does
 * then, memory says: restart in a position; nothing, for -1. For -2 it restarts in `main`. */
#include "pe.h"

enum { X };

struct memory {
    int32_t elements, torn, position;
};

static void hear(struct pe *pe, wavelet w)
{
    struct memory *my = pe->memory;

    my->elements += (int32_t)w.bits;
}

static void torn(struct pe *pe)
{
    struct memory *my = pe->memory;

    my->torn += is_torn_down(pe, X);
    if (my->position >= 0)
        restart_colour(pe, X, my->position);
}

static void pe_main(struct pe *pe)
{
    const struct memory *my = pe->memory;

    on_data(pe, X, hear);
    on_teardown(pe, torn);
    if (my->position == -2)
        restart_colour(pe, X, 0);
    invocation_done(pe);
}

const struct program program_torn = {
    .name = "torn", .memory = sizeof(struct memory), .main = pe_main
};
