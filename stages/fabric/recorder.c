/* The recorder: moments, each after the one for which it waited last, and the critical path of them.
 *
 * Moments that something may still come after are found from what is under way, now and then.
 */
#include <stdlib.h>

#include "recording.h"

#ifdef RECORDED

enum { LEAST_MOMENTS = 1 << 14 };

static int32_t end_of(const struct recorder *recorder, int32_t moment)
{
    return moment < 0 ? -1 : recorder->moment[moment].end;
}

static int32_t take_entry(struct engine *engine)
{
    struct recorder *recorder = engine->recorder;
    const int32_t entry = recorder->free;

    if (entry >= 0) {
        recorder->free = recorder->moment[entry].before;
        return entry;
    }
    if (recorder->moments == recorder->moment_space)
        recorder->moment = grow(engine, recorder->moment, &recorder->moment_space,
                                sizeof *recorder->moment);
    if (recorder->moments == recorder->moment_space)
        return -1;
    return recorder->moments++;
}

/* The moment until which one thing was done after another moment, if that takes any time. */
static int32_t moment_after(struct engine *engine, int32_t before, struct moment moment)
{
    struct recorder *recorder = engine->recorder;
    int32_t entry;

    if (before >= 0 && moment.end <= end_of(recorder, before))
        return before;
    entry = take_entry(engine);
    if (entry < 0)
        return before;
    moment.before = before;
    recorder->moment[entry] = moment;
    recorder->alive += 1;
    return entry;
}

static int32_t after(struct engine *engine, int32_t before, int32_t node, int64_t end, int deed,
                     int colour)
{
    const int32_t cycle = (int32_t)(end < LAST_CYCLE ? end : LAST_CYCLE);

    return moment_after(engine, before, (struct moment){
        .node = node, .end = cycle, .deed = (int16_t)deed, .colour = (int16_t)colour, .name = -1,
    });
}

/* The moment in which a wavelet is there: it was sent, by a port, a stream or a `main`, came over
 * links, and waited in routers. */
static int32_t arrived(struct engine *engine, struct trail trail, int32_t node, int colour,
                       int64_t ready)
{
    const struct moment *sender = trail.moment < 0 ? NULL
                                : &engine->recorder->moment[trail.moment];
    const int deed = sender == NULL ? STARTED : sender->deed == PORT ? PORT : STREAM;
    int32_t moment = after(engine, trail.moment, sender == NULL ? node : sender->node, trail.sent,
                           deed, colour);

    moment = after(engine, moment, node, ready - trail.waited, LINKS, colour);
    return after(engine, moment, node, ready, ROUTERS_FULL, colour);
}

/* How a PE waited until now: as its state says, or else for what `otherwise` says. */
static int wait_of(const struct node *node, int otherwise)
{
    return node->state >= NO_INPUT ? WAITED + node->state : otherwise;
}

/* ---- What is forgotten ----------------------------------------------------------------------- */

static void mark(struct recorder *recorder, int32_t moment)
{
    while (moment >= 0 && !recorder->moment[moment].marked) {
        recorder->moment[moment].marked = true;
        recorder->alive += 1;
        moment = recorder->moment[moment].before;
    }
}

static void mark_queue(struct recorder *recorder, const struct queue *queue, int32_t capacity)
{
    for (int32_t i = 0; i < queue->count; i += 1) {
        const int32_t at = queue->head + i;

        mark(recorder, queue->parcels[at < capacity ? at : at - capacity].trail.moment);
    }
}

static void mark_node(struct engine *engine, struct node *node)
{
    struct recorder *recorder = engine->recorder;
    const struct router *router = &engine->router[node->id];
    const struct noted *noted = &recorder->noted[node->id];

    for (int32_t k = 0; k < router->routing->channels; k += 1)
        mark_queue(recorder, queue_of(router, &router->routing->channel[k]),
                   router->routing->channel[k].capacity);
    for (int colour = 0; colour < engine->layout->colours; colour += 1) {
        struct intake *intake = intake_of(node, colour);

        if (intake == NULL)
            continue;
        mark_queue(recorder, waiting_in(intake), intake->capacity);
        if (node->filled >> colour & 1)
            mark_queue(recorder, room_of(intake)->entrance, room_of(intake)->entrance_capacity);
    }
    for (int32_t i = 0; i < node->instructions; i += 1) {
        mark(recorder, node->stream[i].before);
        mark(recorder, node->stream[i].behind);
    }
    for (int32_t i = 0; i < node->activations; i += 1)
        mark(recorder, node->activation[i].after);
    mark(recorder, noted->begun);
    mark(recorder, noted->path);
    mark(recorder, noted->released);
}

static void sweep(struct recorder *recorder)
{
    recorder->free = -1;
    for (int32_t i = recorder->moments - 1; i >= 0; i -= 1) {
        struct moment *moment = &recorder->moment[i];

        if (!moment->marked) {
            moment->before = recorder->free;
            recorder->free = i;
        }
        moment->marked = false;
    }
}

/* Between two cycles: forget, where twice as many moments are known as were alive at the last time. */
void record_cycle(struct engine *engine)
{
    struct recorder *recorder = engine->recorder;

    if (recorder->alive < recorder->enough)
        return;
    recorder->alive = 0;
    for (int32_t i = 0; i < engine->size; i += 1)
        mark_node(engine, &engine->node[i]);
    for (int32_t i = 0; i < engine->layout->inlets; i += 1)
        mark(recorder, recorder->port[i]);
    mark(recorder, recorder->last.moment);
    mark(recorder, recorder->done);
    sweep(recorder);
    recorder->enough = 2 * recorder->alive + LEAST_MOMENTS;
}

/* ---- Wavelets -------------------------------------------------------------------------------- */

void record_injected(struct engine *engine, int32_t inlet, struct parcel *parcel)
{
    struct recorder *recorder = engine->recorder;
    const struct inlet *from = &engine->layout->inlet[inlet];

    if (recorder->port[inlet] < 0)
        recorder->port[inlet] = after(engine, -1, from->node, 0, PORT, from->colour);
    parcel->trail = (struct trail){ recorder->port[inlet], (int32_t)engine->now, 0 };
    extend(&engine->layout->record->entered[from->colour], engine->now, engine->now + 1);
}

void record_wait(struct parcel *parcel, int64_t now)
{
    parcel->trail.waited += (int32_t)(now - parcel->ready);
}

void record_delivered(struct engine *engine, int32_t node, int colour,
                      const struct parcel *parcel)
{
    engine->recorder->last_colour = colour;
    engine->recorder->last = parcel->trail;
    engine->recorder->last_node = node;
    extend(&engine->layout->record->left[colour], engine->outcome->cycles - 1,
           engine->outcome->cycles);
}

void record_sent(struct node *node, struct parcel *parcel, int64_t cycle)
{
    parcel->trail = (struct trail){ node->engine->recorder->cause, (int32_t)cycle, 0 };
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

static int32_t cycles_of(const struct spent *spent)
{
    int32_t cycles = 0;

#define ADD(kind) cycles += spent->kind;
    KINDS(ADD)
#undef ADD
    return cycles;
}

/* A task starts which might have started after a moment: but its PE was busy, or had no thread. */
static void begin_after(struct node *node, int32_t moment, const void *task)
{
    struct engine *engine = node->engine;
    struct recorder *recorder = engine->recorder;
    struct noted *noted = &recorder->noted[node->id];
    const struct usage *usage = &engine->layout->usage[node->id];
    int32_t own = noted->path;

    if (node->state == UNDER_WAY && end_of(recorder, noted->released) > end_of(recorder, own))
        own = noted->released;
    if (end_of(recorder, own) >= end_of(recorder, moment))
        moment = own;
    noted->begun = after(engine, moment, node->id, engine->now, wait_of(node, STARTED), -1);
    noted->begin = (int32_t)engine->now;
    noted->computing = usage->lanes;
    noted->memory = usage->memory;
    noted->scalars = cycles_of(&usage->spent);
    noted->datapath = 0;
    noted->name = name_of(engine, task);
    noted->flow = 0;
    recorder->cause = noted->begun;
}

void record_activated(struct node *node, const struct activation *activation)
{
    begin_after(node, activation->after, pointer_of((wavelet_task *)(void (*)(void))activation->task));
}

void record_taken(struct node *node, int colour, const struct parcel *parcel, wavelet_task *task)
{
    struct engine *engine = node->engine;
    const struct trail trail = parcel->trail;

    begin_after(node, arrived(engine, trail, node->id, colour, parcel->ready), pointer_of(task));
    record_arrow(node, colour, trail);
}

/* What the running task did until a cycle. */
static int32_t task_until(struct node *node, int64_t end)
{
    const struct noted *noted = &node->engine->recorder->noted[node->id];
    const struct usage *usage = &node->engine->layout->usage[node->id];

    return moment_after(node->engine, noted->begun, (struct moment){
        .node = node->id, .end = (int32_t)(end < LAST_CYCLE ? end : LAST_CYCLE), .deed = TASK,
        .colour = -1, .name = noted->name, .computing = usage->lanes - noted->computing,
        .memory = usage->memory - noted->memory,
        .scalars = cycles_of(&usage->spent) - noted->scalars,
        .datapath = noted->datapath,
    });
}

void record_finished(struct node *node)
{
    struct noted *noted = &node->engine->recorder->noted[node->id];

    noted->path = task_until(node, node->busy_until);
    record_task(node);
}

/* The task takes a cycle more, in which a stream has its datapath. */
void record_put_off(struct node *node)
{
    struct recorder *recorder = node->engine->recorder;
    struct noted *noted = &recorder->noted[node->id];

    noted->datapath += 1;
    if (noted->path >= 0 && recorder->moment[noted->path].end == node->busy_until - 1) {
        recorder->moment[noted->path].end += 1;
        recorder->moment[noted->path].datapath += 1;
    }
    if (node->finished > node->engine->now)
        record_done(node, node->finished + 1);
    record_longer(node);
}

void record_done(struct node *node, int64_t cycle)
{
    struct recorder *recorder = node->engine->recorder;

    if (!node->engine->running_mains && cycle > end_of(recorder, recorder->done))
        recorder->done = task_until(node, cycle);
}

void record_activation(struct node *node, struct activation *activation)
{
    activation->after = node->engine->running_mains ? -1 : node->engine->recorder->cause;
}

void record_torn_down(struct node *node, int colour, const struct parcel *parcel)
{
    struct engine *engine = node->engine;

    engine->recorder->cause = arrived(engine, parcel->trail, node->id, colour, engine->now);
}

/* ---- Streams --------------------------------------------------------------------------------- */

/* In a cycle streams move before tasks run: what these issue moves in the next one at the earliest. */
void record_issued(struct node *node, struct stream *stream, int64_t start)
{
    struct engine *engine = node->engine;
    const int32_t task = engine->running_mains ? -1 : task_until(node, present(node));

    if (!engine->running_mains && start <= engine->now)
        start = engine->now + 1;
    stream->before = after(engine, task, node->id, start, STARTED, -1);
    stream->behind = -1;
    stream->last = (int32_t)(start < LAST_CYCLE ? start : LAST_CYCLE) - 1;
    stream->first = -1;
    stream->name = engine->recorder->vector_name;
    engine->recorder->vector_name = -1;
}

/* What an element that moves after a gap waited for: the wavelet that it is, or else, since the one
 * before, what the PE waited for. The first one: also the streams before it on its colours, and those
 * that put off its task. */
static int32_t before_moving(struct node *node, const struct instruction *instruction,
                             const struct stream *stream)
{
    struct engine *engine = node->engine;
    const struct recorder *recorder = engine->recorder;
    const int32_t since = stream->last + 1;
    const int colour = instruction->in >= 0 ? instruction->in : instruction->out;
    const struct parcel *head = instruction->in < 0 ? NULL
                              : first_ready(waiting_in(intake_of(node, instruction->in)), engine->now);
    int32_t moment;

    moment = after(engine, stream->before, node->id, since, STREAM, colour);
    if (stream->first < 0 && instruction->start > since)
        moment = after(engine, moment, node->id, instruction->start, DATAPATH, colour);
    if (stream->first < 0 && end_of(recorder, stream->behind) > end_of(recorder, moment))
        moment = stream->behind;
    if (head != NULL && (int32_t)head->ready > since && head->ready > end_of(recorder, moment))
        moment = arrived(engine, head->trail, node->id, colour, head->ready);
    return after(engine, moment, node->id, engine->now, wait_of(node, DATAPATH), colour);
}

/* Before an element moves. */
void record_moved(struct node *node, int32_t i)
{
    struct stream *stream = &node->stream[i];
    const int32_t now = (int32_t)node->engine->now;

    if (stream->last != now - 1)
        stream->before = before_moving(node, &node->instruction[i], stream);
    if (stream->first < 0)
        stream->first = now;
    stream->last = now;
    node->engine->recorder->cause = stream->before;
}

void record_complete(struct node *node, int32_t i)
{
    struct engine *engine = node->engine;
    const struct instruction *instruction = &node->instruction[i];
    const int colour = instruction->in >= 0 ? instruction->in : instruction->out;
    const int32_t moment = after(engine, node->stream[i].before, node->id, engine->now + 1, STREAM,
                                 colour);

    for (int32_t k = i + 1; k < node->instructions; k += 1)
        if ((node->instruction[k].in >= 0 && node->instruction[k].in == instruction->in)
            || (node->instruction[k].out >= 0 && node->instruction[k].out == instruction->out))
            node->stream[k].behind = moment;
    engine->recorder->noted[node->id].released = moment;
    engine->recorder->cause = moment;
    record_stream(node, i);
}

/* ---- The critical path ----------------------------------------------------------------------- */

static struct segment segment_of(const struct recorder *recorder, const struct moment *moment)
{
    const int32_t before = end_of(recorder, moment->before);

    return (struct segment){
        moment->node, before < 0 ? 0 : before, moment->end, moment->deed, moment->colour,
        moment->name, moment->computing, moment->memory, moment->scalars, moment->datapath,
    };
}

/* From the last output, or what was last done where nothing leaves, back to what began it. */
static void tell_path(struct engine *engine)
{
    struct recorder *recorder = engine->recorder;
    struct record *record = engine->layout->record;
    int32_t moment = recorder->done;

    if (engine->layout->outlets > 0)
        moment = arrived(engine, recorder->last, recorder->last_node, recorder->last_colour,
                         engine->outcome->cycles);
    for (; moment >= 0; moment = recorder->moment[moment].before) {
        if (record->segments < record->segment_space)
            record->segment[record->segments] = segment_of(recorder, &recorder->moment[moment]);
        record->segments += 1;
    }
}

void tell_record(struct engine *engine)
{
    const struct recorder *recorder = engine->recorder;
    struct record *record = engine->layout->record;

    if (engine->status == COMPLETE)
        tell_path(engine);
    for (int32_t i = 0; engine->status != COMPLETE && i < engine->size; i += 1)
        record_left(&engine->node[i], engine->outcome->until);
    record->names = recorder->names;
    for (int32_t i = 0; i < recorder->names && i < record->name_space; i += 1)
        record->name[i] = recorder->text[i];
}

bool make_recorder(struct engine *engine)
{
    struct recorder *recorder = zeros(engine, 1, sizeof *recorder);

    engine->recorder = recorder;
    if (recorder == NULL)
        return false;
    recorder->free = recorder->done = recorder->cause = recorder->vector_name = -1;
    recorder->last.moment = -1;
    recorder->enough = LEAST_MOMENTS;
    recorder->noted = zeros(engine, engine->size, sizeof *recorder->noted);
    recorder->port = zeros(engine, engine->layout->inlets, sizeof *recorder->port);
    if (recorder->noted == NULL || recorder->port == NULL)
        return false;
    for (int32_t i = 0; i < engine->size; i += 1)
        recorder->noted[i] = (struct noted){ .begun = -1, .path = -1, .released = -1, .event = -1 };
    for (int32_t i = 0; i < engine->layout->inlets; i += 1)
        recorder->port[i] = -1;
    return true;
}

void release_recorder(struct engine *engine)
{
    if (engine->recorder == NULL)
        return;
    free(engine->recorder->moment);
    free(engine->recorder->noted);
    free(engine->recorder->port);
    release_names(engine->recorder);
    free(engine->recorder);
}

#endif
