/* What moved last, where a run comes to the limit of its cycles. */
#include "waiting.h"

enum { MAX_TOLD = 4, LONG = 100 };              /* cycles without a wavelet */

/* The last move on a colour: out of a channel of a router, or, if it is -1, into the PE. */
struct move {
    int64_t cycle;                             /* -1: none */
    int32_t node, channel;
};

static void note_move(struct move *last, const struct queue *queue, int32_t node, int32_t channel)
{
    if (queue->since - 1 > last->cycle)
        *last = (struct move){ queue->since - 1, node, channel };
}

/* By colour; queues know when something was last taken from them. */
static void find_moves(struct engine *engine, struct move last[MAX_COLOURS])
{
    for (int32_t i = 0; i < engine->size; i += 1) {
        const struct router *router = &engine->router[i];

        for (int32_t k = 0; k < router->routing->channels; k += 1)
            note_move(&last[router->routing->channel[k].colour],
                      queue_of(router, &router->routing->channel[k]), i, k);
        for (int colour = 0; colour < engine->layout->colours; colour += 1) {
            struct intake *intake = intake_of(&engine->node[i], colour);

            if (intake != NULL)
                note_move(&last[colour], waiting_in(intake), i, -1);
        }
    }
}

static void tell_move(struct report *report, const struct move *move, int colour)
{
    static const char *const sides[] = { "north", "east", "south", "west", "ramp" };
    const struct engine *engine = report->engine;
    const struct node *pe = &engine->node[move->node];

    say(report, "  in cycle %lld ", (long long)move->cycle);
    if (move->channel < 0) {
        say_pe(report, move->node);
        say(report, " took a wavelet on %s\n", colour_name(report, colour));
    } else {
        say(report, "the router of PE[%d, %d] sent on a wavelet on %s from the %s\n",
            x_of(pe), y_of(pe), colour_name(report, colour),
            sides[engine->router[move->node].routing->channel[move->channel].side]);
    }
}

static void tell_task(struct report *report)
{
    const struct engine *engine = report->engine;
    const struct node *last = NULL;

    for (int32_t i = 0; i < engine->size; i += 1)
        if (engine->node[i].busy_until > 0
            && (last == NULL || engine->node[i].started > last->started))
            last = &engine->node[i];
    if (last == NULL)
        return;
    say(report, "  in cycle %lld ", (long long)last->began);
    say_pe(report, last->id);
    say(report, " began a task\n");
}

/* The last cycle in which a PE took a wavelet, or sent one; -1: it never did. */
static int64_t last_exchange(const struct node *node)
{
    int64_t last = node->sent;

    for (int colour = 0; colour < node->engine->layout->colours; colour += 1) {
        struct intake *intake = intake_of(node, colour);

        if (intake != NULL && waiting_in(intake)->since - 1 > last)
            last = waiting_in(intake)->since - 1;
    }
    return last;
}

/* What a PE is at that does not end. */
void say_runs(struct report *report, const struct node *node)
{
    const int64_t last = last_exchange(node);

    say_pe(report, node->id);
    say(report, " runs %s, and has taken and sent no wavelet", describe_task(node).text);
    if (last >= 0)
        say(report, " since cycle %lld", (long long)last);
}

/* Of the PEs at work that run what tasks activate, the one that did so longest without a wavelet. */
static void tell_activated(struct report *report)
{
    const struct engine *engine = report->engine;
    const struct node *longest = NULL;

    for (int32_t i = 0; i < engine->size; i += 1) {
        const struct node *node = &engine->node[i];

        if (node->ran != 0 && node->ran_on == ACTIVATED
            && (node->activations > 0 || engine->now < node->busy_until)
            && (longest == NULL || last_exchange(node) < last_exchange(longest)))
            longest = node;
    }
    if (longest == NULL || engine->now - last_exchange(longest) < LONG)
        return;
    say(report, "  ");
    say_runs(report, longest);
    say(report, "\n");
}

/* Of each colour its last move, the latest first, and the last task. */
void tell_last(struct report *report)
{
    struct move last[MAX_COLOURS];

    for (int colour = 0; colour < MAX_COLOURS; colour += 1)
        last[colour] = (struct move){ -1, 0, 0 };
    find_moves(report->engine, last);
    say(report, "what moved last:\n");
    for (int k = 0; k < MAX_TOLD; k += 1) {
        int latest = 0;

        for (int colour = 1; colour < report->engine->layout->colours; colour += 1)
            if (last[colour].cycle > last[latest].cycle)
                latest = colour;
        if (last[latest].cycle < 0)
            break;
        tell_move(report, &last[latest], latest);
        last[latest].cycle = -1;
    }
    tell_task(report);
    tell_activated(report);
}
