/* What is left of a run in which all is done, and nothing moves any more: there should be nothing. */
#include "waiting.h"

struct left {
    int64_t wavelets, elements, injected, tasks;
};

/* Whether all that the layout asks for is done. */
bool is_done(const struct engine *engine)
{
    return engine->running == 0 && engine->expected == 0;
}

static int64_t count_taken(const struct node *node)
{
    int64_t count = 0;

    for (int colour = 0; colour < node->engine->layout->colours; colour += 1) {
        struct intake *intake = intake_of(node, colour);

        if (intake != NULL)
            count += waiting_in(intake)->count;
        if (node->filled >> colour & 1)
            count += room_of(intake)->entrance->count;
    }
    return count;
}

static void add_node(const struct node *node, struct left *left)
{
    if (node->arrived != 0 || node->filled != 0)
        left->wavelets += count_taken(node);
    for (int32_t i = 0; i < node->instructions; i += 1)
        if (!node->instruction[i].endless)
            left->elements += node->stream[i].left;
    left->tasks += node->activations;
}

static void add_router(const struct router *router, struct left *left)
{
    const int32_t words = (router->routing->channels + 63) / 64;

    for (int32_t word = 0; word < words; word += 1)
        for (uint64_t busy = ((const uint64_t *)router->queues)[word]; busy != 0; busy &= busy - 1)
            left->wavelets += queue_of(router, &router->routing->channel[
                                           64 * word + __builtin_ctzll(busy)])->count;
}

static struct left find_left(const struct engine *engine)
{
    struct left left = { 0 };

    for (int32_t i = 0; i < engine->size; i += 1) {
        add_node(&engine->node[i], &left);
        add_router(&engine->router[i], &left);
    }
    for (int32_t i = 0; i < engine->layout->inlets; i += 1)
        left.injected += engine->layout->inlet[i].total - engine->inlet_count[i];
    return left;
}

bool leaves_something(const struct engine *engine)
{
    const struct left left = find_left(engine);

    return left.wavelets + left.elements + left.injected + left.tasks > 0;
}

static void say_count(struct report *report, int64_t count, const char *what, const char *why)
{
    if (count > 0)
        say(report, "%s %lld %s%s %s", report->counts > 0 ? "," : "",
            (long long)count, what, count == 1 ? "" : "s", why);
    report->counts += count > 0;
}

/* How much it is, in all. */
void say_remains(struct report *report)
{
    const struct left left = find_left(report->engine);

    say_count(report, left.wavelets, "wavelet", "that nobody took");
    say_count(report, left.elements, "element", "of streams under way");
    say_count(report, left.injected, "wavelet", "that ports did not send");
    say_count(report, left.tasks, "task", "that did not run");
}
