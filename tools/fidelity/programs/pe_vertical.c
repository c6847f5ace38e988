/* PE program of role vertical: y_0 = v_0; y_k = v_k - y_(k-1) / 2, one after the other, in a loop: its
 * bounds are constants where it is published, so that it is unrolled, addresses are constants, and
 * y_(k-1) stays in registers. */
#include "pe.h"

struct memory {
    int32_t size[2];
    float v_local[512];
    float y_local[512];
};

static void run(struct pe *pe)
{
    struct memory *my = pe->memory;

    CHARGE(pe, .load = 2, .store = 2);
    my->y_local[0] = my->v_local[0];
    for (int32_t k = 1; k < my->size[0]; k += 1) {
        CHARGE(pe, .float_operation = 1, .load = 2, .store = 2);
        my->y_local[k] = my->v_local[k] - 0.5f * my->y_local[k - 1];
    }
    invocation_done(pe);
}

static void pe_main(struct pe *pe)
{
    activate(pe, run);
}

const struct program program_vertical = {
    .name = "vertical", .memory = sizeof(struct memory), .main = pe_main
};
