/* PE program of role recolour: PE 0 sends elements, a control wavelet, or none, as memory says, and
 * PE 1 passes all that comes on as control wavelets. */
#include "pe.h"

enum { Y, X };

struct memory {
    int32_t count, element[8], argument, quiet;
    struct vector stream;
};

static void send_command(struct pe *pe)
{
    struct memory *my = pe->memory;

    if (my->argument >= 0)
        send_control(pe, X, COMMANDS(ADVANCE), my->argument, my->quiet);
    invocation_done(pe);
}

static void pe_main(struct pe *pe)
{
    struct memory *my = pe->memory;

    if (pe->x == 1) {
        pass_as_control(pe, X, Y);
        invocation_done(pe);
        return;
    }
    configure(pe, &my->stream, NO_COUNTER, COPY, SIZES(my->count), INT32_FABRIC, INT32_OPERAND(1),
              NO_OPERAND);
    stream_send(pe, &my->stream, X, my->element, send_command);
}

const struct program program_recolour = {
    .name = "recolour", .memory = sizeof(struct memory), .main = pe_main
};
