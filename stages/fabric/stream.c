/* Instructions with a fabric operand: queued in program order, moving one element a cycle. */
#include "engine.h"
#include "guard.h"

/* ---- What a program calls -------------------------------------------------------------------- */

bool can_send(struct node *node, int colour)
{
    struct engine *engine = node->engine;

    if (colour >= 0 && colour < engine->layout->colours
        && engine->channel_of[slot_of(engine, node->id, RAMP, colour)] >= 0)
        return true;
    fail(engine, "PE[%d, %d] sends on colour %d, for which its router has no route from the ramp",
         node->pe.x, node->pe.y, colour);
    return false;
}

bool can_receive(struct node *node, int colour)
{
    if (colour >= 0 && colour < node->engine->layout->colours
        && node->intake[colour].queue.capacity > 0)
        return true;
    fail(node->engine, "PE[%d, %d] receives on colour %d, which no route brings to its ramp",
         node->pe.x, node->pe.y, colour);
    return false;
}

static bool is_copy(struct node *node, const struct vector *v)
{
    if (v->operation != COPY)
        fail(node->engine, "PE[%d, %d] streams between memory and fabric with an operation other "
             "than COPY", node->pe.x, node->pe.y);
    return v->operation == COPY;
}

static bool has_no_fourth(struct node *node, const struct vector *v)
{
    if (is_fused(v))
        fail(node->engine, "PE[%d, %d] streams with an operation of four operands", node->pe.x,
             node->pe.y);
    return !is_fused(v);
}

/* What arrives is a vector: by it, a multiply-add multiplies a scalar. */
static bool has_scalar(struct node *node, const struct vector *v)
{
    if (v->operation != MAC || node->engine->layout->machine.vector_multiply_add
        || is_scalar(v, 2))
        return true;
    fail(node->engine, "PE[%d, %d] streams a MAC of two vectors, and on this machine one factor of "
         "a multiply-add must be a scalar", node->pe.x, node->pe.y);
    return false;
}

void issue(struct node *node, struct instruction instruction)
{
    struct engine *engine = node->engine;

    if (instruction.in >= 0 && instruction.out >= 0 && node->intake[instruction.in].passes)
        fail(engine, "PE[%d, %d] sends twice what comes on colour %d", node->pe.x, node->pe.y,
             instruction.in);
    if (node->instructions == node->instruction_space)
        node->instruction = grow(engine, node->instruction, &node->instruction_space,
                                 sizeof *node->instruction);
    if (node->instructions == node->instruction_space)
        return;
    node->instruction[node->instructions] = instruction;
    node->instructions += 1;
    wake(engine, NODES, node->id, instruction.start);
}

/* Which of d, a and b each kind of stream has in memory, numbers, too: the task ends before it. */
static const bool in_memory[][3] = {
    [SEND] = { [1] = true }, [RECEIVE] = { [0] = true }, [ACCUMULATE] = { [0] = true, [2] = true },
    [COMBINE] = { [2] = true }, [PASS] = { false },
};

static bool is_all_inside(const struct node *node, const struct instruction *instruction)
{
    for (int k = 0; k < 3; k += 1)
        if (in_memory[instruction->kind][k]
            && !is_inside(node, &instruction->vector, k, instruction->base[k]))
            return false;
    return true;
}

static void issue_stream(struct node *node, enum kind kind, const struct vector *v, int in,
                         int out, void *d, const void *source, uint32_t control, task *then)
{
    char *const operand = (char *)(uintptr_t)source;
    struct instruction instruction = {
        .kind = kind, .in = in, .out = out, .control = control, .vector = *v,
        .base = { d, operand, operand },
        .start = present(node) + node->engine->layout->machine.start_up,
        .total = points(&v->sizes), .then = then,
    };

    if (instruction.total > 0 && !is_all_inside(node, &instruction))
        return;
    if (v->counter != NO_COUNTER)
        node->pe.counters[v->counter].points += instruction.total;
    issue(node, instruction);
}

void stream_send(struct pe *pe, const struct vector *v, int out, const void *a, task *then)
{
    struct node *node = (struct node *)pe;

    if (is_copy(node, v) && can_send(node, out))
        issue_stream(node, SEND, v, -1, out, NULL, a, 0, then);
}

void stream_send_turning(struct pe *pe, const struct vector *v, int out, const void *a, task *then)
{
    struct node *node = (struct node *)pe;

    if (is_copy(node, v) && can_send(node, out))
        issue_stream(node, SEND, v, -1, out, NULL, a, TURNING, then);
}

void stream_send_control(struct pe *pe, const struct vector *v, int out, const int32_t *a,
                         task *then)
{
    struct node *node = (struct node *)pe;

    if (v->operand[0].type != INT32 || v->operand[1].type != INT32)
        fail(node->engine, "PE[%d, %d] streams control wavelets that are not of INT32", pe->x,
             pe->y);
    else if (is_copy(node, v) && can_send(node, out))
        issue_stream(node, SEND, v, -1, out, NULL, a, CONTROL, then);
}

void stream_receive(struct pe *pe, const struct vector *v, int in, void *d, task *then)
{
    struct node *node = (struct node *)pe;

    if (is_copy(node, v) && can_receive(node, in))
        issue_stream(node, RECEIVE, v, in, -1, d, NULL, 0, then);
}

void stream_accumulate(struct pe *pe, const struct vector *v, int in, void *d, const void *b,
                       task *then)
{
    struct node *node = (struct node *)pe;

    if (has_no_fourth(node, v) && has_scalar(node, v) && can_receive(node, in))
        issue_stream(node, ACCUMULATE, v, in, -1, d, b, 0, then);
}

void stream_combine(struct pe *pe, const struct vector *v, int out, int in, const void *b,
                    task *then)
{
    struct node *node = (struct node *)pe;

    if (has_no_fourth(node, v) && has_scalar(node, v) && can_receive(node, in) && can_send(node, out))
        issue_stream(node, COMBINE, v, in, out, NULL, b, 0, then);
}

void stream_pass(struct pe *pe, const struct vector *v, int out, int in, task *then)
{
    struct node *node = (struct node *)pe;

    if (is_copy(node, v) && can_receive(node, in) && can_send(node, out))
        issue_stream(node, PASS, v, in, out, NULL, NULL, 0, then);
}

void pass_by(struct pe *pe, int in, int out)
{
    struct node *node = (struct node *)pe;

    if (can_receive(node, in) && can_send(node, out)) {
        issue(node, (struct instruction){ .kind = PASS, .in = in, .out = out, .endless = true });
        node->endless += 1;
    }
}

void issue_wavelet(struct node *node, int colour, uint32_t bits, uint32_t control)
{
    if (can_send(node, colour))
        issue(node, (struct instruction){ .kind = WAVELET, .in = -1, .out = colour, .bits = bits,
                                          .control = control, .start = present(node),
                                          .total = 1 });
}

void send_wavelet(struct pe *pe, int colour, wavelet w)
{
    issue_wavelet((struct node *)pe, colour, w.bits, 0);
}

/* ---- One element ----------------------------------------------------------------------------- */

/* The memory element that the instruction has come to; `k` is its operand. */
static char *element_of(const struct instruction *instruction, int k)
{
    const struct operand *operand = &instruction->vector.operand[k];
    ptrdiff_t offset = 0;

    for (int i = 0; i < instruction->vector.sizes.rank; i += 1)
        offset += (ptrdiff_t)instruction->position[i] * operand->stride[i];
    return instruction->base[k] + offset * (ptrdiff_t)element_size(operand->type);
}

static void advance(struct instruction *instruction)
{
    const struct sizes *sizes = &instruction->vector.sizes;

    instruction->done += 1;
    instruction->complete = instruction->done == instruction->total && !instruction->endless;
    for (int i = sizes->rank - 1; i >= 0; i -= 1) {
        instruction->position[i] += 1;
        if (instruction->position[i] < sizes->size[i])
            return;
        instruction->position[i] = 0;
    }
}

/* The wavelet that leaves for a COMBINE of `arrived`, or for a SEND. */
static uint32_t computed(const struct instruction *instruction, uint32_t arrived)
{
    const struct vector *v = &instruction->vector;
    uint32_t d = 0, a = 0;

    if (instruction->kind == SEND) {
        apply(v, &d, element_of(instruction, 1), NULL, NULL);
    } else {
        element_from_fabric(v->operand[1].type, arrived, &a);
        apply(v, &d, &a, element_of(instruction, 2), NULL);
    }
    return element_to_fabric(v->operand[0].type, &d);
}

/* What arrived, or what it is combined with memory to, is kept there. */
static void store(const struct instruction *instruction, uint32_t arrived)
{
    const struct vector *v = &instruction->vector;
    const bool two = instruction->kind == ACCUMULATE;
    uint32_t a = 0;

    element_from_fabric(v->operand[1].type, arrived, &a);
    apply(v, element_of(instruction, 0), &a, two ? element_of(instruction, 2) : NULL, NULL);
}

/* The parcel goes to the ramp when it is ready, and takes the time of the ramp. */
void leave_for_router(struct node *node, int out, struct parcel parcel)
{
    struct engine *engine = node->engine;
    const int32_t channel = engine->channel_of[slot_of(engine, node->id, RAMP, out)];

    parcel.ready += latency(&engine->layout->machine, RAMP);
    push(&engine->channel[channel].queue, parcel);
    wake(engine, ROUTERS, node->id, parcel.ready);
    engine->outcome->injected += 1;
    node->moved = out;
    node->sent = engine->now;
}

static void move_element(struct node *node, struct instruction *instruction)
{
    struct parcel parcel = { node->engine->now, instruction->bits, instruction->control };

    open_memory(node);
    if (instruction->in >= 0 && instruction->out < 0
        && node->engine->layout->machine.shared_datapath)
        node->moved = node->engine->layout->colours + instruction->in;
    if (instruction->in >= 0)
        parcel = take(node, instruction->in, 0);
    parcel.ready = node->engine->now;
    if (instruction->done + 1 < instruction->total)
        parcel.control &= ~(uint32_t)TURNING;
    if (instruction->kind == SEND || instruction->kind == COMBINE)
        parcel.bits = computed(instruction, parcel.bits);
    if (instruction->kind == SEND && parcel.control & CONTROL)
        parcel.bits &= ALL_BITS;
    if (instruction->kind == RECEIVE || instruction->kind == ACCUMULATE)
        store(instruction, parcel.bits);
    else if (instruction->kind == RESTART)
        let_go_on(node, (int)instruction->control, instruction->bits);
    else
        leave_for_router(node, instruction->out, parcel);
    close_memory(node);
    advance(instruction);
}

/* ---- One cycle ------------------------------------------------------------------------------- */

/* The colours that queued instructions receive on: no task reacts to these. */
uint64_t colours_received(const struct node *node)
{
    uint64_t colours = 0;

    for (int32_t i = 0; i < node->instructions; i += 1)
        if (node->instruction[i].in >= 0)
            colours |= (uint64_t)1 << node->instruction[i].in;
    return colours;
}

static bool has_input(const struct node *node, const struct instruction *instruction)
{
    const struct parcel *head;

    if (instruction->in < 0)
        return true;
    head = first_ready(&node->intake[instruction->in].queue, node->engine->now);
    return head != NULL && (!head->control || instruction->endless);
}

/* The colour on which an element leaves when the instruction moves one; -1 if none does. */
static int sends_on(const struct node *node, const struct instruction *instruction)
{
    if (instruction->out < 0 && instruction->in >= 0 && node->intake[instruction->in].passes)
        return node->intake[instruction->in].out;
    return instruction->out;
}

static bool has_output(const struct node *node, const struct instruction *instruction)
{
    const struct engine *engine = node->engine;
    const int out = sends_on(node, instruction);

    if (out < 0)
        return true;
    if (!is_free(engine)) {
        wake(node->engine, NODES, node->id, engine->now + 1);
        return false;
    }
    return has_space(&engine->channel[engine->channel_of[slot_of(engine, node->id, RAMP,
                                                                 out)]].queue, engine->now);
}

/* Whether nothing issued before uses its colours: streams on one colour keep program order. */
static bool is_first(const struct instruction *instruction, uint64_t *ins, uint64_t *outs)
{
    const uint64_t in = instruction->in >= 0 ? (uint64_t)1 << instruction->in : 0;
    const uint64_t out = instruction->out >= 0 ? (uint64_t)1 << instruction->out : 0;
    const bool first = !(*ins & in) && !(*outs & out);

    *ins |= in;
    *outs |= out;
    return first;
}

/* How long after the stream that moved last this one has its turn. */
static int turn_of(const struct node *node, const struct instruction *instruction)
{
    const int colours = node->engine->layout->colours, out = sends_on(node, instruction);
    const int stream = out >= 0 ? out : colours + instruction->in;

    return (stream - node->moved - 1 + 4 * colours) % (2 * colours);
}

static void remove_completed(struct node *node)
{
    int32_t kept = 0;

    for (int32_t i = 0; i < node->instructions; i += 1) {
        const struct instruction *instruction = &node->instruction[i];

        if (!instruction->complete)
            node->instruction[kept++] = *instruction;
        else if (instruction->then != NULL)
            activate_at(node, instruction->then, node->engine->now + 1);
    }
    node->instructions = kept;
}

/* Whether the instruction can move an element now; one without elements is complete at once. */
static bool can_move(struct node *node, struct instruction *instruction)
{
    if (instruction->start > node->engine->now) {
        wake(node->engine, NODES, node->id, instruction->start);
        return false;
    }
    instruction->complete = instruction->total == 0 && !instruction->endless;
    return !instruction->complete && has_input(node, instruction)
        && has_output(node, instruction);
}

/* A stream has used the datapath: the running task, and what it is to issue, are a cycle later. */
static void put_off_task(struct node *node)
{
    struct engine *engine = node->engine;
    struct usage *usage = &engine->layout->usage[node->id];
    const int64_t now = engine->now;

    if (now < node->started || now >= node->busy_until)
        return;
    if (usage->last == node->busy_until) {
        usage->last += 1;
        usage->until_last += 1;
    }
    node->busy_until += 1;
    usage->busy += 1;
    usage->streams += 1;
    for (int32_t i = 0; i < node->instructions; i += 1)
        node->instruction[i].start += node->instruction[i].start > now;
    if (node->finished > now) {
        node->finished += 1;
        if (node->finished > engine->last_done)
            engine->last_done = node->finished;
    }
}

/* Every receiving stream takes an element; of all that send, one does: the ramp has one link. Where
 * there is one datapath, one of all moves an element, or in turn what fills a FIFO. */
void move_streams(struct node *node)
{
    const bool shared = node->engine->layout->machine.shared_datapath != 0;
    struct instruction *next = NULL;
    uint64_t ins = 0, outs = 0;
    bool moved = false, filled = false;

    for (int32_t i = 0; i < node->instructions; i += 1) {
        struct instruction *instruction = &node->instruction[i];
        const bool movable = is_first(instruction, &ins, &outs) && can_move(node, instruction);

        moved |= movable || instruction->complete;
        if (movable && (instruction->kind == RESTART
                        || (!shared && sends_on(node, instruction) < 0)))
            move_element(node, instruction);
        else if (movable && (next == NULL || turn_of(node, instruction) < turn_of(node, next)))
            next = instruction;
    }
    if (node->fifos > 0 && !(shared && next != NULL && node->filled_at == node->engine->now - 1))
        filled = fill_fifos(node);
    if (shared && filled)
        next = NULL;
    if (next != NULL)
        move_element(node, next);
    if (shared && (next != NULL || filled))
        put_off_task(node);
    if (moved) {
        remove_completed(node);
        wake(node->engine, NODES, node->id, node->engine->now + 1);
    }
}
