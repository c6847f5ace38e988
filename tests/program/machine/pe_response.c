/* PE program of role response: of section n part k is the number 100 n + k, on both colours. */
#include "vm.h"

struct memory {
    int32_t part, outermost, count;
};

static void respond(struct pe *pe, wavelet w)
{
    struct memory *my = pe->memory;
    const wavelet sent = { w.bits * 100u + (uint32_t)my->part };

    for (int colour = ARGS_DIST; colour <= CTRL_DIST; colour += 1) {
        send_wavelet(pe, colour, sent);
        send_control(pe, colour, my->outermost ? COMMANDS(RESET, ADVANCE)
                                               : COMMANDS(ADVANCE, ADVANCE), 0, 1);
    }
    my->count += 1;
    if (my->count == ROUNDS)
        invocation_done(pe);
}

static void pe_main(struct pe *pe)
{
    on_data(pe, CTRL_COORD, respond);
}

const struct program program_response = {
    .name = "response", .memory = sizeof(struct memory), .main = pe_main
};
