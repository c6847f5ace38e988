/* PE program of role spread: the adapters of a fully connected layer. */
#include "pe.h"

enum { X, X_DOWN };
enum { ON_X, END_X };

static void on_x(struct pe *pe, wavelet w)
{
    const int PE_X = pe->x;
    const int index = wavelet_index(w);

    COUNT_CALL(pe, ON_X);
    CHARGE(pe, .scalar = 1);
    if (index >= 4 * PE_X && index <= 4 * PE_X + 3)
        send_sparse(pe, X_DOWN, wavelet_float16(w), index - 4 * PE_X);
}

static void end_x(struct pe *pe, wavelet w)
{
    (void)w;
    COUNT_CALL(pe, END_X);
    CHARGE(pe, .scalar = 1);
    send_end(pe, X_DOWN);
    invocation_done(pe);
}

static void pe_main(struct pe *pe)
{
    on_data(pe, X, on_x);
    on_control(pe, X, end_x);
}

const struct program program_spread = { .name = "spread", .main = pe_main, .counters = 2 };
