/* PE program of role burst: a task for each element that sends it on three times. */
#include "pe.h"

enum { X, Y };

static void end_x(struct pe *pe, wavelet w)
{
    (void)w;
    invocation_done(pe);
}

static void on_x(struct pe *pe, wavelet w)
{
    for (int i = 0; i < 3; i += 1)
        send_wavelet(pe, Y, (wavelet){ (uint32_t)(4 * (uint16_t)wavelet_int16(w) + i) });
}

static void pe_main(struct pe *pe)
{
    on_data(pe, X, on_x);
    on_control(pe, X, end_x);
}

const struct program program_burst = { .name = "burst", .main = pe_main };
