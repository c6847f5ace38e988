/* PE program of role dispatch: three tasks, one after the other, and one that a wavelet starts. */
#include "pe.h"

enum { X };

struct memory {
    int32_t stamp_local[4];
};

static void third(struct pe *pe)
{
    struct memory *my = pe->memory;

    my->stamp_local[2] = (int32_t)read_clock(pe);
}

static void second(struct pe *pe)
{
    struct memory *my = pe->memory;

    my->stamp_local[1] = (int32_t)read_clock(pe);
    CHARGE(pe, .scalar = 4);
}

static void first(struct pe *pe)
{
    struct memory *my = pe->memory;

    my->stamp_local[0] = (int32_t)read_clock(pe);
    activate(pe, second);
    activate(pe, third);
    CHARGE(pe, .scalar = 20);
}

static void arrived(struct pe *pe, wavelet w)
{
    struct memory *my = pe->memory;

    (void)w;
    my->stamp_local[3] = (int32_t)read_clock(pe);
    invocation_done(pe);
}

static void pe_main(struct pe *pe)
{
    on_data(pe, X, arrived);
    activate(pe, first);
}

const struct program program_dispatch = {
    .name = "dispatch", .memory = sizeof(struct memory), .main = pe_main
};
