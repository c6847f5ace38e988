/* PE program of role faulty: on an element of x, or in `main`, it does what no program may. */
#include "pe.h"

enum { X, Y };

struct memory {
    int32_t fault, in_main, words[8];
    struct vector vector, other;
};

typedef void fault(struct pe *pe, struct memory *my);

static volatile int zero;

static void done(struct pe *pe)
{
    invocation_done(pe);
}

static void again(struct pe *pe)
{
    activate(pe, again);
}

static void pong(struct pe *pe);

static void ping(struct pe *pe)
{
    activate(pe, pong);
}

static void pong(struct pe *pe)
{
    activate(pe, ping);
}

static void activates_null(struct pe *pe, struct memory *my)
{
    (void)my;
    activate(pe, NULL);
}

static void divides(struct pe *pe, struct memory *my)
{
    (void)pe;
    my->words[0] = 7 / zero;
}

static void loops(struct pe *pe, struct memory *my)
{
    (void)pe;
    while (zero == 0)
        my->words[0] += 1;
}

static void writes_to_null(struct pe *pe, struct memory *my)
{
    int32_t *volatile nowhere = NULL;

    (void)pe;
    (void)my;
    *nowhere = 1;
}

static void writes_anywhere(struct pe *pe, struct memory *my)
{
    volatile intptr_t far = (intptr_t)1 << 46;

    (void)pe;
    *(int32_t *)(void *)((char *)my - far) = 1;
}

static int deeper(volatile int *level)
{
    volatile int next = *level + 1;

    return zero == 0 ? deeper(&next) + *level : 0;
}

static void calls_itself(struct pe *pe, struct memory *my)
{
    volatile int level = 0;

    (void)pe;
    my->words[0] = deeper(&level);
}

static void traps(struct pe *pe, struct memory *my)
{
    (void)pe;
    (void)my;
    __builtin_trap();
}

static void activates_itself(struct pe *pe, struct memory *my)
{
    (void)my;
    activate(pe, again);
}

static void activates_each_other(struct pe *pe, struct memory *my)
{
    (void)my;
    activate(pe, ping);
}

static void activates_all_the_time(struct pe *pe, struct memory *my)
{
    (void)my;
    while (zero == 0)
        activate(pe, done);
}

static void sends_all_the_time(struct pe *pe, struct memory *my)
{
    (void)my;
    while (zero == 0)
        send_wavelet(pe, Y, (wavelet){ 1 });
}

static void is_done_twice(struct pe *pe, struct memory *my)
{
    (void)my;
    invocation_done(pe);
    invocation_done(pe);
}

static void joins_null(struct pe *pe, struct memory *my)
{
    (void)my;
    join(pe, NULL);
}

static void charges_less(struct pe *pe, struct memory *my)
{
    (void)my;
    CHARGE(pe, .scalar = -9);
}

static void sends_by_no_vector(struct pe *pe, struct memory *my)
{
    stream_send(pe, &my->other, Y, my->words, done);
}

static void sends_by_null(struct pe *pe, struct memory *my)
{
    stream_send(pe, NULL, Y, my->words, done);
}

static void configures_elsewhere(struct pe *pe, struct memory *my)
{
    struct vector here;

    (void)my;
    configure(pe, &here, NO_COUNTER, COPY, SIZES(1), INT32_FABRIC, INT32_OPERAND(1), NO_OPERAND);
}

static void configures_less_than_none(struct pe *pe, struct memory *my)
{
    configure(pe, &my->vector, NO_COUNTER, COPY, SIZES(2, -3), INT32_FABRIC, INT32_OPERAND(1),
              NO_OPERAND);
}

static void configures_no_size(struct pe *pe, struct memory *my)
{
    configure(pe, &my->vector, NO_COUNTER, COPY, (struct sizes){ 0, { 0 } }, INT32_FABRIC,
              INT32_OPERAND(1), NO_OPERAND);
}

static void configures_too_many(struct pe *pe, struct memory *my)
{
    configure(pe, &my->vector, NO_COUNTER, COPY, SIZES(65536, 65536), INT32_OPERAND(0),
              INT32_OPERAND(0), NO_OPERAND);
}

static void configures_no_type(struct pe *pe, struct memory *my)
{
    configure(pe, &my->vector, NO_COUNTER, COPY, SIZES(1), (struct operand){ (enum element)7, { 0 } },
              INT32_OPERAND(1), NO_OPERAND);
}

static void configures_no_operation(struct pe *pe, struct memory *my)
{
    configure(pe, &my->vector, NO_COUNTER, (enum operation)99, SIZES(1), INT32_FABRIC,
              INT32_OPERAND(1), NO_OPERAND);
}

static void configures_no_counter(struct pe *pe, struct memory *my)
{
    configure(pe, &my->vector, 3, COPY, SIZES(1), INT32_FABRIC, INT32_OPERAND(1), NO_OPERAND);
}

static void runs_between_elements(struct pe *pe, struct memory *my)
{
    configure(pe, &my->vector, NO_COUNTER, COPY, SIZES(1), INT32_OPERAND(1), INT32_OPERAND(1),
              NO_OPERAND);
    vector_run(pe, &my->vector, (char *)my->words + 1, my->words, NULL);
}

static void combines_sums(struct pe *pe, struct memory *my)
{
    configure(pe, &my->vector, NO_COUNTER, MAC, SIZES(1), INT32_FABRIC, INT32_FABRIC,
              INT32_OPERAND(0));
    stream_combine(pe, &my->vector, Y, X, my->words, done);
}

static void sends_no_command(struct pe *pe, struct memory *my)
{
    (void)my;
    send_control(pe, Y, (struct commands){ .count = zero }, 0, 0);
}

static void sends_a_wrong_command(struct pe *pe, struct memory *my)
{
    (void)my;
    send_control(pe, Y, COMMANDS((enum command)9), 0, 0);
}

static void sends_a_far_index(struct pe *pe, struct memory *my)
{
    (void)my;
    send_sparse_int16(pe, Y, 1, 65536);
}

static void gives_no_room(struct pe *pe, struct memory *my)
{
    give_room(pe, X, (int32_t (*)[2])my->words, 0);
}

static fault *const faults[] = {
    activates_null, divides, loops, writes_to_null, writes_anywhere, calls_itself, traps,
    activates_itself, activates_each_other, activates_all_the_time, sends_all_the_time,
    is_done_twice, joins_null, charges_less, sends_by_no_vector, sends_by_null,
    configures_elsewhere, configures_less_than_none, configures_no_size, configures_too_many,
    configures_no_type, configures_no_operation, configures_no_counter, runs_between_elements,
    combines_sums, sends_no_command, sends_a_wrong_command, sends_a_far_index, gives_no_room,
};

static void on_x(struct pe *pe, wavelet w)
{
    struct memory *my = pe->memory;

    (void)w;
    faults[my->fault](pe, my);
}

static void pe_main(struct pe *pe)
{
    struct memory *my = pe->memory;

    on_data(pe, X, on_x);
    if (my->in_main)
        faults[my->fault](pe, my);
}

const struct program program_faulty = {
    .name = "faulty", .memory = sizeof(struct memory), .main = pe_main
};
