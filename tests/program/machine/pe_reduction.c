/* PE program of role reduction: it takes rows, then columns, then the inner values, in that order. */
#include "vm.h"

enum { NOWHERE, UPPER_LEFT, UPPER_RIGHT, LOWER_LEFT, LOWER_RIGHT };

struct memory {
    int32_t rows, columns, inner, farthest, events, sum, taken, round, values[ROUNDS], seen;
    struct vector one;
};

static void go_on(struct pe *pe);

static void take(struct pe *pe, wavelet w)
{
    struct memory *my = pe->memory;

    my->sum = mixed(my->sum, wavelet_int32(w));
    my->taken += 1;
    go_on(pe);
}

static void note_event(struct pe *pe)
{
    struct memory *my = pe->memory;

    my->seen += 1;
    if (my->seen == my->events)
        invocation_done(pe);
}

static void drop(struct pe *pe, wavelet w)
{
    (void)w;
    note_event(pe);
}

static void finish(struct pe *pe)
{
    struct memory *my = pe->memory;
    int32_t *value = &my->values[my->round];

    *value = my->sum;
    if (my->inner == NOWHERE) {
        drain(pe, &my->one, REDUCTION_2, value, my->farthest);
    } else if (my->inner == UPPER_RIGHT) {
        send_wavelet(pe, REDUCTION_3, (wavelet){ (uint32_t)*value });
        send_wavelet(pe, REDUCTION_BROADCAST, (wavelet){ (uint32_t)*value });
    } else if (my->inner == LOWER_RIGHT) {
        drain(pe, &my->one, REDUCTION_4, value, 0);
    } else {
        send_wavelet(pe, REDUCTION_4, (wavelet){ (uint32_t)*value });
        send_turn(pe, REDUCTION_4, my->inner == LOWER_LEFT);
    }
    my->sum = my->taken = 0;
    my->round += 1;
    note_event(pe);
    if (my->round < ROUNDS)
        go_on(pe);
}

/* Take from one colour at a time, and go on when all came. */
static void go_on(struct pe *pe)
{
    const struct memory *my = pe->memory;
    const int32_t rows = my->rows, columns = rows + my->columns;
    const int32_t all = columns + (my->inner == UPPER_RIGHT ? 3 : 0);

    if (rows > 0)
        (my->taken < rows ? unblock : block)(pe, REDUCTION_1);
    if (my->columns > 0)
        (rows <= my->taken && my->taken < columns ? unblock : block)(pe, REDUCTION_2);
    if (my->inner == UPPER_RIGHT)
        (columns <= my->taken && my->taken < all ? unblock : block)(pe, REDUCTION_4);
    if (my->taken == all)
        finish(pe);
}

static void pe_main(struct pe *pe)
{
    const struct memory *my = pe->memory;

    on_data(pe, ARGS, drop);
    on_control(pe, CTRL, drop);
    if (my->rows > 0)
        on_data(pe, REDUCTION_1, take);
    if (my->columns > 0)
        on_data(pe, REDUCTION_2, take);
    if (my->inner == UPPER_RIGHT)
        on_data(pe, REDUCTION_4, take);
    go_on(pe);
}

const struct program program_reduction = {
    .name = "reduction", .memory = sizeof(struct memory), .main = pe_main
};
