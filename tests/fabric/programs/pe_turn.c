/* PE program of role turn: two elements to each position of a route. */
#include "pe.h"

enum { Y };

static void pe_main(struct pe *pe)
{
    for (int i = 0; i < 4; i += 1) {
        send_wavelet(pe, Y, (wavelet){ (uint32_t)(10 * i) });
        send_wavelet(pe, Y, (wavelet){ (uint32_t)(10 * i + 1) });
        send_control(pe, Y, COMMANDS(ADVANCE), 0, 0);
    }
    invocation_done(pe);
}

const struct program program_turn = { .name = "turn", .main = pe_main };
