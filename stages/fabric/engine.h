/* The simulated machine, inside: routers, links, PEs, ports and the clock that wakes them.
 *
 * A cycle has two phases. First every external port injects and every PE moves the elements of its
 * streams and starts a task; then every router moves wavelets. Space that a queue gains in a cycle
 * can be used from the next one on, so the order within a phase never matters.
 * Only what was woken is looked at: an idle PE or router costs nothing.
 */
#ifndef ENGINE_H
#define ENGINE_H

#include <stdbool.h>

#include "pe.h"

enum side { NORTH, EAST, SOUTH, WEST, RAMP, SIDES };
#ifndef HORIZON
#define HORIZON 1024                           /* cycles for which the clock has lists; at least 2 */
#endif

enum limit { MAX_POSITIONS = 4, MAX_COLOURS = 32, REPORT_SIZE = 4096 };
enum { TYPES = INT32 + 1, OPERATIONS = SAR + 1 };

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
    struct costs costs;
    int64_t start_up, configuration, dispatch, fifo;
    int32_t lanes[TYPES][TYPES][OPERATIONS];   /* of the type of a result, that of its sources */
    int32_t stride_limit[8];                   /* by stride modulo 8; 0: none */
    int32_t sum_lanes, read_banks, shared_datapath;
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
 * or strides, `streams` for elements that streams move; and what else they went into. A task that
 * costs nothing takes one all the same. The last task that runs instances ends at `last`, after
 * `until_last` busy cycles. */
struct usage {
    int64_t busy, lanes, rounding, memory, streams, points, until_last, last;
    int64_t dispatch, start_up, configuration, loop, scalar, address;
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
    const char *const *colour_names;
    const struct program *const *programs;     /* [roles] */
    const int32_t *role;                       /* [node], -1: a router without a program */
    void *const *memory;                       /* [roles], the memories of the PEs of a role */
    const int64_t *memory_stride;              /* [roles], bytes */
    const int32_t *input_depth;                /* [role][colour], -1: as deep as a router's queue */
    const int32_t *output_depth;               /* [role][colour], before that of the router */
    const uint8_t *switches;                   /* [node][colour], enum switch_bits */
    const uint8_t *routes;                     /* [position][colour][side][node], sides to go to */
    const struct filter *filter;               /* [colour][node] */
    const struct inlet *inlet;
    const struct outlet *outlet;
    const uint32_t *sent;                      /* the data of the inlets, */
    const uint8_t *sent_control;               /* and which of it are control wavelets */
    uint32_t *received;
    uint8_t *received_kind;                    /* enum received */
    struct counter *counter;                   /* [node][counters] */
    struct usage *usage;                       /* [node] */
    const int32_t *probe_of;                   /* [colour][node], -1: none; NULL if nobody asks */
    struct probe *probe;
};

struct outcome {
    int64_t now;                               /* the cycle that the run has come to */
    int64_t cycles, main_cycles, injected, delivered, hops, stalls, tasks;
    int64_t entered;                           /* wavelets that ports have sent */
    char report[REPORT_SIZE];
};

extern const size_t fabric_layout_size;
int fabric_run(const struct layout *layout, struct outcome *outcome);
float fabric_f32(uint16_t bits);
uint16_t fabric_f16(float value);

/* ---- Queues ---------------------------------------------------------------------------------- */

enum parcel_bits { CONTROL = 1, TURNING = 2 }; /* TURNING: behind it its PE's router advances */

struct parcel {                                /* a wavelet under way */
    int64_t ready;                             /* the first cycle in which it can go on */
    uint32_t bits;
    uint32_t control;                          /* enum parcel_bits */
};

struct queue {
    struct parcel *parcels;
    int64_t popped;                            /* the last cycle in which one was taken out */
    int32_t capacity, head, count;
};

static inline bool has_space(const struct queue *queue, int64_t now)
{
    return queue->count + (queue->popped == now) < queue->capacity;
}

static inline const struct parcel *first_ready(const struct queue *queue, int64_t now)
{
    const struct parcel *parcel = &queue->parcels[queue->head];

    return queue->count > 0 && queue->popped != now && parcel->ready <= now ? parcel : NULL;
}

void push(struct queue *queue, struct parcel parcel);
struct parcel pop(struct queue *queue, int64_t now);

/* ---- Routers --------------------------------------------------------------------------------- */

struct channel {                               /* what came into a router on one side and colour */
    struct queue queue;
    int64_t since;                             /* the first cycle in which its head could move */
    int32_t node, source;                      /* source: what fills it from outside */
    int32_t target[4];                         /* per side, a channel or ~outlet */
    uint8_t colour, side;
    uint8_t out[MAX_POSITIONS];
};

/* ---- PEs ------------------------------------------------------------------------------------- */

struct intake {                                /* what came down the ramp on one colour */
    struct queue queue;
    wavelet_task *data, *control;
    struct parcel *room;                       /* the queue's parcels, if the program gave room */
    struct queue *entrance;                    /* what comes waits here until it is in a FIFO */
    bool blocked, passes;
    int32_t out;                               /* if it passes, the colour on which it does */
};

enum kind { SEND, RECEIVE, ACCUMULATE, COMBINE, PASS, WAVELET, RESTART };

struct instruction {                           /* one with a fabric operand */
    enum kind kind;
    int32_t in, out;                           /* colours, -1: none */
    uint32_t bits, control;                    /* of a single wavelet; what to restart */
    struct vector vector;
    char *base[3];                             /* of d, a and b, those in memory */
    int64_t start, total, done;
    int32_t position[MAX_RANK];
    bool complete, endless;
    task *then;
};

struct activation {
    int64_t ready;
    task *task;
};

struct node {
    struct pe pe;                              /* first: a program's pe is its node */
    struct engine *engine;
    int32_t id, role, invocations, configurations;
    int32_t moved;                             /* the stream that moved last, by its colour */
    int64_t filled_at;                         /* the last cycle in which a FIFO was */
    int32_t fifos, last_filled;
    uint32_t filled;                           /* the colours with a FIFO */
    int64_t started, busy_until, sent;         /* sent: the last cycle in which it did */
    int64_t finished;                          /* when its last invocation is complete, or 0 */
    struct intake *intake;                     /* [colour] */
    task *torn_down;                           /* what runs when the router obeyed a TEARDOWN */
    struct instruction *instruction;           /* in program order */
    int32_t instructions, instruction_space, endless;
    struct activation *activation;             /* in the order of activation */
    int32_t activations, activation_space;
};

struct source {                                /* the external link beside a node */
    int32_t first, inlets, last;
};

/* ---- The clock ------------------------------------------------------------------------------- */

enum actor { SOURCES, NODES, ROUTERS, ACTORS };

struct wake_list {
    int32_t *id;
    int32_t count, space;
};

struct put_off {                               /* a wake-up beyond the horizon */
    int64_t cycle;
    enum actor actor;
    int32_t id;
};

struct put_off_list {
    struct put_off *item;
    int32_t count, space;
};

struct clock {
    struct wake_list list[HORIZON][ACTORS];
    struct put_off_list later[HORIZON];        /* what to ask again for, at the horizon */
    int64_t *asked[ACTORS], *looked_at[ACTORS]; /* per actor: last asked for; last looked at */
    int64_t waiting;
};

struct engine {
    const struct layout *layout;
    struct outcome *outcome;
    int64_t now, last_done;
    int32_t size, channels, sources, running;  /* running: PEs with invocations to complete */
    int64_t expected;                          /* output elements, or ends, still to come */
    enum status status;
    bool running_mains;
    struct clock clock;
    struct node *node;
    struct intake *intakes;
    struct channel *channel;
    int32_t *channel_of;                       /* [node][side][colour], -1: no route */
    int32_t *first_channel, *turn;             /* [node + 1]; whose turn it is in a router */
    uint8_t *switches;                         /* [node][colour], enum switch_bits */
    int64_t *outlet_count, *outlet_ends;
    int32_t *outlet_of;                        /* [node][side][colour] of external links, -1 */
    struct source *source;
    int64_t *inlet_count;
    struct parcel *parcels;
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
void wake_upstream(struct engine *engine, const struct channel *channel);
int32_t neighbour(const struct engine *engine, int32_t node, int side);
bool is_outside(const struct engine *engine, int32_t node, int side);
void step_router(struct engine *engine, int32_t id);
void step_node(struct engine *engine, int32_t id);
void step_source(struct engine *engine, int32_t id);
int64_t present(const struct node *node);
void run_main(struct node *node);
void move_streams(struct node *node);
bool fill_fifos(struct node *node);
bool is_colour(struct node *node, int colour);
bool can_send(struct node *node, int colour);
bool can_receive(struct node *node, int colour);
uint64_t colours_received(const struct node *node);
struct parcel take(struct node *node, int colour, int64_t dispatch);
bool can_take(const struct node *node, int colour);
void leave_for_router(struct node *node, int out, struct parcel parcel);
void activate_at(struct node *node, task *activated, int64_t ready);
bool build(struct engine *engine);
void release(struct engine *engine);
void report_stuck(struct engine *engine);
void *grow(struct engine *engine, void *items, int32_t *space, size_t size);
void fail(struct engine *engine, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static inline int32_t slot_of(const struct engine *engine, int32_t node, int side, int colour)
{
    return (node * SIDES + side) * engine->layout->colours + colour;
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
    return &engine->switches[(int64_t)node * engine->layout->colours + colour];
}

uint32_t popped(uint32_t bits);
void obey(struct engine *engine, const struct channel *channel, struct parcel *parcel);
void let_go_on(struct node *node, int colour, uint32_t position);
void issue(struct node *node, struct instruction instruction);
void issue_wavelet(struct node *node, int colour, uint32_t bits, uint32_t control);

/* ---- Elements of vector instructions --------------------------------------------------------- */

static inline bool is_float(enum element type)
{
    return type == FLOAT16 || type == FLOAT32;
}

static inline bool is_fused(const struct vector *v)
{
    return v->operation == FMA || v->operation == FMS || v->operation == FNMA;
}

struct rate {                                  /* cycles, of which `rounding` are among `lanes` */
    int64_t lanes, rounding, memory;
};

struct rate rate_of(const struct machine *machine, const struct vector *v,
                    char *const base[MAX_OPERANDS]);
int operands_of(const struct vector *v);
bool is_number(const struct vector *v, int k);
size_t element_size(enum element type);
int64_t points(const struct sizes *sizes);
uint32_t element_to_fabric(enum element type, const void *element);
void element_from_fabric(enum element type, uint32_t bits, void *element);
void apply(const struct vector *v, void *d, const void *a, const void *b, const void *c);
bool is_scalar(const struct vector *v, int k);
bool is_inside(const struct node *node, const struct vector *v, int k, const char *base);

#endif
