/* A fabric that can no longer move: who waits, on which colour, and for what. */
#include <stdarg.h>
#include <stdio.h>

#include "engine.h"

enum { MAX_LINES = 9 };

struct report {
    struct engine *engine;
    size_t length;
    int lines, left_out;
};

static void append(struct report *report, const char *format, va_list arguments)
{
    const size_t room = REPORT_SIZE - report->length;
    const int wanted = vsnprintf(report->engine->outcome->report + report->length, room, format,
                                 arguments);

    if (wanted > 0)
        report->length += (size_t)wanted < room ? (size_t)wanted : room - 1;
}

__attribute__((format(printf, 2, 3)))
static void line(struct report *report, const char *format, ...)
{
    va_list arguments;

    report->lines += 1;
    if (report->lines > MAX_LINES) {
        report->left_out += 1;
        return;
    }
    va_start(arguments, format);
    append(report, format, arguments);
    va_end(arguments);
}

static const char *colour_name(const struct report *report, int colour)
{
    return report->engine->layout->colour_names[colour];
}

static const char *role_name(const struct report *report, const struct node *node)
{
    return report->engine->layout->programs[node->role]->name;
}

/* ---- One PE ---------------------------------------------------------------------------------- */

static void report_instruction(struct report *report, const struct node *node, int32_t i)
{
    static const char *const verbs[] = {
        [SEND] = "sends", [RECEIVE] = "receives", [ACCUMULATE] = "accumulates",
        [COMBINE] = "combines", [PASS] = "passes", [WAVELET] = "sends",
    };
    const struct instruction *instruction = &node->instruction[i];
    const struct stream *stream = &node->stream[i];
    const int64_t total = stream->vector == NULL ? 1 : points(&stream->vector->sizes);
    const int colour = instruction->in >= 0 ? instruction->in : instruction->out;
    const bool both = instruction->kind == COMBINE || instruction->kind == PASS;
    const char *to = both ? " to " : "";
    const char *out = both ? colour_name(report, instruction->out) : "";

    if (instruction->endless || instruction->kind == RESTART)
        return;
    line(report, "  PE[%d, %d] (%s) %s on %s%s%s: %lld of %lld elements to go\n", node->pe.x,
         node->pe.y, role_name(report, node), verbs[instruction->kind],
         colour_name(report, colour), to, out,
         (long long)stream->left, (long long)total);
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
    return "all threads are taken";
}

static void report_intake(struct report *report, const struct node *node, int colour)
{
    struct intake *intake = intake_of(node, colour);
    const int32_t before = node->filled >> colour & 1 ? room_of(intake)->entrance->count : 0;

    if (intake != NULL && waiting_in(intake)->count > 0)
        line(report, "  PE[%d, %d] (%s) leaves %d wavelets on %s waiting: %s\n", node->pe.x,
             node->pe.y, role_name(report, node), waiting_in(intake)->count + before,
             colour_name(report, colour), reason_to_wait(node, colour));
}

static void report_node(struct report *report, const struct node *node)
{
    const struct layout *layout = report->engine->layout;
    const int lines = report->lines;

    for (int32_t i = 0; i < node->instructions; i += 1)
        report_instruction(report, node, i);
    for (int colour = 0; colour < layout->colours; colour += 1)
        report_intake(report, node, colour);
    if (report->lines == lines && node->invocations < layout->invocations)
        line(report, "  PE[%d, %d] (%s) waits for wavelets: %d of %d invocations are done\n",
             node->pe.x, node->pe.y, role_name(report, node), node->invocations,
             layout->invocations);
}

/* ---- Switches -------------------------------------------------------------------------------- */

/* The commands that a control wavelet still carries, or nothing of an element. */
static void write_commands(char *text, size_t size, const struct parcel *parcel)
{
    static const char *const names[] = { "NOP", "ADVANCE", "RESET", "TEARDOWN" };
    uint32_t bits = parcel->bits;
    size_t length = 0;

    *text = '\0';
    for (int k = 0; parcel->control & CONTROL
         && (k == 0 || bits >> FIRST & 3 || bits & UINT16_MAX); k += 1) {
        length += (size_t)snprintf(text + length, size - length, "%s%s",
                                   k == 0 ? " (the first says " : ", ", names[bits >> FIRST & 3]);
        bits = popped(bits);
    }
    if (length > 0)
        snprintf(text + length, size - length, ")");
}

/* What waits on a side from which the switch has turned. */
static void report_channel(struct report *report, int32_t node, const struct channel *channel)
{
    static const char *const sides[] = { "north", "east", "south", "west", "ramp" };
    const struct queue *queue = queue_of(&report->engine->router[node], channel);
    const uint8_t switched = *switch_of(report->engine, node, channel->colour);
    const struct pe *pe = &report->engine->node[node].pe;
    char commands[96];

    if (queue->count == 0
        || (channel->out[position_of(switched)] != 0 && !is_down(switched)))
        return;
    write_commands(commands, sizeof commands, &queue->parcels[queue->head]);
    line(report, "  the router of PE[%d, %d] leaves %d wavelets on %s from the %s waiting%s: its "
         "switch is %sin position %d of %d\n", pe->x, pe->y, queue->count,
         colour_name(report, channel->colour), sides[channel->side], commands,
         is_down(switched) ? "torn down " : "", position_of(switched) + 1,
         last_position(switched) + 1);
}

/* ---- Ports ----------------------------------------------------------------------------------- */

static void report_inlet(struct report *report, int32_t i)
{
    const struct layout *layout = report->engine->layout;
    const struct inlet *inlet = &layout->inlet[i];
    const int64_t total = inlet->total;
    const struct pe *pe = &report->engine->node[inlet->node].pe;

    if (report->engine->inlet_count[i] < total)
        line(report, "  the external PE beside PE[%d, %d] has %lld of %lld wavelets on %s to "
             "inject\n", pe->x, pe->y, (long long)(total - report->engine->inlet_count[i]),
             (long long)total, colour_name(report, inlet->colour));
}

static void report_outlet(struct report *report, int32_t i)
{
    const struct outlet *outlet = &report->engine->layout->outlet[i];
    const struct pe *pe = &report->engine->node[outlet->node].pe;
    const bool sparse = outlet->ends > 0;
    const int64_t wanted = sparse ? outlet->ends : outlet->count;
    const int64_t got = sparse ? report->engine->outlet_ends[i] : report->engine->outlet_count[i];

    if (got < wanted)
        line(report, "  the external PE beside PE[%d, %d] got %lld of %lld %s\n", pe->x, pe->y,
             (long long)got, (long long)wanted, sparse ? "sequences" : "elements");
}

/* ---- The whole fabric ------------------------------------------------------------------------ */

void report_stuck(struct engine *engine)
{
    struct report report = { .engine = engine };
    const bool late = engine->status == OUT_OF_CYCLES;

    engine->status = late ? OUT_OF_CYCLES : STUCK;
    line(&report, "%s after cycle %lld: %d PEs are not done, %lld output wavelets are missing\n",
         late ? "the cycle limit was reached" : "the fabric can no longer move",
         (long long)(late ? engine->now : engine->now - 1), engine->running,
         (long long)engine->expected);
    report.lines = 0;
    for (int32_t i = 0; i < engine->size; i += 1)
        if (engine->node[i].role >= 0)
            report_node(&report, &engine->node[i]);
    for (int32_t i = 0; i < engine->size; i += 1)
        for (int32_t k = 0; k < engine->router[i].routing->channels; k += 1)
            report_channel(&report, i, &engine->router[i].routing->channel[k]);
    for (int32_t i = 0; i < engine->layout->inlets; i += 1)
        report_inlet(&report, i);
    for (int32_t i = 0; i < engine->layout->outlets; i += 1)
        report_outlet(&report, i);
    if (report.left_out > 0) {
        report.lines = 0;
        line(&report, "  and %d more\n", report.left_out);
    }
}
