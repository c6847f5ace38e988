/* A fabric that can no longer move: who waits, on which colour, and for what. */
#include <stdarg.h>
#include <stdio.h>

#include "waiting.h"

enum { MAX_LINES = 6 };

void say(struct report *report, const char *format, ...)
{
    const size_t room = REPORT_SIZE - report->length;
    va_list arguments;
    int wanted;

    va_start(arguments, format);
    wanted = vsnprintf(report->engine->outcome->report + report->length, room, format, arguments);
    va_end(arguments);
    if (wanted > 0)
        report->length += (size_t)wanted < room ? (size_t)wanted : room - 1;
}

void note_told(struct report *report, const void *thing)
{
    if (report->things < MAX_THINGS)
        report->thing[report->things++] = thing;
}

/* Whether a thing that waits gets a line: it was not told before, and there is room. */
static bool begins(struct report *report, const void *thing)
{
    report->found += 1;
    for (int k = 0; k < report->things; k += 1)
        if (report->thing[k] == thing)
            return false;
    if (report->lines == 0)
        say(report, "what %swaits, in order:\n",
            report->engine->outcome->steps > 0 ? "else " : "");
    report->lines += 1;
    report->left_out += report->lines > MAX_LINES;
    if (report->lines <= MAX_LINES)
        say(report, "  ");
    return report->lines <= MAX_LINES;
}

const char *colour_name(const struct report *report, int colour)
{
    return report->engine->layout->colour_names[colour];
}

/* A PE by its place and, if it has a program, its role. */
void say_pe(struct report *report, int32_t node)
{
    const struct node *pe = &report->engine->node[node];

    say(report, "PE[%d, %d]", x_of(pe), y_of(pe));
    if (pe->role >= 0)
        say(report, " (%s)", report->engine->layout->programs[pe->role]->name);
}

/* ---- One PE ---------------------------------------------------------------------------------- */

void say_instruction(struct report *report, const struct node *node, int32_t i)
{
    static const char *const verbs[] = {
        [SEND] = "sends", [RECEIVE] = "receives", [ACCUMULATE] = "accumulates",
        [COMBINE] = "combines", [PASS] = "passes", [WAVELET] = "sends",
    };
    const struct instruction *instruction = &node->instruction[i];
    const struct stream *stream = &node->stream[i];
    const int64_t total = stream->vector == NULL ? 1 : points(&stream->vector->sizes);
    const int colour = instruction->in >= 0 ? instruction->in : instruction->out;

    note_told(report, instruction);
    say_pe(report, node->id);
    say(report, " %s on %s", verbs[instruction->kind], colour_name(report, colour));
    if (instruction->in >= 0 && instruction->out >= 0)
        say(report, " to %s", colour_name(report, instruction->out));
    if (instruction->endless)
        say(report, " what comes");
    else
        say(report, ": %lld of %lld elements to go", (long long)stream->left, (long long)total);
}

static void report_instruction(struct report *report, const struct node *node, int32_t i)
{
    const struct instruction *instruction = &node->instruction[i];

    if (instruction->endless || instruction->kind == RESTART || !begins(report, instruction))
        return;
    say_instruction(report, node, i);
    say(report, "\n");
}

static const char *reason_to_wait(const struct node *node, int colour)
{
    struct intake *intake = intake_of(node, colour);
    const struct queue *queue = waiting_in(intake);
    const bool control = queue->parcels[queue->head].control;

    if (colours_received(node) >> colour & 1)
        return control ? "a control wavelet heads a stream" : "the stream waits";
    if ((control ? intake->control : intake->data) == NULL)
        return control ? "no task reacts to a control wavelet" : "no task reacts to an element";
    if (intake->blocked)
        return "the colour is blocked";
    if (is_crowded(node))
        return "all threads are taken";
    return intake->passes && node->full >> intake->out & 1 ? "it is to be forwarded"
                                                           : "its task is to begin";
}

void say_intake(struct report *report, const struct node *node, int colour)
{
    const struct intake *intake = intake_of(node, colour);
    const bool filled = node->filled >> colour & 1;
    const struct queue *before = filled ? room_of(intake)->entrance : NULL;
    const int32_t count = waiting_in(intake_of(node, colour))->count + (filled ? before->count : 0);

    note_told(report, intake);
    say_pe(report, node->id);
    say(report, " leaves %d wavelet%s on %s waiting: %s", count, count == 1 ? "" : "s",
        colour_name(report, colour), reason_to_wait(node, colour));
    if (filled && before->count == room_of(intake)->entrance_capacity)
        say(report, ", and its FIFO for %d is full", intake->capacity);
}

static void report_node(struct report *report, const struct node *node)
{
    const struct layout *layout = report->engine->layout;
    const int before = report->found;

    for (int32_t i = 0; i < node->instructions; i += 1)
        report_instruction(report, node, i);
    for (int colour = 0; colour < layout->colours; colour += 1) {
        struct intake *intake = intake_of(node, colour);

        if (intake != NULL && waiting_in(intake)->count > 0 && begins(report, intake)) {
            say_intake(report, node, colour);
            say(report, "\n");
        }
    }
    if (report->found == before && node->invocations < layout->invocations
        && begins(report, node)) {
        say_pe(report, node->id);
        say(report, " waits for wavelets: %d of %d invocations are done\n", node->invocations,
            layout->invocations);
    }
}

/* ---- Switches -------------------------------------------------------------------------------- */

/* The commands that a control wavelet still carries, or nothing of an element. */
static void say_commands(struct report *report, const struct parcel *parcel)
{
    static const char *const names[] = { "NOP", "ADVANCE", "RESET", "TEARDOWN" };
    uint32_t bits = parcel->bits;

    if (!(parcel->control & CONTROL))
        return;
    say(report, " (the first says ");
    for (int k = 0; k == 0 || bits >> FIRST & 3 || bits & UINT16_MAX; k += 1) {
        say(report, "%s%s", k == 0 ? "" : ", ", names[bits >> FIRST & 3]);
        bits = popped(bits);
    }
    say(report, ")");
}

/* What waits in a router. */
void say_channel(struct report *report, int32_t node, const struct channel *channel)
{
    static const char *const sides[] = { "north", "east", "south", "west", "ramp" };
    const struct queue *queue = queue_of(&report->engine->router[node], channel);
    const struct node *pe = &report->engine->node[node];

    note_told(report, queue);
    say(report, "the router of PE[%d, %d] leaves %d wavelet%s on %s from the %s waiting", x_of(pe),
        y_of(pe), queue->count, queue->count == 1 ? "" : "s", colour_name(report, channel->colour), sides[channel->side]);
    say_commands(report, &queue->parcels[queue->head]);
}

void say_switch(struct report *report, int32_t node, int colour)
{
    const uint8_t switched = *switch_of(report->engine, node, colour);

    say(report, "%sin position %d of %d", is_down(switched) ? "torn down " : "",
        position_of(switched) + 1, last_position(switched) + 1);
}

/* What waits on a side from which the switch has turned. */
static void report_channel(struct report *report, int32_t node, const struct channel *channel)
{
    const uint8_t switched = *switch_of(report->engine, node, channel->colour);
    const struct queue *queue = queue_of(&report->engine->router[node], channel);

    if (queue->count == 0 || (channel->out[position_of(switched)] != 0 && !is_down(switched))
        || !begins(report, queue))
        return;
    say_channel(report, node, channel);
    say(report, ": its switch is ");
    say_switch(report, node, channel->colour);
    say(report, "\n");
}

/* ---- Ports ----------------------------------------------------------------------------------- */

static void report_inlet(struct report *report, int32_t i)
{
    const struct inlet *inlet = &report->engine->layout->inlet[i];
    const int64_t left = inlet->total - report->engine->inlet_count[i];
    const struct node *pe = &report->engine->node[inlet->node];

    if (left > 0 && begins(report, inlet))
        say(report, "the external PE beside PE[%d, %d] has %lld of %lld wavelets on %s to "
            "inject\n", x_of(pe), y_of(pe), (long long)left, (long long)inlet->total,
            colour_name(report, inlet->colour));
}

static int64_t wanted_by(const struct outlet *outlet)
{
    return outlet->ends > 0 ? outlet->ends : outlet->count;
}

/* The elements, or sequences, that an external PE does not have. */
int64_t count_missing(const struct engine *engine, int32_t i)
{
    const struct outlet *outlet = &engine->layout->outlet[i];

    return wanted_by(outlet)
         - (outlet->ends > 0 ? engine->outlet_ends[i] : engine->outlet_count[i]);
}

void say_missing(struct report *report, int32_t i)
{
    const struct outlet *outlet = &report->engine->layout->outlet[i];
    const struct node *pe = &report->engine->node[outlet->node];
    const int64_t wanted = wanted_by(outlet);

    note_told(report, outlet);
    say(report, "the external PE beside PE[%d, %d] got %lld of %lld %s", x_of(pe), y_of(pe),
        (long long)(wanted - count_missing(report->engine, i)), (long long)wanted,
        outlet->ends > 0 ? "sequences" : "elements");
}

static void report_outlet(struct report *report, int32_t i)
{
    if (count_missing(report->engine, i) == 0
        || !begins(report, &report->engine->layout->outlet[i]))
        return;
    say_missing(report, i);
    say(report, "\n");
}

/* ---- The whole fabric ------------------------------------------------------------------------ */

static void report_all(struct report *report)
{
    const struct engine *engine = report->engine;

    for (int32_t i = 0; i < engine->size; i += 1)
        if (engine->node[i].role >= 0)
            report_node(report, &engine->node[i]);
    for (int32_t i = 0; i < engine->size; i += 1)
        for (int32_t k = 0; k < engine->router[i].routing->channels; k += 1)
            report_channel(report, i, &engine->router[i].routing->channel[k]);
    for (int32_t i = 0; i < engine->layout->inlets; i += 1)
        report_inlet(report, i);
    for (int32_t i = 0; i < engine->layout->outlets; i += 1)
        report_outlet(report, i);
}

static void say_undone(struct report *report, int64_t last, bool late)
{
    const struct engine *engine = report->engine;

    say(report, "%s after cycle %lld: %d %s not done, %lld output %s missing\n",
        late ? "the cycle limit was reached" : "the fabric can no longer move", (long long)last,
        engine->running, engine->running == 1 ? "PE is" : "PEs are",
        (long long)engine->expected, engine->expected == 1 ? "wavelet is" : "wavelets are");
}

static void say_rest(struct report *report, int64_t last)
{
    say(report, "the fabric came to rest after cycle %lld, all PEs are done, and it leaves",
        (long long)last);
    say_remains(report);
    say(report, "\n");
}

/* First why it stops, then what else waits, in order, of which only so much is told. */
void report_stuck(struct engine *engine)
{
    struct report report = { .engine = engine };
    const bool late = engine->status == OUT_OF_CYCLES;
    const int64_t last = late || engine->now == 0 ? engine->now : engine->now - 1;

    engine->status = late ? OUT_OF_CYCLES : STUCK;
    if (is_done(engine) && !late)
        say_rest(&report, last);
    else
        say_undone(&report, last, late);
    if (late)
        tell_last(&report);
    explain(&report);
    report_all(&report);
    if (report.left_out > 0)
        say(&report, "  and %d more\n", report.left_out);
}
