/* PE program of role told: how many elements and control wavelets came, and the last argument. */
#include "pe.h"

enum { X };

struct memory {
    int32_t elements, controls, argument;
};

static void hear(struct pe *pe, wavelet w)
{
    struct memory *my = pe->memory;

    my->elements += (int32_t)w.bits;
}

static void obey(struct pe *pe, wavelet w)
{
    struct memory *my = pe->memory;

    my->controls += 1;
    my->argument = argument_of(w);
}

static void pe_main(struct pe *pe)
{
    on_data(pe, X, hear);
    on_control(pe, X, obey);
    invocation_done(pe);
}

const struct program program_told = {
    .name = "told", .memory = sizeof(struct memory), .main = pe_main
};
