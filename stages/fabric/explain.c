/* The circle or chain of waiting as lines, as steps for a picture, and its cause in words. */
#include <stdlib.h>

#include "waiting.h"

enum { FIRST_LINES = 4, LAST_LINES = 8, NAMED = 4, OUTLET = -1, NOBODY = -2 };

/* A chain, why each place of it waits, and those that are told, by index; an external PE that
 * misses something comes first, as OUTLET. */
struct told {
    struct report *report;
    struct engine *engine;
    struct chain chain;
    enum wait_kind *kind;
    int32_t *index;
    int32_t count;
};

/* ---- What is told ---------------------------------------------------------------------------- */

static int32_t begin_of(const struct told *told)
{
    return told->chain.circle < 0 ? 0 : told->chain.circle;
}

/* The place that follows in the chain, or round the circle; NOBODY at the end. */
static int32_t follow(const struct told *told, int32_t i)
{
    if (i + 1 < told->chain.length)
        return i + 1;
    return told->chain.circle < 0 ? NOBODY : told->chain.circle;
}

static bool is_full(enum wait_kind kind)
{
    return kind == FULL || kind == LACKS_SPACE || kind == NOT_FORWARDED;
}

/* Queues on the way are told with who waits for them. */
static bool is_told(const struct told *told, int32_t i)
{
    const int32_t last = told->chain.length - 1;
    const bool first = i == begin_of(told);

    if (follow(told, i) != NOBODY && (told->kind[i] == FOLLOWS || told->kind[i] == EMPTY))
        return false;
    if (told->kind[i] != FULL || (first && told->chain.circle < 0))
        return true;
    return !is_full(told->kind[first ? last : i - 1]);
}

static enum wait_kind kind_of(const struct told *told, int32_t i)
{
    return i == OUTLET ? MISSES : told->kind[i];
}

static int colour_of(const struct told *told, int32_t i)
{
    const struct engine *engine = told->engine;

    if (i == OUTLET)
        return colour_at(engine, told->chain.place[0]);
    return colour_at(engine, told->chain.place[i]);
}

static int32_t node_of(const struct told *told, int32_t i)
{
    if (i == OUTLET)
        return told->engine->layout->outlet[told->chain.outlet].node;
    return node_at(told->chain.place[i]);
}

/* The one told after the k-th; NOBODY if that is the last one of a chain. */
static int32_t told_after(const struct told *told, int32_t k)
{
    if (k + 1 < told->count)
        return told->index[k + 1];
    return told->chain.circle < 0 ? NOBODY : told->index[0];
}

static bool begin_told(struct told *told)
{
    const int32_t length = told->chain.length;
    struct wait wait;

    told->kind = zeros(told->engine, length, sizeof *told->kind);
    told->index = zeros(told->engine, length + 1, sizeof *told->index);
    if (told->kind == NULL || told->index == NULL)
        return false;
    for (int32_t i = 0; i < length; i += 1) {
        find_waits(told->engine, told->chain.place[i], &wait);
        told->kind[i] = wait.kind;
    }
    if (told->chain.circle < 0 && told->chain.outlet >= 0)
        told->index[told->count++] = OUTLET;
    for (int32_t i = begin_of(told); i < length; i += 1)
        if (is_told(told, i))
            told->index[told->count++] = i;
    return told->count > 0;
}

/* ---- Words ----------------------------------------------------------------------------------- */

static const char *plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

/* Who is waited for, in a few words. */
static void say_who(const struct told *told, int32_t i)
{
    const struct node *pe = &told->engine->node[node_of(told, i)];
    const bool outside = kind_of(told, i) == SENT_ALL || i == OUTLET;

    say(told->report, "%sPE[%d, %d]",
        outside ? "the external PE beside "
                : is_channel(told->chain.place[i]) ? "the router of " : "", x_of(pe), y_of(pe));
}

/* Whether the filter of a PE drops some of what may come. */
static const struct filter *filter_of(const struct told *told, int32_t i)
{
    const struct filter *const *filters = told->engine->layout->filter;
    const struct filter *filter;

    if ((kind_of(told, i) != RECEIVES && kind_of(told, i) != REACTS)
        || filters[colour_of(told, i)] == NULL)
        return NULL;
    filter = &filters[colour_of(told, i)][node_of(told, i)];
    return filter->least > 0 || filter->greatest < UINT16_MAX ? filter : NULL;
}

/* The side of a router that someone asks for what comes. */
static int side_asked(const struct told *told, int32_t i)
{
    if (i == OUTLET)
        return told->engine->layout->outlet[told->chain.outlet].side;
    if (!is_channel(told->chain.place[i]))
        return RAMP;
    return (channel_at(told->engine, told->chain.place[i])->side + 2) % 4;
}

/* On an empty way, the first place in a router whose switch has turned to other sides, if it is not
 * told by itself; NOBODY if there is none. */
static int32_t find_turned(const struct told *told, int32_t from, int32_t to)
{
    for (int32_t i = from; i != to; i = follow(told, i)) {
        const int32_t next = follow(told, i);
        const int64_t place = told->chain.place[next];
        const struct channel *channel;
        uint8_t switched;

        if (!is_channel(place) || kind_of(told, i) == TURNED || kind_of(told, next) == TURNED)
            return NOBODY;
        channel = channel_at(told->engine, place);
        switched = *switch_of(told->engine, node_at(place), channel->colour);
        if (!(channel->out[position_of(switched)] >> side_asked(told, i) & 1))
            return next;
    }
    return NOBODY;
}

static void say_turned(const struct told *told, int32_t from, int32_t to)
{
    const int32_t turned = find_turned(told, from, to);

    if (turned == NOBODY)
        return;
    say(told->report, "; there the switch of PE[%d, %d] is ",
        x_of(&told->engine->node[node_of(told, turned)]),
        y_of(&told->engine->node[node_of(told, turned)]));
    say_switch(told->report, node_of(told, turned), colour_of(told, turned));
}

static void say_empty(const struct told *told, int32_t i, int32_t next)
{
    const struct filter *filter = filter_of(told, i);

    say(told->report, ", and no %s ", colour_name(told->report, colour_of(told, i)));
    if (filter != NULL)
        say(told->report, "that its filter passes, with an index from %d to %d, ", filter->least,
            filter->greatest);
    say(told->report, "is on its way from ");
    say_who(told, next);
    say_turned(told, i, next);
}

static void say_full(const struct told *told, int32_t i, int32_t next)
{
    const int32_t there = node_of(told, next);
    const int32_t queue = follow(told, i);

    say(told->report, ", and %s has no space",
        colour_name(told->report, colour_of(told, queue)));
    if (there != node_of(told, i))
        say(told->report, " up to PE[%d, %d]", x_of(&told->engine->node[there]),
            y_of(&told->engine->node[there]));
}

/* ---- One line -------------------------------------------------------------------------------- */

static void say_place(const struct told *told, int32_t i)
{
    const int32_t id = node_of(told, i);
    const int64_t place = told->chain.place[i];
    const struct node *node = &told->engine->node[id];
    const struct instruction *instruction;

    if (is_channel(place)) {
        say_channel(told->report, id, channel_at(told->engine, place));
        return;
    }
    instruction = first_on(node, colour_of(told, i), number_at(place) < SEND_PLACES);
    if (instruction != NULL) {
        say_instruction(told->report, node, (int32_t)(instruction - node->instruction));
        return;
    }
    say_intake(told->report, node, colour_of(told, i));
}

static void say_whole(const struct told *told, int32_t i)
{
    const struct layout *layout = told->engine->layout;
    const struct node *node = &told->engine->node[node_of(told, i)];

    note_told(told->report, node);
    say_pe(told->report, node->id);
    if (node->role < 0)
        say(told->report, " has no program");
    else if (kind_of(told, i) == REACTS)
        say(told->report, " waits for wavelets on %s",
            colour_name(told->report, colour_of(told, i)));
    else
        say(told->report, " starts no task");
    if (node->role >= 0)
        say(told->report, ": %d of %d invocations are done", node->invocations,
            layout->invocations);
}

static void say_port(const struct told *told, int32_t i)
{
    const struct source *source = source_at(told->engine, told->chain.place[i]);
    const int colour = colour_of(told, i);
    int64_t total = 0;

    for (int32_t k = 0; source != NULL && k < source->inlets; k += 1)
        if (told->engine->layout->inlet[source->first + k].colour == colour)
            total += told->engine->layout->inlet[source->first + k].total;
    say_who(told, i);
    say(told->report, " has sent all of its %lld wavelets on %s", (long long)total,
        colour_name(told->report, colour));
}

/* What moves at the limit of cycles. */
static void say_moving(const struct told *told, int32_t i)
{
    if (number_at(told->chain.place[i]) == WHOLE_PE) {
        note_told(told->report, &told->engine->node[node_of(told, i)]);
        say_pe(told->report, node_of(told, i));
        say(told->report, " is at work");
        return;
    }
    say(told->report, "%s moves on at ", colour_name(told->report, colour_of(told, i)));
    say_who(told, i);
}

static void say_subject(const struct told *told, int32_t i)
{
    switch (kind_of(told, i)) {
    case MISSES: say_missing(told->report, told->chain.outlet); break;
    case SENT_ALL: say_port(told, i); break;
    case MOVES: say_moving(told, i); break;
    case REACTS: case NOT_ACTIVATED: case IS_DONE: case FOLLOWS: say_whole(told, i); break;
    case CROWDED:
        if (number_at(told->chain.place[i]) == WHOLE_PE)
            say_whole(told, i);
        else
            say_place(told, i);
        break;
    default: say_place(told, i);
    }
}

/* The k-th line: who waits, and for what of the next one. */
static void say_step(const struct told *told, int32_t k)
{
    const int32_t i = told->index[k], next = told_after(told, k);
    const enum wait_kind kind = kind_of(told, i);

    say_subject(told, i);
    if (kind == HEADED) {
        note_told(told->report, intake_of(&told->engine->node[node_of(told, i)],
                                          colour_of(told, i)));
        say(told->report, ", and a control wavelet heads the stream");
    }
    if (kind == BEHIND)
        say(told->report, ", behind another stream");
    if (kind == TURNED || kind == TORN_DOWN) {
        say(told->report, ": its switch is ");
        say_switch(told->report, node_of(told, i), colour_of(told, i));
    }
    if (next != NOBODY && is_full(kind))
        say_full(told, i, next);
    else if (next != NOBODY && (kind == MISSES || kind == RECEIVES || kind == REACTS
                                || (kind == TURNED && kind_of(told, next) != FULL)))
        say_empty(told, i, next);
    say(told->report, "\n");
}

/* ---- Why ------------------------------------------------------------------------------------- */

/* What one that waits should have got. */
static void say_owed(const struct told *told, int32_t k)
{
    const int32_t i = k < 0 ? NOBODY : told->index[k];
    const struct node *node = i == NOBODY ? NULL : &told->engine->node[node_of(told, i)];
    const char *name = i == NOBODY ? "" : colour_name(told->report, colour_of(told, i));
    int64_t left;

    if (i == NOBODY)
        return;
    if (kind_of(told, i) == MISSES) {
        left = count_missing(told->engine, told->chain.outlet);
        say(told->report, "%lld more %s%s on %s", (long long)left,
            told->engine->layout->outlet[told->chain.outlet].ends > 0 ? "sequence" : "element",
            plural(left), name);
    } else if (kind_of(told, i) == RECEIVES && !first_on(node, colour_of(told, i), true)->endless) {
        left = node->stream[first_on(node, colour_of(told, i), true) - node->instruction].left;
        say(told->report, "%lld more element%s on %s", (long long)left, plural(left), name);
    } else if (kind_of(told, i) == TURNED) {
        say(told->report, "a control wavelet on %s that turns the switch of PE[%d, %d]", name,
            x_of(node), y_of(node));
    } else {
        say(told->report, "more on %s", name);
    }
}

static bool passes(const struct filter *filter, uint32_t bits)
{
    const int32_t index = (int32_t)(bits >> 16);

    return index >= filter->least && index <= filter->greatest;
}

/* Of the elements that an external PE has sent on a colour those that a filter passes, or all. */
static int64_t count_sent(const struct told *told, int32_t i, const struct filter *filter)
{
    const struct layout *layout = told->engine->layout;
    const struct source *source = source_at(told->engine, told->chain.place[i]);
    int64_t count = 0;

    for (int32_t k = 0; source != NULL && k < source->inlets; k += 1) {
        const struct inlet *inlet = &layout->inlet[source->first + k];
        int64_t of_one = 0;

        if (inlet->colour != colour_of(told, i) || inlet->count == 0)
            continue;
        for (int64_t item = inlet->first; item < inlet->first + inlet->count; item += 1)
            of_one += !layout->sent_control[item]
                   && (filter == NULL || passes(filter, layout->sent[item]));
        count += of_one * (inlet->total / inlet->count);
    }
    return count;
}

/* The end of a chain is a port that has sent all, and who waits may filter that. */
static void say_exhausted(const struct told *told, int32_t k)
{
    const struct filter *filter = k == 0 ? NULL : filter_of(told, told->index[k - 1]);
    const int32_t i = told->index[k];

    if (filter != NULL) {
        say(told->report, "the filter of PE[%d, %d] passes %lld of the %lld elements that ",
            x_of(&told->engine->node[node_of(told, told->index[k - 1])]),
            y_of(&told->engine->node[node_of(told, told->index[k - 1])]),
            (long long)count_sent(told, i, filter), (long long)count_sent(told, i, NULL));
        say_who(told, i);
        say(told->report, " has sent on %s, and should have passed ",
            colour_name(told->report, colour_of(told, i)));
    } else {
        say_who(told, i);
        say(told->report, " should have sent ");
    }
    say_owed(told, k - 1);
}

/* Whoever sends no more, or never did. */
static void say_silent(const struct told *told, int32_t k)
{
    const int32_t i = told->index[k];
    const struct node *node = &told->engine->node[node_of(told, i)];

    if (k > 0) {
        say_pe(told->report, node->id);
        say(told->report, " should have sent ");
        say_owed(told, k - 1);
        say(told->report, ", and ");
    }
    if (node->role < 0)
        say(told->report, "has no program");
    else if (kind_of(told, i) == IS_DONE)
        say(told->report, "all its invocations are done");
    else
        say(told->report, "nothing activates a task");
    if (k == 0) {
        say(told->report, " of ");
        say_pe(told->report, node->id);
    }
}

/* A PE does not take what came. */
static void say_left(const struct told *told, int32_t i)
{
    const struct node *node = &told->engine->node[node_of(told, i)];
    const char *name = colour_of(told, i) < 0 ? ""
                     : colour_name(told->report, colour_of(told, i));

    switch (kind_of(told, i)) {
    case IS_BLOCKED: say(told->report, "nothing unblocks %s at ", name); break;
    case NOT_TAKEN: say(told->report, "no task reacts to what is first on %s, and no stream "
                        "receives it, at ", name); break;
    case HEADED: say(told->report, "a control wavelet on %s ends what a stream receives before its "
                     "last element at ", name); break;
    case TORN_DOWN: say(told->report, "nothing restarts %s, which was torn down at ", name); break;
    case TURNED: say(told->report, "nothing turns the switch of %s at ", name); break;
    default: say(told->report, "FIFOs take all %d threads of ",
                 told->engine->layout->machine.threads);
    }
    say_pe(told->report, node->id);
}

/* The PEs of a circle, each once, and what it lacks. */
static void say_circle(const struct told *told)
{
    bool full = false, crowded = false;
    const int32_t first = node_of(told, told->index[0]);
    int32_t named = 0, left_out = 0, last = -1;

    for (int32_t k = 0; k < told->count; k += 1) {
        const int32_t node = node_of(told, told->index[k]);

        full |= is_full(kind_of(told, told->index[k]));
        crowded |= kind_of(told, told->index[k]) == CROWDED;
        if (node == last || (last >= 0 && k == told->count - 1 && node == first))
            continue;
        last = node;
        left_out += named == NAMED;
        if (named < NAMED) {
            say(told->report, named > 0 ? ", " : "");
            say_pe(told->report, node);
            named += 1;
        }
    }
    if (left_out > 0)
        say(told->report, " and %d more", left_out);
    say(told->report, named > 1 ? " wait for each other" : " waits for itself");
    say(told->report, full ? ": nobody takes before it has sent"
                           : ": nobody sends before it has received");
    if (crowded)
        say(told->report, ", and no thread is left for a task");
}

/* What else may be at fault: a PE that waits for more may not have to; what was sent may have gone
 * elsewhere. */
static void say_otherwise(const struct told *told, int32_t k)
{
    const int32_t turned = k == 0 ? NOBODY : find_turned(told, told->index[k - 1], told->index[k]);

    if (k > 1 && kind_of(told, told->index[k - 1]) == REACTS) {
        const int32_t before = told->index[k - 2];

        say(told->report, ", or ");
        say_pe(told->report, node_of(told, told->index[k - 1]));
        if (kind_of(told, before) == IS_BLOCKED || kind_of(told, before) == NOT_TAKEN) {
            say(told->report, " should have taken %s",
                colour_name(told->report, colour_of(told, before)));
        } else {
            say(told->report, " should have sent ");
            say_owed(told, k - 2);
        }
    }
    if (turned != NOBODY)
        say(told->report, ", or the switch of PE[%d, %d] turned too early",
            x_of(&told->engine->node[node_of(told, turned)]),
            y_of(&told->engine->node[node_of(told, turned)]));
}

/* The limit of cycles came first: to what moves, or to a PE that does not come to an end. */
static void say_on_its_way(const struct told *told, int32_t i)
{
    const struct node *node = &told->engine->node[node_of(told, i)];

    if (number_at(told->chain.place[i]) == WHOLE_PE && node->ran != 0)
        say_runs(told->report, node);
    else
        say(told->report, "what is waited for is still on its way");
}

static void say_cause(const struct told *told)
{
    const int32_t k = told->count - 1, i = told->index[k];

    say(told->report, "so: ");
    if (told->chain.circle >= 0) {
        say_circle(told);
    } else switch (kind_of(told, i)) {
    case SENT_ALL: say_exhausted(told, k); say_otherwise(told, k); break;
    case NOT_ACTIVATED: case IS_DONE: say_silent(told, k); say_otherwise(told, k); break;
    case MOVES: say_on_its_way(told, i); break;
    case FOLLOWS: case REACTS: case EMPTY: case RECEIVES: case MISSES: case FULL:
        say(told->report, "who of several should send is open"); break;
    default: say_left(told, i);
    }
    say(told->report, "\n");
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* x and y, of the layout; of an external PE those outside. */
static void place_step(const struct told *told, int32_t i, int32_t at[2])
{
    static const int32_t steps[SIDES][2] = { { 0, -1 }, { 1, 0 }, { 0, 1 }, { -1, 0 }, { 0, 0 } };
    const struct node *node = &told->engine->node[node_of(told, i)];
    int side = RAMP;

    if (i == OUTLET)
        side = told->engine->layout->outlet[told->chain.outlet].side;
    else if (kind_of(told, i) == SENT_ALL)
        side = channel_at(told->engine, told->chain.place[i])->side;
    at[0] = x_of(node) + steps[side][0];
    at[1] = y_of(node) + steps[side][1];
}

static void keep_step(const struct told *told, int32_t k, int32_t at)
{
    struct outcome *outcome = told->engine->outcome;
    const int32_t next = told_after(told, k);
    struct waiting_step *step;

    if (k >= MAX_STEPS / 2 && k < told->count - MAX_STEPS / 2)
        return;
    step = &outcome->step[outcome->steps++];
    place_step(told, told->index[k], step->from);
    place_step(told, next == NOBODY ? told->index[k] : next, step->to);
    step->colour = colour_of(told, told->index[k]);
    step->kind = (int32_t)kind_of(told, told->index[k]);
    step->at = at;
}

static void say_chain(const struct told *told)
{
    const int32_t left_out = told->count - FIRST_LINES - LAST_LINES;

    say(told->report, told->chain.circle >= 0
        ? "it waits in a circle, each for the next one, the last for the first:\n"
        : told->count > 1 ? "it waits in a chain, each for the next one:\n"
                          : "it waits here:\n");
    for (int32_t k = 0; k < told->count; k += 1) {
        const bool skipped = k >= FIRST_LINES && k < told->count - LAST_LINES;
        const size_t at = told->report->length;

        if (skipped && k == FIRST_LINES)
            say(told->report, "  ... %d more ...\n", left_out);
        if (!skipped) {
            say(told->report, "  ");
            say_step(told, k);
        }
        keep_step(told, k, skipped ? -1 : (int32_t)at);
    }
}

/* Why the fabric stops, if that can be told. */
void explain(struct report *report)
{
    struct outcome *outcome = report->engine->outcome;
    struct told told = { .report = report, .engine = report->engine,
                         .chain = find_chain(report->engine) };

    if (told.chain.length > 0 && begin_told(&told)) {
        say_chain(&told);
        outcome->circle = told.chain.circle >= 0;
        outcome->left_out = told.count - outcome->steps;
        outcome->cause = (int32_t)report->length;
        say_cause(&told);
    }
    free(told.index);
    free(told.kind);
    free(told.chain.place);
}
