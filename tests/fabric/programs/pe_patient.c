/* PE program of role patient: note the elements of two sequences, 20 scalar operations each.
 * In row 1 they wait in memory; rows 2 to 4 ask for too much, twice, and too late. */
#include "pe.h"

enum { X };

struct memory {
    int16_t seen_local[2][32];
    int32_t room[66][2];
    int32_t sequence;
};

static void on_x(struct pe *pe, wavelet w)
{
    struct memory *my = pe->memory;

    CHARGE(pe, .scalar = 20);
    my->seen_local[my->sequence][wavelet_index(w)] = wavelet_int16(w);
    if (pe->y == 4)
        give_room(pe, X, my->room, 66);
}

static void end_x(struct pe *pe, wavelet w)
{
    struct memory *my = pe->memory;

    (void)w;
    my->sequence += 1;
    if (my->sequence == 2)
        invocation_done(pe);
}

static void pe_main(struct pe *pe)
{
    struct memory *my = pe->memory;

    on_data(pe, X, on_x);
    on_control(pe, X, end_x);
    if (pe->y == 1 || pe->y == 3)
        give_room(pe, X, my->room, 66);
    if (pe->y == 2)
        give_room(pe, X, my->room, 67);
    if (pe->y == 3)
        give_room(pe, X, my->room, 66);
}

const struct program program_patient = {
    .name = "patient", .memory = sizeof(struct memory), .main = pe_main
};
