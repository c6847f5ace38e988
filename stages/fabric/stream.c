/* Instructions with a fabric operand: queued in program order, moving one element a cycle. */
#include "engine.h"
#include "guard.h"

/* ---- What a program calls -------------------------------------------------------------------- */

bool can_send(struct node *node, int colour)
{
    struct engine *engine = node->engine;

    if (colour >= 0 && colour < engine->layout->colours
        && channel_of(engine, node->id, RAMP, colour) != NO_CHANNEL)
        return true;
    fail(engine, "PE[%d, %d] sends on colour %d, for which its router has no route from the ramp",
         x_of(node), y_of(node), colour);
    return false;
}

bool can_receive(struct node *node, int colour)
{
    if (colour >= 0 && colour < node->engine->layout->colours
        && intake_of(node, colour) != NULL)
        return true;
    fail(node->engine, "PE[%d, %d] receives on colour %d, which no route brings to its ramp",
         x_of(node), y_of(node), colour);
    return false;
}

static bool is_copy(struct node *node, const struct vector *v)
{
    if (!is_configured(node, v))
        return false;
    if (v->operation != COPY)
        fail(node->engine, "PE[%d, %d] streams between memory and fabric with an operation other "
             "than COPY", x_of(node), y_of(node));
    return v->operation == COPY;
}

static bool has_no_fourth(struct node *node, const struct vector *v)
{
    if (!is_configured(node, v))
        return false;
    if (is_fused(v))
        fail(node->engine, "PE[%d, %d] streams with an operation of four operands", x_of(node),
             y_of(node));
    return !is_fused(v);
}

/* What arrives is a vector: by it, a multiply-add multiplies a scalar. */
static bool has_scalar(struct node *node, const struct vector *v)
{
    if (v->operation != MAC || node->engine->layout->machine.vector_multiply_add
        || is_scalar(v, 2))
        return true;
    fail(node->engine, "PE[%d, %d] streams a MAC of two vectors, and on this machine one factor of "
         "a multiply-add must be a scalar", x_of(node), y_of(node));
    return false;
}

/* What leaves has no place where a MAC could sum it up. */
static bool sums_nothing(struct node *node, const struct vector *v)
{
    if (v->operation == MAC)
        fail(node->engine, "PE[%d, %d] (%s) combines with a MAC, and what leaves is no sum",
             x_of(node), y_of(node), role_name(node));
    return v->operation != MAC;
}

/* Room for one more instruction. Returns whether there is memory. */
static bool has_entry(struct node *node)
{
    int32_t space = node->instruction_space;

    if (node->instructions < space)
        return true;
    node->instruction = grow(node->engine, node->instruction, &space, sizeof *node->instruction);
    node->stream = grow(node->engine, node->stream, &node->instruction_space,
                        sizeof *node->stream);
    return node->instructions < space && node->instructions < node->instruction_space;
}

void issue(struct node *node, struct instruction instruction, struct stream stream,
                  int64_t start)
{
    struct engine *engine = node->engine;

    if (instruction.in >= 0 && instruction.out >= 0 && intake_of(node, instruction.in)->passes)
        fail(engine, "PE[%d, %d] sends twice what comes on colour %d", x_of(node), y_of(node),
             instruction.in);
    if (node->instructions == MOST_ISSUED)
        fail(engine, "PE[%d, %d] (%s) has %d streams and wavelets under way, the last one from %s",
             x_of(node), y_of(node), role_name(node), node->instructions,
             describe_task(node).text);
    if (!has_entry(node))
        return;
    instruction.start = (int32_t)(start < LAST_CYCLE ? start : LAST_CYCLE);
    instruction.empty = stream.left == 0 && !instruction.endless;
    stream.asked = instruction.start;
    record_issued(node, &stream, start);
    node->instruction[node->instructions] = instruction;
    node->stream[node->instructions] = stream;
    node->instructions += 1;
    wake(engine, NODES, node->id, start);
}

/* Which of d, a and b each kind of stream has in memory, numbers, too: the task ends before it. */
static const bool in_memory[][3] = {
    [SEND] = { [1] = true }, [RECEIVE] = { [0] = true }, [ACCUMULATE] = { [0] = true, [2] = true },
    [COMBINE] = { [2] = true }, [PASS] = { false },
};

static bool is_all_inside(const struct node *node, enum kind kind, const struct vector *v,
                          const char *d, const char *source)
{
    for (int k = 0; k < 3; k += 1)
        if (in_memory[kind][k] && !is_inside(node, v, k, k == 0 ? d : source))
            return false;
    return true;
}

static struct instruction instruction_of(enum kind kind, int in, int out)
{
    return (struct instruction){ .kind = (uint8_t)kind, .in = (int8_t)in, .out = (int8_t)out };
}

static void issue_stream(struct node *node, enum kind kind, const struct vector *v, int in,
                         int out, void *d, const void *source, uint32_t control, task *then)
{
    const struct machine *machine = &node->engine->layout->machine;
    struct instruction instruction = instruction_of(kind, in, out);
    const int64_t count = points(&v->sizes);
    char *const from = (char *)(uintptr_t)source;
    char *const base[MAX_OPERANDS] = { d, from, from };
    struct stream stream = {
        .d = d, .source = from, .then = then,
        .left = (int32_t)(count < LAST_CYCLE ? count : LAST_CYCLE),
    };
    int64_t start;

    if (count > 0 && !is_all_inside(node, kind, v, d, source))
        return;
    stream.vector = keep_vector(node->engine, v);
    if (stream.vector == NULL)
        return;
    if (v->counter != NO_COUNTER)
        node->pe.counters[v->counter].points += count;
    instruction.control = control & (CONTROL | TURNING);
    start = present(node) + machine->start_up;
    if (count > 0)
        start += find_wait(node, v, in_memory[kind], base);
    issue(node, instruction, stream, start);
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

    if (!is_configured(node, v))
        return;
    if (v->operand[0].type != INT32 || v->operand[1].type != INT32)
        fail(node->engine, "PE[%d, %d] streams control wavelets that are not of INT32", x_of(node),
             y_of(node));
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

    if (has_no_fourth(node, v) && has_scalar(node, v) && sums_nothing(node, v)
        && can_receive(node, in) && can_send(node, out))
        issue_stream(node, COMBINE, v, in, out, NULL, b, 0, then);
}

void stream_pass(struct pe *pe, const struct vector *v, int out, int in, task *then)
{
    struct node *node = (struct node *)pe;

    if (is_copy(node, v) && can_receive(node, in) && can_send(node, out))
        issue_stream(node, PASS, v, in, out, NULL, NULL, 0, then);
}

static void pass_endlessly(struct node *node, int in, int out, uint32_t control)
{
    struct instruction instruction = instruction_of(PASS, in, out);

    instruction.endless = true;
    instruction.control = control & (CONTROL | TURNING);
    if (can_receive(node, in) && can_send(node, out)) {
        issue(node, instruction, (struct stream){ .vector = NULL }, 0);
        node->endless += 1;
    }
}

void pass_by(struct pe *pe, int in, int out)
{
    pass_endlessly((struct node *)pe, in, out, 0);
}

void pass_as_control(struct pe *pe, int in, int out)
{
    pass_endlessly((struct node *)pe, in, out, CONTROL);
}

void issue_wavelet(struct node *node, int colour, uint32_t bits, uint32_t control)
{
    struct instruction instruction = instruction_of(WAVELET, -1, colour);

    instruction.control = control & (CONTROL | TURNING);
    if (can_send(node, colour))
        issue(node, instruction, (struct stream){ .bits = bits, .left = 1 }, present(node));
}

void send_wavelet(struct pe *pe, int colour, wavelet w)
{
    issue_wavelet((struct node *)pe, colour, w.bits, 0);
}

/* ---- One element ----------------------------------------------------------------------------- */

/* The memory element that the stream has come to; `k` is its operand. */
static char *element_of(const struct stream *stream, int k)
{
    const struct operand *operand = &stream->vector->operand[k];
    ptrdiff_t offset = 0;

    for (int i = 0; i < stream->vector->sizes.rank; i += 1)
        offset += (ptrdiff_t)stream->position[i] * operand->stride[i];
    return (k == 0 ? stream->d : stream->source) + offset * (ptrdiff_t)element_size(operand->type);
}

static void advance(struct instruction *instruction, struct stream *stream)
{
    const struct sizes *sizes;

    stream->left -= 1;
    instruction->complete = stream->left == 0 && !instruction->endless;
    if (stream->vector == NULL)
        return;
    sizes = &stream->vector->sizes;
    for (int i = sizes->rank - 1; i >= 0; i -= 1) {
        stream->position[i] += 1;
        if (stream->position[i] < sizes->size[i])
            return;
        stream->position[i] = 0;
    }
}

/* The wavelet that leaves for a COMBINE of `arrived`, or for a SEND. */
static uint32_t computed(enum kind kind, const struct stream *stream, uint32_t arrived)
{
    const struct vector *v = stream->vector;
    uint32_t d = 0, a = 0;

    if (kind == SEND) {
        apply(v, &d, element_of(stream, 1), NULL, NULL);
    } else {
        element_from_fabric(v->operand[1].type, arrived, &a);
        apply(v, &d, &a, element_of(stream, 2), NULL);
    }
    return element_to_fabric(v->operand[0].type, &d);
}

/* What arrived, or what it is combined with memory to, is kept there. */
static void store(enum kind kind, const struct stream *stream, uint32_t arrived)
{
    const struct vector *v = stream->vector;
    const bool two = kind == ACCUMULATE;
    uint32_t a = 0;

    element_from_fabric(v->operand[1].type, arrived, &a);
    apply(v, element_of(stream, 0), &a, two ? element_of(stream, 2) : NULL, NULL);
}

/* What leaves for a PASS of what arrived: with CONTROL an element is the argument of a NOP. */
static struct parcel passed(struct parcel arrived, uint32_t control)
{
    if (control & CONTROL && !(arrived.control & CONTROL)) {
        arrived.bits &= UINT16_MAX;
        arrived.control = CONTROL;
    }
    return arrived;
}

/* The parcel goes to the ramp in a cycle, this or a later one, and takes the time of the ramp. */
void leave_for_router(struct node *node, int out, struct parcel parcel, int64_t cycle)
{
    struct engine *engine = node->engine;

    record_sent(node, &parcel, cycle);
    cycle += latency(&engine->layout->machine, RAMP);
    enter(engine, node->id, channel_of(engine, node->id, RAMP, out), moved_on(parcel, cycle));
    wake(engine, ROUTERS, node->id, cycle);
    engine->outcome->injected += 1;
    node->moved = (int8_t)out;
    node->sent = (int32_t)engine->now;
}

static void move_element(struct node *node, int32_t i)
{
    struct instruction *instruction = &node->instruction[i];
    struct stream *stream = &node->stream[i];
    const enum kind kind = instruction->kind;
    struct parcel parcel = parcel_of(0, stream->bits, instruction->control);

    record_moved(node, i);
    open_memory(node);
    if (instruction->in >= 0 && instruction->out < 0
        && node->engine->layout->machine.shared_datapath)
        node->moved = (int8_t)(node->engine->layout->colours + instruction->in);
    if (instruction->in >= 0)
        parcel = take(node, instruction->in, 0);
    if (stream->left > 1)
        parcel.control &= CONTROL;
    if (kind == SEND || kind == COMBINE)
        parcel.bits = computed(kind, stream, parcel.bits);
    if (kind == SEND && parcel.control & CONTROL)
        parcel.bits &= ALL_BITS;
    if (kind == PASS)
        parcel = passed(parcel, instruction->control);
    if (kind == RECEIVE || kind == ACCUMULATE)
        store(kind, stream, parcel.bits);
    else if (kind == RESTART)
        let_go_on(node, (int)(stream->bits & UINT8_MAX), stream->bits >> 8);
    else
        leave_for_router(node, instruction->out, parcel, node->engine->now);
    close_memory(node);
    advance(instruction, stream);
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
    if (!(node->arrived >> instruction->in & 1))
        return false;
    head = first_ready(waiting_in(intake_of(node, instruction->in)), node->engine->now);
    return head != NULL && (!head->control || instruction->endless);
}

static bool has_output(struct node *node, const struct instruction *instruction)
{
    const int out = sends_on(node, instruction);

    if (out < 0)
        return true;
    if (!is_free(node->engine)) {
        wake(node->engine, NODES, node->id, node->engine->now + 1);
        return false;
    }
    return !(node->full >> out & 1);
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

/* How long after the stream that moved last this one, which sends on `out`, has its turn. */
static int turn_of(const struct node *node, const struct instruction *instruction, int out)
{
    const int colours = node->engine->layout->colours;
    const int after = (out >= 0 ? out : colours + instruction->in) - node->moved - 1;

    return after < 0 ? after + 2 * colours : after;
}

/* A stream is complete; the first one of two that are joined activates nothing. */
static void follow(struct node *node, task *then)
{
    if (then == node->joined)
        node->joined = NULL;
    else
        activate_at(node, then, node->engine->now + 1);
}

static void remove_completed(struct node *node)
{
    int32_t kept = 0;

    for (int32_t i = 0; i < node->instructions; i += 1) {
        const struct stream *stream = &node->stream[i];

        if (node->instruction[i].complete) {
            record_complete(node, i);
            drop_vector(node->engine, stream->vector);
            if (stream->then != NULL)
                follow(node, stream->then);
            continue;
        }
        if (kept < i) {
            node->instruction[kept] = node->instruction[i];
            node->stream[kept] = *stream;
        }
        kept += 1;
    }
    node->instructions = kept;
}

/* Whether an instruction can move an element now; one without elements is complete at once. */
static bool can_move(struct node *node, int32_t i)
{
    struct instruction *instruction = &node->instruction[i];

    if (instruction->start > node->engine->now) {
        wake_for(node, &node->stream[i].asked, instruction->start);
        wait_in(node, UNDER_WAY);
        return false;
    }
    instruction->complete = instruction->empty;
    if (instruction->complete)
        return false;
    if (!has_input(node, instruction)) {
        if (!instruction->endless)
            wait_in(node, NO_INPUT);
        return false;
    }
    if (!has_output(node, instruction)) {
        wait_in(node, instruction->out >= 0 ? NO_SPACE : FULL_QUEUE);
        return false;
    }
    return true;
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
    record_put_off(node);
    usage->busy += 1;
    usage->streams += 1;
    for (int32_t i = 0; i < node->instructions; i += 1)
        node->instruction[i].start += node->instruction[i].start > now
                                   && node->instruction[i].start < LAST_CYCLE;
    if (node->finished > now) {
        node->finished += 1;
        if (node->finished > engine->last_done)
            engine->last_done = node->finished;
    }
}

/* Every receiving stream takes an element; of all that send, one does: the ramp has one link. Where
 * there is one datapath, one of all moves an element, or in turn what fills a FIFO. */
bool move_streams(struct node *node)
{
    const bool shared = node->engine->layout->machine.shared_datapath != 0;
    uint64_t ins = 0, outs = 0;
    int32_t next = -1, turn = 0;
    bool moved = false, complete = false, filled = false;

    for (int32_t i = 0; i < node->instructions; i += 1) {
        const struct instruction *instruction = &node->instruction[i];
        const bool movable = is_first(instruction, &ins, &outs) && can_move(node, i);
        const int out = movable ? sends_on(node, instruction) : -1;

        if (movable && (instruction->kind == RESTART || (!shared && out < 0)))
            move_element(node, i);
        else if (movable && (next < 0 || turn_of(node, instruction, out) < turn)) {
            next = i;
            turn = turn_of(node, instruction, out);
        }
        moved |= movable;
        complete |= instruction->complete;
    }
    if (node->fifos > 0 && !(shared && next >= 0 && node->filled_at == node->engine->now - 1))
        filled = fill_fifos(node);
    if (shared && filled)
        next = -1;
    if (next >= 0) {
        move_element(node, next);
        complete |= node->instruction[next].complete;
    }
    if (shared && (next >= 0 || filled))
        put_off_task(node);
    if (complete)
        remove_completed(node);
    if (moved || complete)
        wake(node->engine, NODES, node->id, node->engine->now + 1);
    return moved || filled;
}
