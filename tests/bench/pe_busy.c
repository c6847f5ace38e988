/* PE program of role busy: streams that cross 16 PEs, on every colour; colour c goes to side c % 4. */
#include "pe.h"

enum { NORTH, EAST, SOUTH, WEST };
enum { SPAN = 16, COLOURS = 14, ELEMENTS = 32 };

struct memory {
    int32_t data[ELEMENTS];
    int32_t sum[COLOURS][ELEMENTS];
    struct vector send, receive;
    int32_t streams;
};

static void done(struct pe *pe)
{
    struct memory *my = pe->memory;

    my->streams -= 1;
    if (my->streams == 0)
        invocation_done(pe);
}

static void nothing_to_do(struct pe *pe)
{
    invocation_done(pe);
}

/* How far along its way a stream is here: 0 where it begins, SPAN - 1 where it ends. */
static int passed(const struct pe *pe, int colour)
{
    switch (colour % 4) {
    case NORTH: return SPAN - 1 - pe->y % SPAN;
    case EAST: return pe->x % SPAN;
    case SOUTH: return pe->y % SPAN;
    default: return SPAN - 1 - pe->x % SPAN;
    }
}

static void pe_main(struct pe *pe)
{
    struct memory *my = pe->memory;

    for (int i = 0; i < ELEMENTS; i += 1)
        my->data[i] = pe->x + 1000 * pe->y + i;
    configure(pe, &my->send, NO_COUNTER, COPY, SIZES(ELEMENTS), INT32_FABRIC, INT32_OPERAND(1),
              NO_OPERAND);
    configure(pe, &my->receive, NO_COUNTER, COPY, SIZES(ELEMENTS), INT32_OPERAND(1), INT32_FABRIC,
              NO_OPERAND);
    for (int colour = 0; colour < COLOURS; colour += 1) {
        const int at = passed(pe, colour);

        my->streams += at == 0 || at == SPAN - 1;
        if (at == 0)
            stream_send(pe, &my->send, colour, my->data, done);
        else if (at == SPAN - 1)
            stream_receive(pe, &my->receive, colour, my->sum[colour], done);
    }
    if (my->streams == 0)
        activate(pe, nothing_to_do);
}

const struct program program_busy = {
    .name = "busy", .memory = sizeof(struct memory), .main = pe_main
};
