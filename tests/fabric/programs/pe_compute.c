/* PE program of role compute: y = W x, a block of W on each PE, sums from west to east. */
#include "pe.h"

enum { X_DOWN = 1, Y_A, Y_B };
enum { INIT_Y, ON_X, SEND_Y };

struct memory {
    float16 W_local[8][4];
    float16 y_local[8];
    struct vector init_y;
    struct vector on_x;
    struct vector collect_y;
    struct vector begin_y;
};
_Static_assert(offsetof(struct memory, W_local) == 0, "the layout places W_local here");

static void restart(struct pe *pe)
{
    struct memory *my = pe->memory;
    const float16 zero = f16(0.0f);

    COUNT_CALL(pe, INIT_Y);
    vector_run(pe, &my->init_y, &my->y_local[0], &zero, NULL);
    unblock(pe, X_DOWN);
}

static void done(struct pe *pe)
{
    if (invocation_done(pe))
        restart(pe);
}

static void send_y(struct pe *pe)
{
    struct memory *my = pe->memory;
    const int PE_X = pe->x;

    COUNT_CALL(pe, SEND_Y);
    if (PE_X == 0)
        stream_send(pe, &my->begin_y, Y_A, &my->y_local[0], done);
    else if (PE_X % 2 == 1)
        stream_combine(pe, &my->collect_y, Y_B, Y_A, &my->y_local[0], done);
    else
        stream_combine(pe, &my->collect_y, Y_A, Y_B, &my->y_local[0], done);
}

static void on_x(struct pe *pe, wavelet w)
{
    struct memory *my = pe->memory;
    const int index = wavelet_index(w);
    const float16 x = wavelet_float16(w);

    COUNT_CALL(pe, ON_X);
    CHARGE(pe, .scalar = 1, .address = 2);
    vector_run(pe, &my->on_x, &my->y_local[0], &my->W_local[0][index], &x);
}

static void end_x(struct pe *pe, wavelet w)
{
    (void)w;
    block(pe, X_DOWN);
    activate(pe, send_y);
}

static void pe_main(struct pe *pe)
{
    struct memory *my = pe->memory;

    configure(pe, &my->init_y, INIT_Y, COPY, SIZES(8), FLOAT16_OPERAND(1), FLOAT16_OPERAND(0),
              NO_OPERAND);
    configure(pe, &my->on_x, ON_X, MAC, SIZES(8), FLOAT16_OPERAND(1), FLOAT16_OPERAND(4),
              FLOAT16_OPERAND(0));
    configure(pe, &my->collect_y, SEND_Y, ADD, SIZES(8), FLOAT16_FABRIC, FLOAT16_FABRIC,
              FLOAT16_OPERAND(1));
    configure(pe, &my->begin_y, SEND_Y, COPY, SIZES(8), FLOAT16_FABRIC, FLOAT16_OPERAND(1),
              NO_OPERAND);
    on_data(pe, X_DOWN, on_x);
    on_control(pe, X_DOWN, end_x);
    restart(pe);
}

const struct program program_compute = {
    .name = "compute", .memory = sizeof(struct memory), .main = pe_main, .counters = 3
};
