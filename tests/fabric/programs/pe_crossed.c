/* PE program of role crossed: takes eight elements of each of 14 colours, of eight by streams. */
#include "pe.h"

enum { COLOURS = 14, STREAMS = 8, ELEMENTS = 8 };

struct memory {
    int32_t taken[COLOURS][ELEMENTS];
    struct vector receive;
    int32_t left;
};

static void count(struct pe *pe, int elements)
{
    struct memory *my = pe->memory;

    my->left -= elements;
    if (my->left == 0)
        invocation_done(pe);
}

static void on_stream(struct pe *pe)
{
    count(pe, ELEMENTS);
}

static void on_element(struct pe *pe, wavelet w)
{
    (void)w;
    count(pe, 1);
}

static void pe_main(struct pe *pe)
{
    struct memory *my = pe->memory;

    my->left = COLOURS * ELEMENTS;
    configure(pe, &my->receive, NO_COUNTER, COPY, SIZES(ELEMENTS), INT32_OPERAND(1), INT32_FABRIC,
              NO_OPERAND);
    for (int colour = 0; colour < COLOURS; colour += 1)
        if (colour < STREAMS)
            stream_receive(pe, &my->receive, colour, my->taken[colour], on_stream);
        else
            on_data(pe, colour, on_element);
}

const struct program program_crossed = {
    .name = "crossed", .memory = sizeof(struct memory), .main = pe_main
};
