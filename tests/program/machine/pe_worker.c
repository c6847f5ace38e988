/* PE program of role worker: it takes calls and arguments, gives its number to neighbours in an
 * order of sides, and to sums; and keeps what came. */
#include "vm.h"

struct memory {
    int32_t number, even, has[SIDES], farthest, events, order[MOST_ORDER];
    int32_t calls[MOST_CALLS], arguments[MOST_CALLS], taken[MOST_ORDER], sums[ROUNDS], scalar;
    int32_t called, argued, took, summed, seen, value[ROUNDS];
    struct vector one;
};

static const int opposite[] = { EAST, WEST, SOUTH, NORTH };

static void note_event(struct pe *pe)
{
    struct memory *my = pe->memory;

    my->seen += 1;
    if (my->seen == my->events)
        invocation_done(pe);
}

static void take_call(struct pe *pe, wavelet w)
{
    struct memory *my = pe->memory;

    my->calls[my->called] = argument_of(w);
    my->called += 1;
    note_event(pe);
}

static void take_argument(struct pe *pe, wavelet w)
{
    struct memory *my = pe->memory;

    my->arguments[my->argued] = wavelet_int32(w);
    my->argued += 1;
    note_event(pe);
}

static void take_from_neighbour(struct pe *pe, wavelet w)
{
    struct memory *my = pe->memory;

    my->taken[my->took] = wavelet_int32(w);
    my->took += 1;
    note_event(pe);
}

static void take_sum(struct pe *pe, wavelet w)
{
    struct memory *my = pe->memory;

    my->sums[my->summed] = wavelet_int32(w);
    my->summed += 1;
    note_event(pe);
}

static void take_scalar(struct pe *pe, wavelet w)
{
    struct memory *my = pe->memory;

    my->scalar = wavelet_int32(w);
    note_event(pe);
}

/* To the neighbours that take from the sides in `order`, which ends with -1. */
static void give(struct pe *pe, int colour)
{
    struct memory *my = pe->memory;
    int state = WEST;

    for (int k = 0; k < MOST_ORDER; k += 1) {
        const int side = my->order[k];
        const int target = side < 0 ? WEST : side;

        for (; state != target; state = (state + 1) % SIDES)
            if (my->has[opposite[state]])
                send_control(pe, colour, COMMANDS(ADVANCE), 0, 1);
        if (side < 0)
            return;
        if (my->has[opposite[side]]) {
            send_wavelet(pe, colour, (wavelet){ (uint32_t)(my->number + 1000 * k) });
            send_control(pe, colour, COMMANDS(ADVANCE), 0, 1);
        }
        state = (state + 1) % SIDES;
    }
}

static void pe_main(struct pe *pe)
{
    struct memory *my = pe->memory;

    on_control(pe, CTRL, take_call);
    on_data(pe, ARGS, take_argument);
    on_data(pe, my->even ? C0 : C1, take_from_neighbour);
    on_data(pe, REDUCTION_BROADCAST, take_sum);
    on_data(pe, GLOBAL_BROADCAST, take_scalar);
    give(pe, my->even ? C1 : C0);
    for (int round = 0; round < ROUNDS; round += 1) {
        my->value[round] = my->number + round;
        drain(pe, &my->one, REDUCTION_1, &my->value[round], my->farthest);
    }
}

const struct program program_worker = {
    .name = "worker", .memory = sizeof(struct memory), .main = pe_main
};
