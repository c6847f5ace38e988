/* PEs: what a program may call, and which task runs when. */
#include <stdlib.h>

#include "engine.h"
#include "guard.h"

static struct node *node_of(struct pe *pe)
{
    return (struct node *)pe;
}

bool is_colour(struct node *node, int colour)
{
    if (colour >= 0 && colour < node->engine->layout->colours)
        return true;
    fail(node->engine, "PE[%d, %d] names colour %d; the layout has %d", x_of(node), y_of(node),
         colour, node->engine->layout->colours);
    return false;
}

/* What comes on a colour that a program names; NULL if nothing ever does. */
static struct intake *intake_named(struct pe *pe, int colour)
{
    return is_colour(node_of(pe), colour) ? intake_of(node_of(pe), colour) : NULL;
}

/* ---- Configuration --------------------------------------------------------------------------- */

static void check_configurations(struct node *node)
{
    const int32_t limit = node->engine->layout->machine.descriptors;

    if (node->configurations > limit)
        fail(node->engine, "PE[%d, %d] has %d live configurations; the machine has room for %d",
             x_of(node), y_of(node), node->configurations, limit);
}

/* A vector is part of the program's memory, of which the machine keeps it. */
static void check_place(struct node *node, const struct vector *v)
{
    if (!has_place(node, v))
        fail(node->engine, "PE[%d, %d] (%s) configures a vector that is not in its struct memory, in "
             "%s", x_of(node), y_of(node), role_name(node), describe_task(node).text);
}

/* Whether v is something that may be asked what its lanes are. */
static void check_form(struct node *node, const struct vector *v)
{
    const char *wrong = NULL;

    if ((uint32_t)v->operation > SAR)
        wrong = "an operation that there is not";
    for (int k = 0; k < MAX_OPERANDS; k += 1)
        if ((uint32_t)v->operand[k].type > INT32)
            wrong = "an element type that there is not";
    if (v->counter != NO_COUNTER && (v->counter < 0 || v->counter >= program_of(node)->counters))
        wrong = "a counter that the program does not have";
    if (wrong != NULL)
        fail(node->engine, "PE[%d, %d] (%s) configures %s", x_of(node), y_of(node),
             role_name(node), wrong);
}

/* From none to INT32_MAX points, in one to MAX_RANK dimensions. */
static void check_sizes(struct node *node, const struct sizes *sizes)
{
    int64_t count = 1;

    if (sizes->rank < 1 || sizes->rank > MAX_RANK)
        fail(node->engine, "PE[%d, %d] (%s) configures a vector of %d sizes; it has 1 to %d",
             x_of(node), y_of(node), role_name(node), sizes->rank, MAX_RANK);
    for (int i = 0; i < sizes->rank; i += 1) {
        if (sizes->size[i] < 0)
            fail(node->engine, "PE[%d, %d] (%s) configures a vector of size %d", x_of(node),
                 y_of(node), role_name(node), sizes->size[i]);
        count *= sizes->size[i];
        if (count > INT32_MAX)
            fail(node->engine, "PE[%d, %d] (%s) configures a vector of more than %d points",
                 x_of(node), y_of(node), role_name(node), INT32_MAX);
    }
}

static void check_division(struct node *node, const struct vector *v)
{
    if (v->operation == DIV && !is_float(v->operand[1].type) && !is_float(v->operand[2].type))
        fail(node->engine, "PE[%d, %d] configures a DIV of two integers", x_of(node), y_of(node));
    else if (find_lanes(&node->engine->layout->machine, v) == 0)
        fail(node->engine, "PE[%d, %d] configures a DIV, which no vector instruction of this machine "
             "computes", x_of(node), y_of(node));
}

static void check_bits(struct node *node, const struct vector *v)
{
    static const char *const name[] = { "AND", "OR", "XOR", "SLL", "SLR", "SAR" };
    const struct operand *of = v->operand;

    if (v->operation >= AND && (is_float(of[0].type) || is_float(of[1].type)
                                || is_float(of[2].type)))
        fail(node->engine, "PE[%d, %d] configures %s with a float", x_of(node), y_of(node),
             name[v->operation - AND]);
}

static bool stands_still(const struct vector *v)
{
    for (int i = 0; i < v->sizes.rank; i += 1)
        if (v->sizes.size[i] > 1 && v->operand[0].stride[i] == 0)
            return true;
    return false;
}

/* Where the machine has no multiply-add of two vectors. */
static void check_multiply_add(struct node *node, const struct vector *v)
{
    static const char *const name[] = { "MAC", "FMA", "FMS", "FNMA" };
    const char *wrong = NULL;

    if (v->operation < MAC || v->operation > FNMA
        || node->engine->layout->machine.vector_multiply_add)
        return;
    if (v->operation == FMS || v->operation == FNMA)
        wrong = "a multiply-add does not subtract";
    else if (!is_scalar(v, 1) && !is_scalar(v, 2))
        wrong = "one factor of a multiply-add must be a scalar";
    else if (stands_still(v))
        wrong = "a multiply-add does not sum into one element";
    if (wrong != NULL)
        fail(node->engine, "PE[%d, %d] configures %s, and on this machine %s", x_of(node),
             y_of(node), name[v->operation - MAC], wrong);
}

void configure(struct pe *pe, struct vector *v, int counter, enum operation operation,
               struct sizes sizes, struct operand d, struct operand a, struct operand b)
{
    configure_fused(pe, v, counter, operation, sizes, d, a, b, NO_OPERAND);
}

void configure_fused(struct pe *pe, struct vector *v, int counter, enum operation operation,
                     struct sizes sizes, struct operand d, struct operand a, struct operand b,
                     struct operand c)
{
    struct node *node = node_of(pe);
    const struct layout *layout = node->engine->layout;

    check_place(node, v);
    node->configurations += !v->configured;
    *v = (struct vector){ operation, counter, sizes, { d, a, b, c }, 1 };
    pe->charge += layout->machine.configuration;
    if (!node->engine->running_mains)
        layout->usage[node->id].configuration += layout->machine.configuration;
    check_form(node, v);
    check_sizes(node, &sizes);
    check_configurations(node);
    check_division(node, v);
    check_bits(node, v);
    check_multiply_add(node, v);
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

void forward(struct pe *pe, int in, int out)
{
    struct node *node = node_of(pe);

    if (can_receive(node, in) && can_send(node, out)) {
        intake_of(node, in)->passes = true;
        intake_of(node, in)->out = (uint32_t)out;
    }
}

void on_data(struct pe *pe, int colour, wavelet_task *reaction)
{
    struct intake *intake = intake_named(pe, colour);

    if (intake != NULL)
        intake->data = reaction;
}

void on_control(struct pe *pe, int colour, wavelet_task *reaction)
{
    struct intake *intake = intake_named(pe, colour);

    if (intake != NULL)
        intake->control = reaction;
}

/* Whether a program that does something with a task names one. */
static bool is_task(struct node *node, task *named, const char *does)
{
    if (named == NULL)
        fail(node->engine, "PE[%d, %d] (%s) %s no task: it is NULL, in %s", x_of(node), y_of(node),
             role_name(node), does, describe_task(node).text);
    return named != NULL;
}

void activate_at(struct node *node, task *activated, int64_t ready)
{
    if (node->activations == MOST_ACTIVATED)
        fail(node->engine, "PE[%d, %d] (%s) has %d tasks activated that have not run, the last one "
             "in %s", x_of(node), y_of(node), role_name(node), node->activations,
             describe_task(node).text);
    if (node->activations == node->activation_space)
        node->activation = grow(node->engine, node->activation, &node->activation_space,
                                sizeof *node->activation);
    if (node->activations == node->activation_space)
        return;
    node->activation[node->activations] = (struct activation){ .ready = ready, .task = activated };
    record_activation(node, &node->activation[node->activations]);
    node->activations += 1;
    wake(node->engine, NODES, node->id, ready);
}

void activate(struct pe *pe, task *activated)
{
    if (is_task(node_of(pe), activated, "activates"))
        activate_at(node_of(pe), activated, node_of(pe)->engine->now);
}

void join(struct pe *pe, task *then)
{
    struct node *node = node_of(pe);

    if (node->joined != NULL)
        fail(node->engine, "PE[%d, %d] joins two streams, and none of the last two is complete",
             x_of(node), y_of(node));
    if (is_task(node, then, "joins two streams for"))
        node->joined = then;
}

void block(struct pe *pe, int colour)
{
    struct intake *intake = intake_named(pe, colour);

    if (intake != NULL)
        intake->blocked = true;
}

void unblock(struct pe *pe, int colour)
{
    struct intake *intake = intake_named(pe, colour);

    if (intake != NULL)
        intake->blocked = false;
}

/* The cycle in which the results of the running task, as far as it has come, can be read. */
static int64_t settled(const struct node *node)
{
    const int64_t waits = node->pe.ready - node->pe.charge;

    return present(node) + (waits > 0 && !node->engine->running_mains ? waits : 0);
}

int invocation_done(struct pe *pe)
{
    struct node *node = node_of(pe);
    struct engine *engine = node->engine;
    const int64_t cycle = settled(node);

    if (node->invocations == engine->layout->invocations) {
        fail(engine, "PE[%d, %d] (%s) says once more that an invocation is done than there are, %d, "
             "in %s", x_of(node), y_of(node), role_name(node), node->invocations,
             describe_task(node).text);
        return 0;
    }
    record_done(node, cycle);
    node->invocations += 1;
    if (node->invocations == engine->layout->invocations) {
        engine->running -= 1;
        node->finished = (int32_t)(cycle < LAST_CYCLE ? cycle : LAST_CYCLE);
        if (cycle > engine->last_done)
            engine->last_done = cycle;
    }
    return node->invocations < engine->layout->invocations;
}

/* Look at the PE in a later cycle, if it is not to be looked at before that for the same thing, and
 * asks then. */
void wake_for(struct node *node, int32_t *asked, int64_t cycle)
{
    if (*asked > node->engine->now)
        return;
    *asked = (int32_t)(cycle < LAST_CYCLE ? cycle : LAST_CYCLE);
    wake(node->engine, NODES, node->id, cycle);
}

/* ---- Running --------------------------------------------------------------------------------- */

/* Whether the head of an intake can be taken now: what is forwarded needs the ramp, and space. */
bool can_take(const struct node *node, int colour)
{
    const struct engine *engine = node->engine;
    struct intake *intake = intake_of(node, colour);

    if (first_ready(waiting_in(intake), engine->now) == NULL)
        return false;
    if (!intake->passes)
        return true;
    if (!is_free(engine)) {
        wake(node->engine, NODES, node->id, engine->now + 1);
        return false;
    }
    return node->sent != engine->now && !(node->full >> intake->out & 1);
}

/* Take the head of an intake; its router has space for it from the next cycle on. What is to be
 * forwarded leaves at once, or, where a task takes it, when that was dispatched. */
struct parcel take(struct node *node, int colour, int64_t dispatch)
{
    struct intake *intake = intake_of(node, colour);
    struct queue *queue = waiting_in(intake);
    struct parcel parcel;

    if (queue->count == intake->capacity)
        wake(node->engine, node->filled >> colour & 1 ? NODES : ROUTERS, node->id,
             node->engine->now + 1);
    if (queue->count > 1)
        wake(node->engine, NODES, node->id, node->engine->now + 1);
    parcel = pop(queue, intake->capacity, node->engine->now);
    record_queue(node, colour, queue->count);
    if (queue->count == 0)
        node->arrived &= ~(1u << colour);
    if (intake->passes)
        leave_for_router(node, intake->out, parcel, node->engine->now + dispatch);
    return parcel;
}

/* The cycle that the running task has come to. Every `main` runs before cycle 0. */
int64_t present(const struct node *node)
{
    return node->engine->running_mains ? 0 : node->started + node->pe.charge;
}

int64_t read_clock(struct pe *pe)
{
    return settled(node_of(pe));
}

int is_one_of(struct pe *pe, int64_t number, int64_t count, const char *what)
{
    const struct node *node = node_of(pe);

    if (number >= 0 && number < count)
        return 1;
    fail(node->engine, "PE[%d, %d] is told number %lld of %lld %s", x_of(node), y_of(node),
         (long long)number, (long long)count, what);
    return 0;
}

int lies_inside(struct pe *pe, struct sizes sizes, struct operand operand, const void *base)
{
    const struct vector v = { .sizes = points(&sizes) > 0 ? sizes : SIZES(1),
                              .operand = { operand } };

    return is_inside(node_of(pe), &v, 0, base);
}

/* A task begins: that at an address, for what it starts on, of `enum started_on`. */
static void enter_task(struct node *node, void (*ran)(void), int ran_on)
{
    node->ran = key_of(ran);
    node->ran_on = (int8_t)ran_on;
    node->engine->at_work = node;
    open_memory(node);
}

/* A task that is activated when the one before it ends has been fetched meanwhile. */
static bool follows(const struct node *node, int ran_on)
{
    return ran_on == ACTIVATED && node->busy_until > 0 && node->busy_until == node->engine->now;
}

static void begin(struct node *node, void (*ran)(void), int ran_on)
{
    const struct machine *machine = &node->engine->layout->machine;
    struct usage *usage = &node->engine->layout->usage[node->id];
    const bool next = follows(node, ran_on);
    const int32_t dispatch = (int32_t)(next ? machine->dispatch_next : machine->dispatch);

    *(next ? &usage->dispatch_next : &usage->dispatch) += dispatch;
    enter_task(node, ran, ran_on);
    node->pe.charge = node->pe.ready = node->pe.waited = 0;
    node->results = 0;
    node->pe.computes = 0;
    node->began = (int32_t)node->engine->now;
    node->started = node->began + dispatch;
}

/* A task takes a cycle at least. What follows on its PE may read its results. */
static void finish(struct node *node)
{
    struct engine *engine = node->engine;
    struct usage *usage = &engine->layout->usage[node->id];
    int64_t end;

    if (node->pe.charge >= 0)
        wait_until(&node->pe, node->pe.ready);
    end = node->started + node->pe.charge;
    if (node->pe.charge < 0 || node->pe.charge > LAST_CYCLE)
        fail(engine, "PE[%d, %d] (%s) is charged %lld cycles in %s", x_of(node), y_of(node),
             role_name(node), (long long)node->pe.charge, describe_task(node).text);
    engine->at_work = NULL;
    close_memory(node);
    node->busy_until = end > engine->now ? end : engine->now + 1;
    usage->busy += node->busy_until - engine->now;
    usage->latency += (int32_t)node->pe.waited;
    if (node->pe.computes) {
        usage->until_last = usage->busy;
        usage->last = node->busy_until;
    }
    engine->outcome->tasks += 1;
    record_finished(node);
    wake_for(node, &node->asked, node->busy_until);
}

static bool run_activated(struct node *node)
{
    const struct activation first = node->activations > 0 ? node->activation[0]
                                                          : (struct activation){ .ready = 0 };

    if (node->activations == 0 || first.ready > node->engine->now)
        return false;
    node->activations -= 1;
    memmove(node->activation, node->activation + 1,
            (size_t)node->activations * sizeof *node->activation);
    record_activated(node, &first);
    begin(node, (void (*)(void))first.task, ACTIVATED);
    first.task(&node->pe);
    finish(node);
    return true;
}

static bool react(struct node *node, int colour)
{
    const int64_t dispatch = node->engine->layout->machine.dispatch;
    struct intake *intake = intake_of(node, colour);
    const struct parcel *head = first_ready(waiting_in(intake), node->engine->now);
    wavelet_task *reaction;
    struct parcel parcel;

    if (head == NULL)
        return false;
    if (intake->blocked || !can_take(node, colour)) {
        wait_in(node, intake->blocked ? BLOCKED : FULL_QUEUE);
        return false;
    }
    reaction = head->control ? intake->control : intake->data;
    if (reaction == NULL)
        return false;
    record_taken(node, colour, head, reaction);
    parcel = take(node, colour, dispatch);
    begin(node, (void (*)(void))reaction,
          parcel.control ? node->engine->layout->colours + colour : colour);
    CHARGE(&node->pe, .scalar = intake->passes + (node->filled >> colour & 1));
    reaction(&node->pe, (wavelet){ parcel.bits });
    finish(node);
    return true;
}

/* Activated tasks first, in order; then what arrived, the lowest colour first. */
static void start_task(struct node *node)
{
    uint32_t colours = node->arrived;

    if (run_activated(node) || colours == 0)
        return;
    for (colours &= (uint32_t)~colours_received(node); colours != 0; colours &= colours - 1)
        if (react(node, __builtin_ctz(colours)))
            return;
}

/* Let the processor fetch the PE, its router, and what is noted of its cycles, */
void reach_node(struct engine *engine, int32_t id)
{
    const char *node = (const char *)&engine->node[id];

    for (size_t at = 0; at < sizeof *engine->node; at += 64)
        __builtin_prefetch(node + at, 1);
    __builtin_prefetch(&engine->router[id]);
    __builtin_prefetch(&engine->layout->usage[id], 1);
    __builtin_prefetch(&engine->layout->activity[id], 1);
    __builtin_prefetch(&engine->layout->activity[id].last, 1);
}

/* and what else `step_node` needs. */
void fetch_node(struct engine *engine, int32_t id)
{
    const struct node *node = &engine->node[id];

    __builtin_prefetch(node->instruction);
    __builtin_prefetch(node->stream, 1);
    __builtin_prefetch(node->activation, 1);
    for (uint32_t colours = node->arrived; colours != 0; colours &= colours - 1)
        __builtin_prefetch(intake_of(node, __builtin_ctz(colours)), 1);
}

/* What it does now, of several reasons to wait the first one. */
static enum state state_of(const struct node *node, bool moved)
{
    static const uint8_t reasons[] = { NO_SPACE, FULL_QUEUE, BLOCKED, UNDER_WAY, NO_INPUT };
    const struct engine *engine = node->engine;

    if (engine->now < node->busy_until)
        return BUSY;
    if (moved)
        return MOVING;
    if (node->state == IDLE && node->since == 0)
        return IDLE;
    for (size_t i = 0; node->waits != 0 && i < sizeof reasons; i += 1)
        if (node->waits >> reasons[i] & 1)
            return reasons[i];
    return node->invocations < engine->layout->invocations ? NO_INPUT : IDLE;
}

void step_node(struct engine *engine, int32_t id)
{
    struct node *node = &engine->node[id];
    enum state state;
    bool moved;

    node->waits = 0;
    moved = move_streams(node);
    if (engine->now < node->busy_until)
        wake_for(node, &node->asked, node->busy_until);
    else if (node->instructions - node->endless + node->fifos < engine->layout->machine.threads)
        start_task(node);
    else if (node->activations > 0 || node->arrived != 0)
        wait_in(node, UNDER_WAY);
    state = state_of(node, moved);
    if (state != node->state)
        change_state(node, state);
}

void run_main(struct node *node)
{
    struct engine *engine = node->engine;
    task *const run = engine->layout->programs[node->role]->main;

    enter_task(node, (void (*)(void))run, IN_MAIN);
    node->pe.spent = &engine->spent_in_main;
    run(&node->pe);
    wait_until(&node->pe, node->pe.ready);
    node->pe.spent = &engine->layout->usage[node->id].spent;
    engine->at_work = NULL;
    close_memory(node);
    if (node->pe.charge > engine->outcome->main_cycles)
        engine->outcome->main_cycles = node->pe.charge;
}
