/* PE program of role tally: note the sparse elements that came, and count sequences until three
 * have ended. An element takes 20 scalar operations. */
#include "pe.h"

enum { X };
enum { ON_X, END_X };

struct memory {
    int16_t seen_local[3][8];
    int32_t sequence;
};

static void on_x(struct pe *pe, wavelet w)
{
    struct memory *my = pe->memory;

    COUNT_CALL(pe, ON_X);
    COUNT_INSTANCES(pe, ON_X, 1);
    CHARGE(pe, .scalar = 20);
    my->seen_local[my->sequence][wavelet_index(w)] = wavelet_int16(w);
}

static void end_x(struct pe *pe, wavelet w)
{
    struct memory *my = pe->memory;

    (void)w;
    COUNT_CALL(pe, END_X);
    my->sequence += 1;
    if (my->sequence == 3)
        invocation_done(pe);
}

static void pe_main(struct pe *pe)
{
    on_data(pe, X, on_x);
    on_control(pe, X, end_x);
}

const struct program program_tally = {
    .name = "tally", .memory = sizeof(struct memory), .main = pe_main, .counters = 2
};
