/* PE program of role echo: send two sequences of x back as y, an element whose value is 2 twice. */
#include "pe.h"

enum { X, Y };

struct memory {
    int32_t ended;
};

static void on_x(struct pe *pe, wavelet w)
{
    send_wavelet(pe, Y, w);
    if (wavelet_int16(w) == 2)
        send_wavelet(pe, Y, w);
}

static void end_x(struct pe *pe, wavelet w)
{
    struct memory *my = pe->memory;

    (void)w;
    send_end(pe, Y);
    my->ended = (my->ended + 1) % 2;
    if (my->ended == 0)
        invocation_done(pe);
}

static void pe_main(struct pe *pe)
{
    on_data(pe, X, on_x);
    on_control(pe, X, end_x);
}

const struct program program_echo = {
    .name = "echo", .memory = sizeof(struct memory), .main = pe_main,
};
