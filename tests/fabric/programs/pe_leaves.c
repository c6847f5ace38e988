/* PE program of role leaves: the first PE sends as many elements as memory says, the second one takes
 * ten of them. What else they do, memory says, too. */
#include "pe.h"

enum { A };
enum { NOTHING, REACTS, SENDS_END, KEEPS, ACTIVATES };

struct memory {
    int32_t sent, also, taken[64], room[4][2];
    struct vector vector;
};

static void done(struct pe *pe)
{
    invocation_done(pe);
}

static void hear(struct pe *pe, wavelet w)
{
    (void)pe;
    (void)w;
}

static void never(struct pe *pe)
{
    (void)pe;
}

static void pe_main(struct pe *pe)
{
    struct memory *my = pe->memory;

    if (pe->x == 0) {
        configure(pe, &my->vector, NO_COUNTER, COPY, SIZES(my->sent), INT32_FABRIC,
                  INT32_OPERAND(1), NO_OPERAND);
        stream_send(pe, &my->vector, A, my->taken, my->also == KEEPS ? NULL : done);
        if (my->also == SENDS_END)
            send_end(pe, A);
        if (my->also == KEEPS)
            done(pe);
    } else if (my->also == ACTIVATES) {
        give_room(pe, A, my->room, 4);
        done(pe);
        activate(pe, never);
    } else {
        configure(pe, &my->vector, NO_COUNTER, COPY, SIZES(10), INT32_OPERAND(1), INT32_FABRIC,
                  NO_OPERAND);
        stream_receive(pe, &my->vector, A, my->taken, done);
        if (my->also == REACTS)
            on_data(pe, A, hear);
    }
}

const struct program program_leaves = {
    .name = "leaves", .memory = sizeof(struct memory), .main = pe_main
};
