/* What the recorder tells of the PEs that it was asked for: tasks, streams, waits, queues, and names. */
#include <stdlib.h>

#include "recording.h"

#ifdef RECORDED

/* ---- Names ----------------------------------------------------------------------------------- */

static struct named *entry_of(const struct recorder *recorder, const void *key)
{
    const uint32_t mask = (uint32_t)recorder->named_size - 1;
    uint32_t at = (uint32_t)((uintptr_t)key >> 2 ^ (uintptr_t)key >> 12) & mask;

    while (recorder->named[at].key != NULL && recorder->named[at].key != key)
        at = (at + 1) & mask;
    return &recorder->named[at];
}

static bool widen_names(struct engine *engine)
{
    struct recorder *recorder = engine->recorder;
    const struct recorder old = *recorder;

    recorder->named_size = old.named_size > 0 ? 2 * old.named_size : 64;
    recorder->named = zeros(engine, recorder->named_size, sizeof *recorder->named);
    if (recorder->named == NULL) {
        *recorder = old;
        return false;
    }
    for (int32_t i = 0; i < old.named_size; i += 1)
        if (old.named[i].key != NULL)
            *entry_of(recorder, old.named[i].key) = old.named[i];
    free(old.named);
    return true;
}

/* What is at an address has a name, as the program spells it; that is there as long as the program. */
static void give_name(struct engine *engine, const void *key, const char *name)
{
    struct recorder *recorder = engine->recorder;
    struct named *entry;

    if (key == NULL || (2 * recorder->names >= recorder->named_size && !widen_names(engine)))
        return;
    entry = entry_of(recorder, key);
    if (entry->key == key)
        return;
    if (recorder->names == recorder->text_space)
        recorder->text = grow(engine, recorder->text, &recorder->text_space,
                              sizeof *recorder->text);
    if (recorder->names == recorder->text_space)
        return;
    *entry = (struct named){ key, recorder->names };
    recorder->text[recorder->names++] = name;
}

int32_t name_of(struct engine *engine, const void *key)
{
    const struct recorder *recorder = engine->recorder;
    const struct named *entry = recorder->named_size > 0 ? entry_of(recorder, key) : NULL;

    return entry != NULL && entry->key == key ? entry->name : -1;
}

void record_name(struct engine *engine, void (*task)(void), const char *name)
{
    give_name(engine, pointer_of((wavelet_task *)task), name);
}

void name_running(struct pe *pe, const char *what)
{
    struct node *node = (struct node *)pe;

    give_name(node->engine, what, what);
    node->engine->recorder->noted[node->id].name = name_of(node->engine, what);
}

/* The vector of the instruction that follows; its text is its own address. */
void name_vector(struct pe *pe, const char *name)
{
    struct engine *engine = ((struct node *)pe)->engine;

    give_name(engine, name, name);
    engine->recorder->vector_name = name_of(engine, name);
}

void release_names(struct recorder *recorder)
{
    free(recorder->named);
    free(recorder->text);
}

/* ---- Events ---------------------------------------------------------------------------------- */

/* Note an event, if it is one of those that were asked for. Returns its number; -1: it is not. */
static int64_t note(struct engine *engine, struct event event)
{
    struct record *record = engine->layout->record;

    if (record->asked == NULL || !record->asked[event.node] || event.begin >= record->to
        || event.begin + (event.kind == QUEUED ? 1 : event.duration) <= record->from)
        return -1;
    if (record->events < record->event_space)
        record->event[record->events] = event;
    record->events += 1;
    return record->events - 1;
}

/* An arrow from where a wavelet was sent to the task that it starts. */
void record_arrow(struct node *node, int colour, struct trail trail)
{
    struct engine *engine = node->engine;
    struct recorder *recorder = engine->recorder;
    const int32_t sender = trail.moment < 0 ? -1 : recorder->moment[trail.moment].node;

    if (sender < 0 || recorder->moment[trail.moment].deed == PORT)
        return;
    if (note(engine, (struct event){ sender, trail.sent, 1, SENT, colour, -1, recorder->flows + 1 })
        >= 0)
        recorder->noted[node->id].flow = ++recorder->flows;
}

/* The phase of the last task of a PE. */
static struct phase *phase_of(const struct node *node)
{
    const struct record *record = node->engine->layout->record;
    const int64_t name = node->engine->recorder->noted[node->id].name;

    return &record->task[node->role * (record->name_space + 1)
                         + (name < record->name_space ? name + 1 : 0)];
}

void record_task(struct node *node)
{
    struct noted *noted = &node->engine->recorder->noted[node->id];
    struct phase *phase = phase_of(node);

    extend(phase, noted->begin, node->busy_until);
    phase->cycles += node->busy_until - noted->begin;
    noted->event = note(node->engine, (struct event){
        node->id, noted->begin, (int32_t)node->busy_until - noted->begin, TASK_RAN, -1, noted->name,
        noted->flow,
    });
}

/* The last task takes a cycle more than was noted. */
void record_longer(struct node *node)
{
    struct record *record = node->engine->layout->record;
    const int64_t event = node->engine->recorder->noted[node->id].event;
    struct phase *phase = phase_of(node);

    phase->cycles += 1;
    if (node->busy_until > phase->end)
        phase->end = (int32_t)node->busy_until;
    if (event >= 0 && event < record->event_space)
        record->event[event].duration += 1;
}

void record_vector(struct node *node, int64_t cycles)
{
    struct engine *engine = node->engine;

    if (!engine->running_mains)
        note(engine, (struct event){
            node->id, (int32_t)(present(node) - cycles), (int32_t)cycles, VECTOR_RAN, -1,
            engine->recorder->vector_name, 0,
        });
}

void record_stream(struct node *node, int32_t i)
{
    const struct instruction *instruction = &node->instruction[i];
    const struct stream *stream = &node->stream[i];
    const int32_t begin = stream->first >= 0 ? stream->first : (int32_t)node->engine->now;

    note(node->engine, (struct event){
        node->id, begin, (int32_t)node->engine->now + 1 - begin, STREAMED,
        instruction->in >= 0 ? instruction->in : instruction->out, stream->name, 0,
    });
}

/* The run stops: what came, or went, of streams that are under way. */
void record_left(struct node *node, int64_t until)
{
    for (int32_t i = 0; i < node->instructions; i += 1) {
        const struct instruction *instruction = &node->instruction[i];
        const struct stream *stream = &node->stream[i];
        const int32_t begin = stream->first >= 0 ? stream->first : stream->last + 1;

        if (!instruction->endless && instruction->kind != RESTART && begin < until)
            note(node->engine, (struct event){
                node->id, begin, (int32_t)until - begin, STREAMED,
                instruction->in >= 0 ? instruction->in : instruction->out, stream->name, 0,
            });
    }
}

/* The PE was in its state until a cycle. */
void record_state(struct node *node, int64_t until)
{
    if (node->state >= NO_INPUT && until > node->since)
        note(node->engine, (struct event){
            node->id, node->since, (int32_t)until - node->since, WAITING, node->state, -1, 0,
        });
}

void record_queue(struct node *node, int colour, int32_t count)
{
    note(node->engine, (struct event){
        node->id, (int32_t)node->engine->now, count, QUEUED, colour, -1, 0,
    });
}

#endif
