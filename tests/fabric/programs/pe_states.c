/* PE program of role states: by its column a PE waits in one way until z has come all the way. */
#include "pe.h"

enum { X, Z, Q, R };
enum { RECEIVES, BLOCKS, QUEUES, SENDS, TAKES_LATE, FORWARDS, TAKES_LATER };

struct memory {
    int32_t taken[32];
    struct vector receive;
    struct vector several;
    struct vector send;
};

static void done(struct pe *pe)
{
    invocation_done(pe);
}

static void take(struct pe *pe, wavelet w)
{
    (void)pe;
    (void)w;
}

static void take_and_block(struct pe *pe, wavelet w)
{
    (void)w;
    block(pe, X);
}

static void go_on(struct pe *pe, wavelet w)
{
    (void)w;
    unblock(pe, X);
    on_data(pe, X, take);
    done(pe);
}

static void take_and_wait(struct pe *pe, wavelet w)
{
    struct memory *my = pe->memory;

    (void)w;
    on_data(pe, X, take);
    stream_receive(pe, &my->receive, Z, &my->taken[0], done);
}

static void take_q(struct pe *pe, wavelet w)
{
    struct memory *my = pe->memory;

    (void)w;
    stream_receive(pe, &my->several, Q, &my->taken[0], done);
}

static void take_r(struct pe *pe, wavelet w)
{
    struct memory *my = pe->memory;

    (void)w;
    stream_receive(pe, &my->several, R, &my->taken[0], done);
}

static void finish(struct pe *pe, wavelet w)
{
    (void)w;
    done(pe);
}

static void pe_main(struct pe *pe)
{
    struct memory *my = pe->memory;

    configure(pe, &my->receive, NO_COUNTER, COPY, SIZES(1), INT32_OPERAND(1), INT32_FABRIC,
              NO_OPERAND);
    configure(pe, &my->several, NO_COUNTER, COPY, SIZES(32), INT32_OPERAND(1), INT32_FABRIC,
              NO_OPERAND);
    configure(pe, &my->send, NO_COUNTER, COPY, SIZES(32), INT32_FABRIC, INT32_OPERAND(1),
              NO_OPERAND);
    switch (pe->x) {
    case RECEIVES:
        stream_receive(pe, &my->several, X, &my->taken[0], done);
        on_data(pe, Z, take);
        break;
    case BLOCKS:
        on_data(pe, X, take_and_block);
        on_data(pe, Z, go_on);
        break;
    case QUEUES:
        on_data(pe, X, take_and_wait);
        break;
    case SENDS:
        stream_send(pe, &my->send, Q, &my->taken[0], done);
        on_data(pe, X, take);
        on_data(pe, Z, take);
        break;
    case TAKES_LATE:
        on_data(pe, X, take);
        on_data(pe, Z, take_q);
        break;
    case FORWARDS:
        forward(pe, X, R);
        on_data(pe, X, take);
        on_data(pe, Z, finish);
        break;
    default:
        on_data(pe, Z, take_r);
        on_data(pe, X, take);
    }
}

const struct program program_states = {
    .name = "states", .memory = sizeof(struct memory), .main = pe_main
};
