/* PE program of role planned: what the plan in its memory says, step by step. */
#include "pe.h"

enum { STEPS = 8, ELEMENTS = 64 };
enum verb {
    DONE, IDLE, RECEIVE, SEND, PASS, BEGIN_RECEIVING, BEGIN_PASSING, REACT, REPLY, BLOCK, FORWARD,
    ROOM, SEND_END, SEND_ADVANCE, SEND_TEARDOWN
};

struct memory {
    struct step {
        int32_t verb, colour, other, count;
    } plan[STEPS];
    int32_t next;
    int32_t data[ELEMENTS], room[4][2];
    struct vector vector;
};

static void on_wavelet(struct pe *pe, wavelet w)
{
    (void)w;
    CHARGE(pe, .scalar = 1);
}

/* What comes is sent back on another colour. */
static void reply_on_0(struct pe *pe, wavelet w)
{
    send_wavelet(pe, 0, w);
}

static void reply_on_1(struct pe *pe, wavelet w)
{
    send_wavelet(pe, 1, w);
}

static void react(struct pe *pe, int colour, wavelet_task *reaction)
{
    on_data(pe, colour, reaction);
    on_control(pe, colour, reaction);
}

static void begin(struct pe *pe, const struct step *step, task *then);

/* As many steps as need not be complete before the next one. */
static void go_on(struct pe *pe)
{
    struct memory *my = pe->memory;
    const struct step *step;

    do {
        step = &my->plan[my->next++];
        begin(pe, step, go_on);
    } while (step->verb > PASS);
}

static void stream(struct pe *pe, const struct step *step, task *then)
{
    struct memory *my = pe->memory;
    const struct operand fabric = INT32_FABRIC, memory = INT32_OPERAND(1);
    const int receives = step->verb == RECEIVE || step->verb == BEGIN_RECEIVING;

    configure(pe, &my->vector, NO_COUNTER, COPY, SIZES(step->count), receives ? memory : fabric,
              step->verb == SEND ? memory : fabric, NO_OPERAND);
    if (receives)
        stream_receive(pe, &my->vector, step->colour, my->data,
                       step->verb == RECEIVE ? then : NULL);
    else if (step->verb == SEND)
        stream_send(pe, &my->vector, step->colour, my->data, then);
    else
        stream_pass(pe, &my->vector, step->other, step->colour, step->verb == PASS ? then : NULL);
}

static void begin(struct pe *pe, const struct step *step, task *then)
{
    struct memory *my = pe->memory;

    switch ((enum verb)step->verb) {
    case DONE: invocation_done(pe); break;
    case IDLE: break;
    case RECEIVE: case SEND: case PASS: case BEGIN_RECEIVING: case BEGIN_PASSING:
        stream(pe, step, then);
        break;
    case REACT: react(pe, step->colour, on_wavelet); break;
    case REPLY: react(pe, step->colour, step->other == 0 ? reply_on_0 : reply_on_1); break;
    case BLOCK: block(pe, step->colour); break;
    case FORWARD: forward(pe, step->colour, step->other); break;
    case ROOM: give_room(pe, step->colour, my->room, 4); break;
    case SEND_END: send_end(pe, step->colour); break;
    case SEND_ADVANCE: send_control(pe, step->colour, COMMANDS(ADVANCE), 0, 1); break;
    case SEND_TEARDOWN: send_control(pe, step->colour, COMMANDS(TEARDOWN), 0, 1); break;
    }
}

static void pe_main(struct pe *pe)
{
    go_on(pe);
}

const struct program program_planned = {
    .name = "planned", .memory = sizeof(struct memory), .main = pe_main
};
