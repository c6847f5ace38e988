/* What the hand-written programs share: colours by their numbers on wse2, and what PEs are told. */
#ifndef VM_H
#define VM_H

#include "pe.h"

enum {
    CTRL_COORD, ARGS_DIST, CTRL_DIST, ARGS, CTRL, C0, C1, REDUCTION_1, REDUCTION_2, REDUCTION_3,
    REDUCTION_4, REDUCTION_BROADCAST, GLOBAL_BROADCAST
};
enum { WEST, EAST, NORTH, SOUTH, SIDES };
enum { ROUNDS = 2, MOST_CALLS = 32, MOST_ORDER = 16 };

/* Values in their order: another order gives another number. */
static inline int32_t mixed(int32_t sum, int32_t value)
{
    return (int32_t)((uint32_t)sum * 31u + (uint32_t)value);
}

/* A value on a drain, and the router of the PE turns behind it; the farthest lets all begin anew. */
static inline void drain(struct pe *pe, struct vector *one, int colour, const int32_t *value,
                         int farthest)
{
    if (farthest) {
        send_wavelet(pe, colour, (wavelet){ (uint32_t)*value });
        send_control(pe, colour, COMMANDS(RESET), 0, 1);
        return;
    }
    configure(pe, one, NO_COUNTER, COPY, SIZES(1), INT32_FABRIC, INT32_OPERAND(1), NO_OPERAND);
    stream_send_turning(pe, one, colour, value, NULL);
}

#endif
