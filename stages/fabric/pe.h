/* What a PE program may use: the only file that it includes.
 *
 * A program is a `main`, which configures and says what the PE reacts to, and a function per task.
 * A task never waits: it runs at once, and the cycles charged to it delay what follows on its PE.
 * What has a fabric operand is queued, streams on its own, and on completion activates a task.
 * What is called wrongly ends the run, and so does what a task does that no PE can, and whatever is
 * still under way or waits when nothing moves any more: the error names the PE, its task, the colour.
 */
#ifndef PE_H
#define PE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ---- Elements -------------------------------------------------------------------------------- */

typedef struct {
    uint16_t bits;
} float16;

/* The value of x; exact. */
static inline float f32(float16 x)
{
    const uint32_t sign = (uint32_t)(x.bits & 0x8000u) << 16;
    const uint32_t magnitude = (uint32_t)(x.bits & 0x7fffu) << 13;
    const uint32_t exponent = magnitude & 0x0f800000u;
    const uint32_t smallest = 113u << 23;      /* 2^-14, the smallest normal number */
    uint32_t bits = magnitude + (112u << 23);
    float value, least;

    if (exponent == 0x0f800000u)
        bits += 112u << 23;
    if (exponent == 0) {
        bits += 1u << 23;
        memcpy(&value, &bits, sizeof value);
        memcpy(&least, &smallest, sizeof least);
        value -= least;
        memcpy(&bits, &value, sizeof bits);
    }
    bits |= sign;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The float16 nearest to x; of two, the even one. Too large gives infinity; NaN stays NaN. */
static inline float16 f16(float x)
{
    uint32_t bits, sign, rounded;
    float shifted;

    memcpy(&bits, &x, sizeof bits);
    sign = bits & 0x80000000u;
    bits ^= sign;
    if (bits > 0x7f800000u) {
        rounded = 0x7c00u | ((bits >> 13) & 0x3ffu);
        rounded += rounded == 0x7c00u;
    } else if (bits >= 0x47800000u) {
        rounded = 0x7c00u;
    } else if (bits < 0x38800000u) {
        memcpy(&shifted, &bits, sizeof shifted);
        shifted += 0.5f;                       /* its last bit is the last bit of a subnormal */
        memcpy(&bits, &shifted, sizeof bits);
        rounded = bits - 0x3f000000u;
    } else {
        rounded = (bits - (112u << 23) + 0xfffu + ((bits >> 13) & 1u)) >> 13;
    }
    return (float16){ (uint16_t)(sign >> 16 | rounded) };
}

enum element { FLOAT16, FLOAT32, INT16, INT32 };

/* ---- Scalar functions ------------------------------------------------------------------------ */

/* The largest integer that is not above a / b. */
static inline int64_t floord(int64_t a, int64_t b)
{
    const int64_t quotient = a / b;

    return quotient - (a % b != 0 && (a < 0) != (b < 0));
}

static inline int64_t min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Unlike fmaxf and fminf, these and relu give NaN if an argument is NaN, as MAX and MIN do. */
static inline float maximum(float a, float b)
{
    return a >= b || a != a ? a : b;
}

static inline float minimum(float a, float b)
{
    return a <= b || a != a ? a : b;
}

static inline float relu(float x)
{
    return x < 0.0f ? 0.0f : x;
}

static inline float sigmoid(float x)
{
    return 1.0f / (1.0f + expf(-x));
}

/* 1 / x, which is infinite for 0 only: the largest number where it would be beyond it. */
static inline float reciprocal(float x)
{
    const float found = 1.0f / x, most = 0x1.fffffep127f;

    return x != 0.0f ? minimum(maximum(found, -most), most) : found;
}

static inline float less(float a, float b)
{
    return a < b ? 1.0f : 0.0f;
}

static inline float less_equal(float a, float b)
{
    return a <= b ? 1.0f : 0.0f;
}

static inline float equal(float a, float b)
{
    return a == b ? 1.0f : 0.0f;
}

static inline float selected(float c, float a, float b)
{
    return c != 0.0f ? a : b;
}

/* Functions, so that a program may compare a thing with itself without a warning. */
static inline int64_t less_integer(int64_t a, int64_t b)
{
    return a < b;
}

static inline int64_t less_equal_integer(int64_t a, int64_t b)
{
    return a <= b;
}

static inline int64_t equal_integer(int64_t a, int64_t b)
{
    return a == b;
}

static inline int64_t selected_integer(int64_t c, int64_t a, int64_t b)
{
    return c != 0 ? a : b;
}

/* As SLL, SLR and SAR: shifted by less than 0 or more than 31 nothing is left but the sign. */
static inline int32_t shifted_left(int32_t a, int32_t count)
{
    return (uint32_t)count < 32 ? (int32_t)((uint32_t)a << count) : 0;
}

static inline int32_t shifted_right_logical(uint32_t a, int32_t count)
{
    return (uint32_t)count < 32 ? (int32_t)(a >> count) : 0;
}

static inline int32_t shifted_right(int32_t a, int32_t count)
{
    return a >> ((uint32_t)count < 32 ? count : 31);
}

/* Towards zero; what is beyond -most - 1 or most is that, and NaN is 0. */
static inline int32_t truncated(float x, int32_t most)
{
    const double wide = x;

    if (wide != wide)
        return 0;
    if (wide >= most)
        return most;
    return wide <= -most - 1.0 ? -most - 1 : (int32_t)wide;
}

/* ---- Wavelets -------------------------------------------------------------------------------- */

/* 32 bits. Sparse: the value in the low half, its index in the high half. Dense: one element. */
typedef struct {
    uint32_t bits;
} wavelet;

static inline int wavelet_index(wavelet w)
{
    return (int)(w.bits >> 16);
}

static inline float16 wavelet_float16(wavelet w)
{
    return (float16){ (uint16_t)w.bits };
}

static inline float wavelet_float32(wavelet w)
{
    float value;

    memcpy(&value, &w.bits, sizeof value);
    return value;
}

static inline int16_t wavelet_int16(wavelet w)
{
    const uint16_t bits = (uint16_t)w.bits;
    int16_t value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline int32_t wavelet_int32(wavelet w)
{
    int32_t value;

    memcpy(&value, &w.bits, sizeof value);
    return value;
}

static inline wavelet sparse_bits(uint16_t bits, int index)
{
    return (wavelet){ (uint32_t)(uint16_t)index << 16 | bits };
}

/* A sparse wavelet as a stream sends it from memory. */
static inline int32_t sparse_float16(float16 value, int index)
{
    return wavelet_int32(sparse_bits(value.bits, index));
}

static inline int32_t sparse_int16(int16_t value, int index)
{
    return wavelet_int32(sparse_bits((uint16_t)value, index));
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* What lies so many words of 16 bits behind the beginning of an array: elements of any type. */
static inline void *at_word(int16_t *array, int16_t words)
{
    return array + (uint16_t)words;
}

/* ---- The PE ---------------------------------------------------------------------------------- */

/* The kinds of operations of scalar code, in the order of machine/scalar_code.py; docs/machines.md
 * says what each is. */
#define KINDS(each)                                                                                \
    each(loop) each(scalar) each(address) each(integer_product) each(constant_division)            \
    each(wide_integer) each(wide_product) each(float_operation) each(division) each(square_root)   \
    each(exponential) each(power) each(load) each(store) each(branch)

/* How many operations of each kind; or the cycles of one. */
struct operations {
#define MEMBER(kind) int64_t kind;
    KINDS(MEMBER)
#undef MEMBER
};

/* Cycles of scalar code, by kind. */
struct spent {
#define MEMBER(kind) int32_t kind;
    KINDS(MEMBER)
#undef MEMBER
};

struct counter {
    int64_t calls, points;
};

struct pe {
    int x, y;                                  /* x grows to the east, y to the south */
    void *memory;                              /* the program's struct memory, zero at first */
    int64_t ready;                             /* the charge at which all its results can be read */
    int64_t waited;                            /* the part of the charge that waited for results */
    int64_t charge;                            /* cycles charged to the running task so far, */
    struct spent *spent;                       /* and what scalar code took so far, in all tasks */
    const struct operations *costs;            /* cycles of one operation of each kind */
    struct counter *counters;
    int computes;                              /* whether the running task has run an instance */
};

typedef void task(struct pe *pe);
typedef void wavelet_task(struct pe *pe, wavelet w);

struct program {
    const char *name;
    size_t memory;                             /* bytes of the program's struct memory */
    task *main;
    int counters;
    size_t operands;                           /* the first of these bytes, where operands lie; 0: all */
};

/* Charge a basic block: how many operations of each kind it has, `CHARGE(pe, .loop = 1)`. One that
 * loads anything waits until the vector instructions before it have written their results: so charge
 * what reads a result behind the instruction. */
#define CHARGE(pe, ...) charge(pe, (struct operations){ __VA_ARGS__ })

/* The running task goes on when it was charged so many cycles. */
static inline void wait_until(struct pe *pe, int64_t ready)
{
    if (ready > pe->charge) {
        pe->waited += ready - pe->charge;
        pe->charge = ready;
    }
}

static inline void charge(struct pe *pe, struct operations block)
{
    if (block.load != 0)
        wait_until(pe, pe->ready);
#define SPEND(kind)                                                                                \
    if (block.kind != 0) {                                                                         \
        pe->charge += block.kind * pe->costs->kind;                                                \
        pe->spent->kind += (int32_t)(block.kind * pe->costs->kind);                                \
    }
    KINDS(SPEND)
#undef SPEND
}

#define COUNT_CALL(pe, counter) ((void)((pe)->counters[counter].calls += 1))
#define COUNT_INSTANCES(pe, counter, count)                                                        \
    ((void)((pe)->computes = 1, (pe)->counters[counter].points += (count)))
#define COUNT_CYCLES(pe, counter, count) ((void)((pe)->counters[counter].points += (count)))

/* The cycle that the running task has come to, what was charged so far included, once the results of
 * its vector instructions can be read. Asking costs nothing: it is the simulator's, to see how long
 * something takes. */
int64_t read_clock(struct pe *pe);

/* Whether 0 <= number < count. A number that came as a wavelet is anything where routes are wrong: if
 * not, the run ends and says what there are so many of. The simulator's, too: it costs nothing. */
int is_one_of(struct pe *pe, int64_t number, int64_t count, const char *what);

/* ---- Vector instructions --------------------------------------------------------------------- */

/* COPY d = a; ADD d = a + b; SUB, MUL, DIV, MAX, MIN likewise; MAC d = d + a * b.
 * Of four operands, as the multiply-adds of CSL: FMA d = a * b + c; FMS d = a * b - c;
 * FNMA d = c - a * b. A machine without vector_multiply_add has MAC and FMA only, where a or b has no
 * strides, and d has one for each size above 1.
 * Floats are computed in float32, product and sum each, and rounded once to the type of d.
 * Where neither a nor b (nor, for MAC, d, or c) is a float: in int32, wrapping around; no DIV.
 * AND d = a & b; OR and XOR likewise; SLL d = a shifted left by b; SLR and SAR to the right, where
 * zeros follow for SLR, from the width of a on, and the sign of a for SAR. d, a, b are integers.
 * A shift by less than 0 or more than 31 leaves nothing of a: 0, or for SAR its sign, 0 or -1. */
enum operation {
    COPY, ADD, SUB, MUL, DIV, MAX, MIN, MAC, FMA, FMS, FNMA, AND, OR, XOR, SLL, SLR, SAR
};

enum { MAX_RANK = 4, MAX_OPERANDS = 4, NO_COUNTER = -1 };

struct sizes {
    int32_t rank;
    int32_t size[MAX_RANK];
};

struct operand {
    enum element type;
    int32_t stride[MAX_RANK];                  /* in elements, of any sign, one per size */
};

struct vector {
    enum operation operation;
    int32_t counter;
    struct sizes sizes;
    struct operand operand[MAX_OPERANDS];      /* d, a, b, c */
    int32_t configured;
};

#define SIZES(...)                                                                                 \
    ((struct sizes){ (int32_t)(sizeof((const int32_t[]){ __VA_ARGS__ }) / sizeof(int32_t)),        \
                     { __VA_ARGS__ } })
#define FLOAT16_OPERAND(...) ((struct operand){ FLOAT16, { __VA_ARGS__ } })
#define FLOAT32_OPERAND(...) ((struct operand){ FLOAT32, { __VA_ARGS__ } })
#define INT16_OPERAND(...) ((struct operand){ INT16, { __VA_ARGS__ } })
#define INT32_OPERAND(...) ((struct operand){ INT32, { __VA_ARGS__ } })
#define NO_OPERAND FLOAT32_OPERAND(0)          /* the b of a COPY */
#define FLOAT16_FABRIC FLOAT16_OPERAND(0)      /* an operand on the fabric, not in memory */
#define FLOAT32_FABRIC FLOAT32_OPERAND(0)
#define INT16_FABRIC INT16_OPERAND(0)
#define INT32_FABRIC INT32_OPERAND(0)

/* Configure v, which is part of the program's memory, at the profile's cost; counter may be NO_COUNTER.
 * It has up to INT32_MAX points, in 1 to MAX_RANK dimensions of no negative size. */
void configure(struct pe *pe, struct vector *v, int counter, enum operation operation,
               struct sizes sizes, struct operand d, struct operand a, struct operand b);
void configure_fused(struct pe *pe, struct vector *v, int counter, enum operation operation,
                     struct sizes sizes, struct operand d, struct operand a, struct operand b,
                     struct operand c);

/* Run v on memory, in lexicographic order; the points count into v's counter. Nothing is done if a
 * size is 0. Charges start-up + ceil(points / lanes), of the operation and of the types of d and of
 * the operands that are no numbers, and what strides and banks of memory cost. */
void vector_run(struct pe *pe, const struct vector *v, void *d, const void *a, const void *b);
void vector_run_fused(struct pe *pe, const struct vector *v, void *d, const void *a, const void *b,
                      const void *c);

/* Whether all elements of an operand, or its first where there are none, lie in the program's memory,
 * which vector instructions ask by themselves; if not, the run ends. It costs nothing, either. */
int lies_inside(struct pe *pe, struct sizes sizes, struct operand operand, const void *base);

/* ---- The fabric ------------------------------------------------------------------------------ */

/* The elements of v's a, from `a` in memory, to `out`. Then `then` is activated, unless NULL. */
void stream_send(struct pe *pe, const struct vector *v, int out, const void *a, task *then);

/* As stream_send, and behind the last element this PE's own router advances; of none it does not. */
void stream_send_turning(struct pe *pe, const struct vector *v, int out, const void *a, task *then);

/* As many elements as v has points, from `in`, to v's d, at `d` in memory. */
void stream_receive(struct pe *pe, const struct vector *v, int in, void *d, task *then);

/* d = in (v's a) OPERATION memory (v's b, at `b`), element by element: with b the same as d, what
 * arrives accumulates there. MAC adds to what is at d. No operation of four operands. */
void stream_accumulate(struct pe *pe, const struct vector *v, int in, void *d, const void *b,
                       task *then);

/* out = in (v's a) OPERATION memory (v's b, at `b`), element by element; none of four operands, and no
 * MAC, for there is no d to add to. */
void stream_combine(struct pe *pe, const struct vector *v, int out, int in, const void *b,
                    task *then);

/* As many wavelets as v has points, from `in` to `out`, as they are. */
void stream_pass(struct pe *pe, const struct vector *v, int out, int in, task *then);

/* One wavelet, behind everything that was sent on this colour before. */
void send_wavelet(struct pe *pe, int colour, wavelet w);

/* One element, likewise. */
static inline void send_float16(struct pe *pe, int colour, float16 value)
{
    send_wavelet(pe, colour, (wavelet){ value.bits });
}

static inline void send_float32(struct pe *pe, int colour, float value)
{
    wavelet w;

    memcpy(&w.bits, &value, sizeof w.bits);
    send_wavelet(pe, colour, w);
}

static inline void send_int16(struct pe *pe, int colour, int16_t value)
{
    send_wavelet(pe, colour, (wavelet){ (uint16_t)value });
}

static inline void send_int32(struct pe *pe, int colour, int32_t value)
{
    send_wavelet(pe, colour, (wavelet){ (uint32_t)value });
}

/* The control wavelet that ends a sequence. */
void send_end(struct pe *pe, int colour);

/* What a control wavelet tells the routers that it passes: nothing, to move this colour's switch to
 * its next position, or to its first one. Each router sends it on as its switch stands, then obeys
 * the first command, and pops it or not, as its switch says. TEARDOWN suspends the colour there. */
enum command { NOP, ADVANCE, RESET, TEARDOWN };
enum { MAX_COMMANDS = 8 };

struct commands {
    int32_t count;
    enum command command[MAX_COMMANDS];
};

#define COMMANDS(...)                                                                              \
    ((struct commands){ (int32_t)(sizeof((const int32_t[]){ __VA_ARGS__ }) / sizeof(int32_t)),     \
                        { __VA_ARGS__ } })

/* A control wavelet, with an argument of 16 bits if it has a single command, else 0. No PE takes a
 * quiet one. */
void send_control(struct pe *pe, int colour, struct commands commands, int argument, int quiet);

/* The word in memory that stream_send_control sends as that control wavelet. */
int32_t control_word(struct pe *pe, struct commands commands, int argument, int quiet);

/* As stream_send of INT32 words, each of which leaves as the control wavelet that it stands for. */
void stream_send_control(struct pe *pe, const struct vector *v, int out, const int32_t *a,
                         task *then);

/* The argument of a control wavelet; it is lost where its command was popped. */
static inline int32_t argument_of(wavelet w)
{
    return (int32_t)(w.bits & UINT16_MAX);
}

/* The control wavelet that ends the replica of a stream for one PE, a quiet ADVANCE: the routers
 * before it have no further position. The last one is a RESET. */
void send_turn(struct pe *pe, int colour, int last);

/* Run the task whenever this PE's router obeyed a TEARDOWN: nothing of that colour goes on there
 * until `restart_colour`. */
void on_teardown(struct pe *pe, task *reaction);
int is_torn_down(struct pe *pe, int colour);

/* Let the router send on what waits, its switch in a position from 0, from the cycle on that the task
 * has come to. Only what is torn down. */
void restart_colour(struct pe *pe, int colour, int position);

/* A value and its index, from 0 to 65535. */
static inline void send_sparse(struct pe *pe, int colour, float16 value, int index)
{
    if (is_one_of(pe, index, UINT16_MAX + 1, "indices of sparse wavelets"))
        send_wavelet(pe, colour, sparse_bits(value.bits, index));
}

static inline void send_sparse_int16(struct pe *pe, int colour, int16_t value, int index)
{
    if (is_one_of(pe, index, UINT16_MAX + 1, "indices of sparse wavelets"))
        send_wavelet(pe, colour, sparse_bits((uint16_t)value, index));
}

/* From now on what a task or a stream takes from `in` also leaves on `out`, control wavelets, too:
 * with the element of a stream, or when the task was dispatched, which is charged a scalar
 * operation. Nothing is taken before there is space for it on `out`. */
void forward(struct pe *pe, int in, int out);

/* From now on all that comes on `in` leaves on `out`, and nothing takes it. */
void pass_by(struct pe *pe, int in, int out);

/* As pass_by, and each element leaves as a control wavelet, NOP with its low 16 bits as argument;
 * control wavelets leave as they are. */
void pass_as_control(struct pe *pe, int in, int out);

/* ---- Tasks ----------------------------------------------------------------------------------- */

/* Let up to `capacity` more wavelets of the colour wait, in memory that the program keeps for them:
 * two words each, the bits and whether it is a control wavelet. One a cycle goes in, in order, by an
 * instruction that takes one of the machine's threads all the time; a task takes it out with a scalar
 * operation. Both cost nothing where `fifo` of the profile is 0. Only in `main`, once a colour. */
void give_room(struct pe *pe, int colour, int32_t (*room)[2], int32_t capacity);

/* From now on each wavelet of the colour that no stream receives starts the task. */
void on_data(struct pe *pe, int colour, wavelet_task *reaction);
void on_control(struct pe *pe, int colour, wavelet_task *reaction);

/* Run the task once, after the present one. */
void activate(struct pe *pe, task *activated);

/* Of the next two streams that name `then`, only that which is complete last activates it: in CSL the
 * task is blocked, one stream has it as .activate, the other one as .unblock. A PE joins one pair at
 * a time. */
void join(struct pe *pe, task *then);

/* Let the wavelets of the colour wait, streams excepted, until `unblock`. */
void block(struct pe *pe, int colour);
void unblock(struct pe *pe, int colour);

/* Say that this invocation is complete here, once for each. Nonzero if another one is wanted. */
int invocation_done(struct pe *pe);

/* ---- Names ----------------------------------------------------------------------------------- */

/* Say what the running task does, to who records the run. It costs nothing. */
#ifdef NAMED
void name_running(struct pe *pe, const char *what);
#define now_runs(pe, what) name_running(pe, what)
#else
static inline void now_runs(struct pe *pe, const char *what)
{
    (void)pe;
    (void)what;
}
#endif

/* Tasks are known by their names, to who reads of a fault. */
void name_task(struct pe *pe, void (*of)(void), const char *name);

#ifndef ENGINE_H                               /* there the functions are */
static inline task *named_task(struct pe *pe, task *of, const char *name)
{
    name_task(pe, (void (*)(void))of, name);
    return of;
}

static inline wavelet_task *named_reaction(struct pe *pe, wavelet_task *of, const char *name)
{
    name_task(pe, (void (*)(void))of, name);
    return of;
}

/* A task is evaluated once, as by the functions; an argument with commas of its own, as a literal
 * of an array, stands in parentheses. */
#define on_data(pe, colour, t) (on_data)(pe, colour, named_reaction(pe, t, #t))
#define on_control(pe, colour, t) (on_control)(pe, colour, named_reaction(pe, t, #t))
#define on_teardown(pe, t) (on_teardown)(pe, named_task(pe, t, #t))
#define activate(pe, t) (activate)(pe, named_task(pe, t, #t))

/* Vectors, too, where a run is recorded. */
#ifdef NAMED
void name_vector(struct pe *pe, const char *name);

#define NAME_VECTOR(pe, v) name_vector(pe, #v)
#define vector_run(pe, v, d, a, b) (NAME_VECTOR(pe, v), (vector_run)(pe, v, d, a, b))
#define vector_run_fused(pe, v, d, a, b, c)                                                        \
    (NAME_VECTOR(pe, v), (vector_run_fused)(pe, v, d, a, b, c))
#else
#define NAME_VECTOR(pe, v) ((void)0)
#endif

#define STREAM(call, pe, v, t, ...)                                                                \
    (NAME_VECTOR(pe, v), (call)(pe, v, __VA_ARGS__, named_task(pe, t, #t)))
#define stream_send(pe, v, out, a, t) STREAM(stream_send, pe, v, t, out, a)
#define stream_send_turning(pe, v, out, a, t) STREAM(stream_send_turning, pe, v, t, out, a)
#define stream_send_control(pe, v, out, a, t) STREAM(stream_send_control, pe, v, t, out, a)
#define stream_receive(pe, v, in, d, t) STREAM(stream_receive, pe, v, t, in, d)
#define stream_accumulate(pe, v, in, d, b, t) STREAM(stream_accumulate, pe, v, t, in, d, b)
#define stream_combine(pe, v, out, in, b, t) STREAM(stream_combine, pe, v, t, out, in, b)
#define stream_pass(pe, v, out, in, t) STREAM(stream_pass, pe, v, t, out, in)
#endif

#endif
