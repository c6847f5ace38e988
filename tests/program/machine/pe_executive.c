/* PE program of role executive: a scalar, then sections 0 and 1, and it takes the sums. */
#include "vm.h"

struct memory {
    int32_t sums[ROUNDS], count;
};

static void take_sum(struct pe *pe, wavelet w)
{
    struct memory *my = pe->memory;

    my->sums[my->count] = wavelet_int32(w);
    my->count += 1;
    if (my->count == ROUNDS)
        invocation_done(pe);
}

static void pe_main(struct pe *pe)
{
    on_data(pe, REDUCTION_3, take_sum);
    send_wavelet(pe, GLOBAL_BROADCAST, (wavelet){ 42 });
    for (uint32_t section = 0; section < ROUNDS; section += 1)
        send_wavelet(pe, CTRL_COORD, (wavelet){ section });
}

const struct program program_executive = {
    .name = "executive", .memory = sizeof(struct memory), .main = pe_main
};
