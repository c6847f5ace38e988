/* The simulated machine, inside: routers, links, PEs, ports and the clock that wakes them.
 *
 * A cycle has three phases: every external port injects; every PE moves the elements of its streams
 * and starts a task; every router moves wavelets. The order within a phase never matters: `step_router`
 * says why. Only what was woken is looked at: an idle PE or router costs nothing.
 */
#ifndef ENGINE_H
#define ENGINE_H

#include <stdbool.h>

#include "pe.h"
#include "recorder.h"

enum side { NORTH, EAST, SOUTH, WEST, RAMP, SIDES };
#ifndef HORIZON
#define HORIZON 64                             /* cycles that the clock tells apart; at least 2 */
#endif

enum limit { MAX_POSITIONS = 4, MAX_COLOURS = 32, REPORT_SIZE = 8192, PERIODS = 64,
             MAX_STEPS = 64, MOST_ACTIVATED = 1 << 16, MOST_ISSUED = 1 << 20 };

enum { TYPES = INT32 + 1, OPERATIONS = SAR + 1 };
enum { LAST_CYCLE = (1 << 30) - 1 };           /* no run comes to it: it is as good as never */

/* The bits of a control wavelet: its argument or, if it is LISTED, the commands after the first;
 * then the first one, and whether PEs get it. */
enum control { FIRST = 16, QUIET = 1 << 18, LISTED = 1 << 19, ALL_BITS = (1 << 20) - 1 };

/* The first bits of the parts of a switch, what the router of a PE has for a colour: its position,
 * the last one that it has, whether the first follows that, when commands are popped, and whether
 * one of them has torn it down. */
enum switch_bits { POSITION = 0, LAST = 2, RING = 4, POP = 5, DOWN = 7 };
enum pop_mode { NO_POP, ALWAYS_POP, POP_ON_ADVANCE, POP_ON_ADVANCE_NOP };
enum status { COMPLETE, STUCK, FAILED, OUT_OF_CYCLES, OUT_OF_MEMORY };

/* ---- What the driver gives and takes; its ctypes structures mirror these four --------------- */

/* The figures of a machine profile: cycles, elements per cycle, wavelets, counts. */
struct machine {
    struct operations costs;
    int64_t start_up, latency, configuration, dispatch, dispatch_next, fifo;
    int32_t lanes[TYPES][TYPES][OPERATIONS];   /* of the type of a result, that of its sources */
    int32_t stride_limit[8];                   /* by stride modulo 8; 0: none */
    int32_t sum_lanes, mixed_sum_lanes;        /* of sources of the result's type, of another one */
    int32_t read_banks, write_latency, shared_datapath;
    int32_t hop, ramp, queue_depth, threads, descriptors, multicast;
    int32_t vector_multiply_add, link_width;
};

/* An external PE beside `node`: wavelets [first, first + count) of the data, over and over until it
 * has sent `total`. */
struct inlet {
    int32_t node, side, colour;
    int64_t first, count, total;
};

/* An external PE: takes `count` elements of any of the colours, and keeps them from `first` on.
 * One of a sparse tensor takes `ends` sequences: at most `count` wavelets, their ends included. */
struct outlet {
    int32_t node, side;
    uint32_t colours;
    int64_t first, count, ends;
};

enum received { NOTHING, ELEMENT, END };

/* The sparse elements that a router hands to its PE: those with an index in this interval. */
struct filter {
    int32_t least, greatest;
};

/* Cycles of a PE after `main`: in tasks, and, of these, those in which lanes compute the points of
 * vector instructions, `rounding` of these with lanes that are left empty; `memory` wait for banks
 * or strides, `streams` for elements that streams move; and what else they went into, `latency` the
 * waits for results of vector instructions. A task that costs nothing takes one all the same. The last
 * task that runs instances ends at `last`, after `until_last` busy cycles. */
struct usage {
    int64_t points;
    int32_t busy, lanes, rounding, memory, streams;
    int32_t until_last, last;
    int32_t dispatch, dispatch_next, start_up, latency, configuration;
    struct spent spent;
};

/* What a PE does in a cycle: nothing, before its first task or element and when it has nothing left
 * to do; it runs a task; streams move elements; or it waits. For a wavelet that is not there; for
 * space where an instruction sends; for instructions under way, which start, or take all threads;
 * for a colour that is blocked; for space where what arrived is forwarded, or kept in memory. */
enum state { IDLE, BUSY, MOVING, NO_INPUT, NO_SPACE, UNDER_WAY, BLOCKED, FULL_QUEUE, STATES };

/* The cycles of a PE from cycle 0 to the end of the run, in each state but IDLE, which has the rest;
 * the wavelets that it took; when it was first active, that is busy or moving, and until when; -1:
 * never. */
struct activity {
    int32_t cycles[STATES - 1];
    int32_t received, first, last;
};

/* What came over the link on which a router hears a side, or its PE: wavelets, and the cycles in
 * which the first of a queue at its end had to wait. */
struct link {
    int32_t wavelets, stalls;
};

/* The run in equal parts of so many cycles: those of all PEs in each state but IDLE, and hops. */
enum { BINS = 1024 };
struct bins {
    int64_t width;
    int64_t cycles[STATES][BINS];
    int64_t hops[BINS];
};

/* The cycles in which the router of a PE sent on the first and the last wavelet of a colour, -1 if
 * none, and how many. */
struct probe {
    int64_t first, last, count;
};

struct layout {
    struct machine machine;
    int32_t width, height, west, north;        /* the coordinates of PE 0 are (west, north) */
    int32_t colours, roles, invocations, inlets, outlets, counters;
    int64_t cycle_limit;
    int64_t task_limit;                        /* microseconds of the processor for one task; 0: any */
    uint32_t visits;                           /* 0: look at all in their order; or another's seed */
    const char *const *colour_names;
    const struct program *const *programs;     /* [roles] */
    const int32_t *role;                       /* [node], -1: a router without a program */
    void *const *memory;                       /* [roles], the memories of the PEs of a role */
    const int64_t *memory_stride;              /* [roles], bytes */
    const int32_t *input_depth;                /* [role][colour], -1: as deep as a router's queue */
    const int32_t *output_depth;               /* [role][colour], before that of the router */
    const int32_t *origin;                     /* [role][x, y], the PE that a program calls (0, 0) */
    uint8_t *switches;                         /* [node][colour], enum switch_bits; they move */
    const uint8_t *routes;                     /* [position][colour][side][node], sides to go to */
    const struct filter *const *filter;        /* [colour], NULL or [node] */
    const struct inlet *inlet;
    const struct outlet *outlet;
    const uint32_t *sent;                      /* the data of the inlets, */
    const uint8_t *sent_control;               /* and which of it are control wavelets */
    uint32_t *received;
    uint8_t *received_kind;                    /* enum received */
    int64_t *completed;                        /* [invocation], the cycle of its last output wavelet */
    struct counter *counter;                   /* [node][counters] */
    struct usage *usage;                       /* [node] */
    struct activity *activity;                 /* [node] */
    struct link *link;                         /* [node][side] */
    struct bins *bins;
    struct record *record;                     /* NULL, but where the engine is RECORDED */
    const int32_t *probe_of;                   /* [colour][node], -1: none; NULL if nobody asks */
    struct probe *probe;
};

/* Why something waits in a fabric that stops. */
enum wait_kind {
    FOLLOWS, EMPTY, RECEIVES, REACTS, LACKS_SPACE, NOT_FORWARDED, BEHIND, HEADED, NOT_TAKEN,
    IS_BLOCKED, CROWDED, FULL, TURNED, TORN_DOWN, SENT_ALL, NOT_ACTIVATED, IS_DONE, MOVES, MISSES
};

/* A step of the circle or chain of waiting: from who waits to whom it waits for, x and y of PEs,
 * those outside included; and where the report has its line, -1 if it does not. */
struct waiting_step {
    int32_t from[2], to[2], colour, kind, at;  /* colour: -1 if there is none */
};

struct outcome {
    int64_t now;                               /* the cycle that the run has come to */
    int64_t cycles, main_cycles, injected, delivered, hops, stalls, tasks;
    int64_t entered;                           /* wavelets that ports have sent */
    int64_t until;                             /* the cycle in which the last PE came to rest */
    int32_t steps, left_out;                   /* of `step`; and those behind the first half */
    int32_t circle, cause;                     /* whether the last waits for the first; where the
                                                * report says why */
    struct waiting_step step[MAX_STEPS];
    char report[REPORT_SIZE];
};

extern const size_t fabric_layout_size;
int fabric_run(const struct layout *layout, struct outcome *outcome);
float fabric_f32(uint16_t bits);
uint16_t fabric_f16(float value);

/* ---- Queues ---------------------------------------------------------------------------------- */

enum parcel_bits { CONTROL = 1, TURNING = 2 }; /* TURNING: behind it its PE's router advances */

struct parcel {                                /* a wavelet under way */
    uint32_t bits;
    uint32_t ready : 30, control : 2;          /* from when on it can go on; enum parcel_bits */
    TRAIL
};

struct queue {
    int32_t since;                             /* the cycle after the last in which one was taken */
    int32_t head, count;
    struct parcel parcels[];                   /* as many as its owner has space for */
};

static inline struct parcel parcel_of(int64_t ready, uint32_t bits, uint32_t control)
{
    const uint32_t cycle = (uint32_t)(ready < LAST_CYCLE ? ready : LAST_CYCLE);

    return (struct parcel){ .bits = bits, .ready = cycle & LAST_CYCLE,
                            .control = control & (CONTROL | TURNING) };
}

/* The parcel as it is when it has come on, until when it is ready again. */
static inline struct parcel moved_on(struct parcel parcel, int64_t ready)
{
    parcel.ready = parcel_of(ready, 0, 0).ready;
    return parcel;
}

/* What is taken in a cycle leaves its space in the next one only, so that it does not matter which
 * router is looked at first. A ring of full queues, whose heads all go round it, stands still. */
static inline bool has_space(const struct queue *queue, int32_t capacity, int64_t now)
{
    return queue->count + (queue->since > now) < capacity;
}

static inline const struct parcel *first_ready(const struct queue *queue, int64_t now)
{
    const struct parcel *parcel = &queue->parcels[queue->head];

    return queue->count > 0 && queue->since <= now && parcel->ready <= now ? parcel : NULL;
}

static inline void push(struct queue *queue, int32_t capacity, struct parcel parcel)
{
    const int32_t tail = queue->head + queue->count;

    queue->parcels[tail < capacity ? tail : tail - capacity] = parcel;
    queue->count += 1;
}

static inline struct parcel pop(struct queue *queue, int32_t capacity, int64_t now)
{
    const struct parcel parcel = queue->parcels[queue->head];

    queue->head = queue->head + 1 < capacity ? queue->head + 1 : 0;
    queue->count -= 1;
    queue->since = (int32_t)(now + 1);
    return parcel;
}

/* ---- Routers --------------------------------------------------------------------------------- */

enum { NO_CHANNEL = UINT8_MAX, MAX_CHANNELS = SIDES * MAX_COLOURS };

struct channel {                               /* what comes into routers on a side and colour */
    uint8_t colour, side, positions;
    uint8_t sides, out[MAX_POSITIONS];         /* where it goes to: in any position, in each */
    int32_t capacity, at;                      /* of its queue, which lies so many bytes on */
};

/* What routers with the same role and routes share. The queues of a router lie together: first a bit for
 * each of its channels that has a wavelet, then the channels', then the intakes. */
struct routing {
    int32_t channels, intakes_at, size;
    int32_t intake_at[MAX_COLOURS];            /* 0: no route goes down the ramp */
    uint8_t channel_of[SIDES][MAX_COLOURS];    /* NO_CHANNEL: no route */
    struct channel channel[];                  /* in the order of colours, then of sides */
};

struct router {
    const struct routing *routing;
    char *queues;
    int32_t turn;                              /* the channel that is served first */
    uint8_t outside;                           /* the sides on which there is no router */
};

/* ---- PEs ------------------------------------------------------------------------------------- */

enum { MAX_ROOM = 1 << 23 };

struct intake {                                /* what came down the ramp on one colour */
    wavelet_task *data, *control;
    uint32_t capacity : 24;                    /* wavelets, fewer than MAX_ROOM: one word with */
    uint32_t out : 5;                          /* the colour on which it passes, if it does */
    uint32_t blocked : 1, passes : 1, has_room : 1;
    struct queue queue;                        /* if it has no room of the program's */
};

struct room {                                  /* that the program gave to an intake */
    struct queue *entrance;                    /* what comes waits here until it is in a FIFO, or */
    int32_t entrance_capacity;                 /* NULL: it comes into the room at once */
    struct queue queue;
};

enum kind { SEND, RECEIVE, ACCUMULATE, COMBINE, PASS, WAVELET, RESTART };

struct instruction {                           /* one with a fabric operand: when it can move, */
    uint8_t kind;
    int8_t in, out;                            /* colours, -1: none */
    bool endless : 1, empty : 1, complete : 1;
    uint8_t control : 2;                       /* of what it sends, enum parcel_bits */
    int32_t start;
};

struct stream {                                /* and what it moves */
    const struct vector *vector;               /* of `keep_vector`, NULL: none */
    char *d, *source;                          /* what is in memory; the source is a or b */
    task *then;
    int32_t left;                              /* elements */
    int32_t asked;                             /* when the PE is to be looked at to start it */
    union {
        int32_t position[MAX_RANK];
        uint32_t bits;                         /* of a single wavelet; what to restart */
    };
    STEPS
};

struct activation {
    int64_t ready;
    task *task;
    AFTER
};

/* On what a task started, besides an element of a colour, or a control wavelet, which is the colour
 * and as much as there are colours. */
enum started_on { IN_MAIN = -2, ACTIVATED = -1 };

/* Bytes [least, end) of the memory of a PE that a vector instruction wrote: they can be read once the
 * running task was charged `ready` cycles. */
struct result {
    int32_t least, end, ready;
};

enum { MOST_RESULTS = 4 };

struct node {
    struct pe pe;                              /* first: a program's pe is its node */
    struct engine *engine;
    int32_t id, role, invocations, configurations;
    uint32_t arrived, full;                    /* colours: of intakes with wavelets, of full queues
                                                * to the router */
    int32_t received;                          /* wavelets */
    uint8_t state, waits;                      /* enum state; a bit for each that it waits in */
    uint8_t results;                           /* of its running task, as many as `result` has */
    uint32_t filled;                           /* the colours with a FIFO */
    int8_t fifos, last_filled;
    int8_t moved;                              /* the stream that moved last, by its colour */
    int8_t ran_on;                             /* on what its last task, `ran`, started */
    int32_t filled_at;                         /* the last cycle in which a FIFO was */
    int32_t asked;                             /* when it is to be looked at for `busy_until` */
    int32_t began, started, sent;              /* its last task began, and its code did, behind the
                                                * dispatch; the last cycle in which it sent */
    int32_t finished;                          /* when its last invocation is complete, or 0 */
    int32_t since;                             /* from when on it has been in its state */
    int64_t busy_until;
    task *torn_down;                           /* what runs when the router obeyed a TEARDOWN */
    task *joined;                              /* what neither of two streams has activated yet */
    struct instruction *instruction;           /* in program order */
    struct stream *stream;                     /* of each instruction */
    struct activation *activation;             /* in the order of activation */
    int32_t instructions, instruction_space, endless;
    int32_t activations, activation_space;
    uint32_t ran;                              /* `key_of` of its last task, 0: there was none */
    struct result result[MOST_RESULTS];        /* of its running task, in the order of `ready` */
};

/* The bins of a run while it goes on: `next` is the first cycle after the current one, `hops` those
 * before it. A PE whose state begins in a bin adds what is left of the bin to the bin's cycles, and is
 * a `step` up from the next bin on; where the state ends both are taken off. */
struct binning {
    int64_t next, hops;
    int shift;                                 /* a bin has 1 << shift cycles */
    int32_t step[STATES][BINS + 1];
};

enum { LONGEST_NAME = 64 };

struct described {
    char text[2 * LONGEST_NAME + 64];
};

struct source {                                /* the external link beside a node */
    int32_t first, inlets, last;
};

/* ---- The clock ------------------------------------------------------------------------------- */

enum actor { SOURCES, NODES, ROUTERS, ACTORS };

/* Whom to look at, a bit for each, by cycle modulo the horizon; and which words are not 0. */
struct agenda {
    uint64_t *due, *some;
    int64_t words, summaries;                  /* for one cycle */
};

struct put_off {                               /* a wake-up beyond the horizon */
    int32_t cycle, id;
    enum actor actor;
};

struct put_off_list {
    struct put_off *item;
    int32_t count, space;
};

struct clock {
    struct agenda agenda[ACTORS];
    struct put_off_list later[PERIODS];        /* by cycle over the horizon, modulo */
    int64_t waiting;
};

struct engine {
    const struct layout *layout;
    struct outcome *outcome;
    int64_t now, last_done;
    int32_t size, sources, running;            /* running: PEs with invocations to complete */
    int32_t routings, routing_space;
    int32_t step[RAMP];                        /* to the number of the neighbour on a side */
    int64_t expected;                          /* output elements, or ends, still to come */
    enum status status;
    bool running_mains, torn_down;             /* torn_down: whether any router was */
    bool damaged;                              /* what a program touched may be anybody's */
    struct spent spent_in_main;                /* which is of no use: `main` runs before cycle 0 */
    struct node *at_work;                      /* the PE that runs a task now, NULL: none */
    struct clock clock;
    struct node *node;
    struct router *router;
    struct routing **routing;
    char *queues;                              /* of all routers */
    int64_t *outlet_count, *outlet_ends;
    int32_t *outlet_of;                        /* [border][colour] of external links, -1 */
    struct source *source;
    int32_t *source_of;                        /* [border] */
    struct kept_vector **vectors;              /* in buckets, by content */
    int32_t vector_buckets;
    struct known_access *accesses;             /* in buckets, by content */
    int64_t *inlet_count;
    struct binning *binning;
    struct recorder *recorder;
};

/* ---- Links ----------------------------------------------------------------------------------- */

/* The wavelets, each of another colour or side, that begin to cross a link in a cycle. */
static inline int32_t wavelets_at_once(const struct machine *machine)
{
    return machine->link_width > 32 ? machine->link_width / 32 : 1;
}

/* The cycles in which a link is taken by a wavelet. */
static inline int32_t cycles_each(const struct machine *machine)
{
    return machine->link_width < 32 ? 32 / machine->link_width : 1;
}

/* The cycles until all of a wavelet is at the other end of a link. */
static inline int32_t latency(const struct machine *machine, int side)
{
    return (side == RAMP ? machine->ramp : machine->hop) + cycles_each(machine) - 1;
}

/* Whether links are free: where a wavelet takes several cycles, all begin in the same ones. */
static inline bool is_free(const struct engine *engine)
{
    const int32_t each = cycles_each(&engine->layout->machine);

    return each == 1 || engine->now % each == 0;
}

void wake(struct engine *engine, enum actor actor, int32_t id, int64_t cycle);
int32_t number_border(const struct engine *engine, int32_t node, int side);
void enter(struct engine *engine, int32_t node, int channel, struct parcel parcel);
void reach_router(struct engine *engine, int32_t id);
void fetch_router(struct engine *engine, int32_t id);
void step_router(struct engine *engine, int32_t id);
void reach_node(struct engine *engine, int32_t id);
void fetch_node(struct engine *engine, int32_t id);
void step_node(struct engine *engine, int32_t id);
void step_source(struct engine *engine, int32_t id);
void wake_for(struct node *node, int32_t *asked, int64_t cycle);
struct binning *make_binning(struct engine *engine);
void end_bin(struct engine *engine);
void change_state(struct node *node, enum state state);
void tell_usage(struct engine *engine);
int64_t present(const struct node *node);
void run_main(struct node *node);
bool move_streams(struct node *node);
bool fill_fifos(struct node *node);
bool is_colour(struct node *node, int colour);
bool can_send(struct node *node, int colour);
bool can_receive(struct node *node, int colour);
uint64_t colours_received(const struct node *node);
struct parcel take(struct node *node, int colour, int64_t dispatch);
bool can_take(const struct node *node, int colour);
void leave_for_router(struct node *node, int out, struct parcel parcel, int64_t cycle);
void activate_at(struct node *node, task *activated, int64_t ready);
bool build(struct engine *engine);
void make_routings(struct engine *engine);
void make_vectors(struct engine *engine);
const struct vector *keep_vector(struct engine *engine, const struct vector *vector);
void drop_vector(struct engine *engine, const struct vector *vector);
void release_vectors(struct engine *engine);
int32_t intake_capacity(const struct engine *engine, int32_t node, int colour);
int32_t channel_capacity(const struct engine *engine, int32_t node, int colour, int side);
void *zeros(struct engine *engine, int64_t count, size_t size);
void release(struct engine *engine);
bool is_done(const struct engine *engine);
bool leaves_something(const struct engine *engine);
void report_stuck(struct engine *engine);
void *grow(struct engine *engine, void *items, int32_t *space, size_t size);
void fail(struct engine *engine, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void run_guarded(struct engine *engine, void (*run)(struct engine *engine));
void leave_task(const struct engine *engine);
void hold(void);
void let_go(void);
const char *role_name(const struct node *node);
uint32_t key_of(void (*task)(void));
struct described describe_task(const struct node *node);
bool has_place(const struct node *node, const struct vector *v);
bool is_configured(const struct node *node, const struct vector *v);

/* The PE as the layout calls it: its program may count from another one. */
static inline int x_of(const struct node *node)
{
    return node->engine->layout->west + node->id % node->engine->layout->width;
}

static inline int y_of(const struct node *node)
{
    return node->engine->layout->north + node->id / node->engine->layout->width;
}

static inline struct link *link_of(const struct engine *engine, int32_t node, int side)
{
    return &engine->layout->link[(int64_t)node * SIDES + side];
}

static inline bool is_outside(const struct engine *engine, int32_t node, int side)
{
    return engine->router[node].outside >> side & 1;
}

/* The channel of a router, by number, on a side and colour; NO_CHANNEL if there is none. */
static inline int channel_of(const struct engine *engine, int32_t node, int side, int colour)
{
    return engine->router[node].routing->channel_of[side][colour];
}

/* The room of an intake that has one: it takes the place of the first parcels. */
static inline struct room *room_of(const struct intake *intake)
{
    struct room *room;

    memcpy(&room, intake->queue.parcels, sizeof room);
    return room;
}

/* What the PE takes from. */
static inline struct queue *waiting_in(struct intake *intake)
{
    return intake->has_room ? &room_of(intake)->queue : &intake->queue;
}

static inline struct queue *queue_of(const struct router *router, const struct channel *channel)
{
    return (struct queue *)(router->queues + channel->at);
}

static inline bool channel_has_space(const struct engine *engine, int32_t node, int number)
{
    const struct router *router = &engine->router[node];
    const struct channel *channel = &router->routing->channel[number];

    return has_space(queue_of(router, channel), channel->capacity, engine->now);
}

static inline const struct program *program_of(const struct node *node)
{
    return node->engine->layout->programs[node->role];
}

/* What comes to a PE on a colour; NULL if no route goes there. */
static inline struct intake *intake_of(const struct node *node, int colour)
{
    const struct router *router = &node->engine->router[node->id];
    const int32_t at = router->routing->intake_at[colour];

    return at > 0 ? (struct intake *)(router->queues + at) : NULL;
}

static inline void wait_in(struct node *node, enum state state)
{
    node->waits |= (uint8_t)(1 << state);
}

/* What a router fills: the queue of an intake, or what is before a FIFO. */
static inline struct queue *entrance_of(const struct node *node, int colour, int32_t *capacity)
{
    struct intake *intake = intake_of(node, colour);

    if (node->filled >> colour & 1) {
        *capacity = room_of(intake)->entrance_capacity;
        return room_of(intake)->entrance;
    }
    *capacity = intake->capacity;
    return waiting_in(intake);
}

/* Whether a queue has space on a side to which a router sends. */
static inline bool accepts(const struct engine *engine, int32_t node, int colour, int side)
{
    const struct queue *entrance;
    int32_t next, capacity;

    if (side == RAMP) {
        entrance = entrance_of(&engine->node[node], colour, &capacity);
        return has_space(entrance, capacity, engine->now);
    }
    if (is_outside(engine, node, side))
        return true;
    next = node + engine->step[side];
    return channel_has_space(engine, next, channel_of(engine, next, (side + 2) % 4, colour));
}

/* Whether the router hands the head to its PE: not if the filter drops the element, nor if it is
 * quiet. */
static inline bool goes_down(const struct engine *engine, int32_t node, int colour,
                             const struct parcel *head)
{
    const struct filter *filter = engine->layout->filter[colour];
    const int32_t index = (int32_t)(head->bits >> 16);

    if (head->control & CONTROL)
        return !(head->bits & QUIET);
    return filter == NULL
        || (index >= filter[node].least && index <= filter[node].greatest);
}

/* The colour on which an element leaves when the instruction moves one; -1 if none does. */
static inline int sends_on(const struct node *node, const struct instruction *instruction)
{
    const struct intake *intake;

    if (instruction->out >= 0 || instruction->in < 0)
        return instruction->out;
    intake = intake_of(node, instruction->in);
    return intake->passes ? intake->out : -1;
}

/* ---- Switches -------------------------------------------------------------------------------- */

static inline int position_of(uint8_t switched)
{
    return switched >> POSITION & 3;
}

static inline int last_position(uint8_t switched)
{
    return switched >> LAST & 3;
}

static inline bool is_down(uint8_t switched)
{
    return switched >> DOWN & 1;
}

static inline uint8_t *switch_of(const struct engine *engine, int32_t node, int colour)
{
    return &engine->layout->switches[(int64_t)node * engine->layout->colours + colour];
}

uint32_t popped(uint32_t bits);
void obey(struct engine *engine, int32_t node, int colour, struct parcel *parcel);
void let_go_on(struct node *node, int colour, uint32_t position);
void issue(struct node *node, struct instruction instruction, struct stream stream, int64_t start);
void issue_wavelet(struct node *node, int colour, uint32_t bits, uint32_t control);

/* ---- What is recorded ------------------------------------------------------------------------ */

#ifdef RECORDED
bool make_recorder(struct engine *engine);
void release_recorder(struct engine *engine);
void tell_record(struct engine *engine);
void record_cycle(struct engine *engine);
void record_injected(struct engine *engine, int32_t inlet, struct parcel *parcel);
void record_wait(struct parcel *parcel, int64_t now);
void record_delivered(struct engine *engine, int32_t node, int colour,
                      const struct parcel *parcel);
void record_activated(struct node *node, const struct activation *activation);
void record_taken(struct node *node, int colour, const struct parcel *parcel, wavelet_task *task);
void record_finished(struct node *node);
void record_put_off(struct node *node);
void record_done(struct node *node, int64_t cycle);
void record_issued(struct node *node, struct stream *stream, int64_t start);
void record_moved(struct node *node, int32_t i);
void record_sent(struct node *node, struct parcel *parcel, int64_t cycle);
void record_complete(struct node *node, int32_t i);
void record_activation(struct node *node, struct activation *activation);
void record_torn_down(struct node *node, int colour, const struct parcel *parcel);
void record_vector(struct node *node, int64_t cycles);
void record_state(struct node *node, int64_t until);
void record_queue(struct node *node, int colour, int32_t count);
void record_name(struct engine *engine, void (*task)(void), const char *name);
#else
static inline bool make_recorder(struct engine *engine) { (void)engine; return true; }
#define release_recorder(engine) ((void)0)
#define tell_record(engine) ((void)0)
#define record_cycle(engine) ((void)0)
#define record_injected(engine, inlet, parcel) ((void)0)
#define record_wait(parcel, now) ((void)0)
#define record_delivered(engine, node, colour, parcel) ((void)(colour))
#define record_activated(node, activation) ((void)0)
#define record_taken(node, colour, parcel, task) ((void)0)
#define record_finished(node) ((void)0)
#define record_put_off(node) ((void)0)
#define record_done(node, cycle) ((void)0)
#define record_issued(node, stream, start) ((void)0)
#define record_moved(node, i) ((void)0)
#define record_sent(node, parcel, cycle) ((void)0)
#define record_complete(node, i) ((void)0)
#define record_activation(node, activation) ((void)0)
#define record_torn_down(node, colour, parcel) ((void)(parcel))
#define record_vector(node, cycles) ((void)0)
#define record_state(node, until) ((void)0)
#define record_queue(node, colour, count) ((void)0)
#define record_name(engine, task, name) ((void)(engine), (void)(task), (void)(name))
#endif

/* ---- Elements of vector instructions --------------------------------------------------------- */

static inline bool is_float(enum element type)
{
    return type == FLOAT16 || type == FLOAT32;
}

static inline bool is_fused(const struct vector *v)
{
    return v->operation == FMA || v->operation == FMS || v->operation == FNMA;
}

static inline int operands_of(const struct vector *v)
{
    return v->operation == COPY ? 2 : is_fused(v) ? 4 : 3;
}

/* A number has no strides and may lie in a register; nothing is written there. */
static inline bool is_number(const struct vector *v, int k)
{
    for (int i = 0; i < v->sizes.rank; i += 1)
        if (v->operand[k].stride[i] != 0)
            return false;
    return k > 0;
}

struct rate {                                  /* cycles, of which `rounding` are among `lanes` */
    int64_t lanes, rounding, memory;
};

struct rate rate_of(const struct node *node, const struct vector *v,
                    char *const base[MAX_OPERANDS]);
int64_t bank_waits(const struct node *node, const struct vector *v,
                   char *const base[MAX_OPERANDS]);
struct known_access *make_accesses(struct engine *engine);
int64_t find_lanes(const struct machine *machine, const struct vector *v);
size_t element_size(enum element type);
int64_t points(const struct sizes *sizes);
uint32_t element_to_fabric(enum element type, const void *element);
void element_from_fabric(enum element type, uint32_t bits, void *element);
void apply(const struct vector *v, void *d, const void *a, const void *b, const void *c);
bool is_scalar(const struct vector *v, int k);
bool is_inside(const struct node *node, const struct vector *v, int k, const char *base);
int64_t find_wait(const struct node *node, const struct vector *v, const bool in_memory[],
                  char *const base[MAX_OPERANDS]);

#endif
