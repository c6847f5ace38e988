/* PE program of role hand: four PEs add up the elements of two sequences, which they forward. */
#include "pe.h"

enum { X_EVEN, X_ODD };

struct memory {
    int32_t sums[2];
    int32_t ended;
};

static void on_x(struct pe *pe, wavelet w)
{
    struct memory *my = pe->memory;

    my->sums[my->ended] += wavelet_int16(w);
}

static void end_x(struct pe *pe, wavelet w)
{
    struct memory *my = pe->memory;

    (void)w;
    my->ended = (my->ended + 1) % 2;
    if (my->ended == 0)
        invocation_done(pe);
}

static void pe_main(struct pe *pe)
{
    const int in = pe->x % 2 == 0 ? X_EVEN : X_ODD, out = pe->x % 2 == 0 ? X_ODD : X_EVEN;

    on_data(pe, in, on_x);
    on_control(pe, in, end_x);
    if (pe->x < 3)
        forward(pe, in, out);
}

const struct program program_hand = {
    .name = "hand", .memory = sizeof(struct memory), .main = pe_main,
};
