/* The vectors of instructions under way: those with the same content are kept once. */
#include <stdlib.h>

#include "engine.h"

struct kept_vector {
    struct vector vector;                      /* first: what is given out is what is kept */
    int32_t uses, bucket;
    struct kept_vector *next;
};

void make_vectors(struct engine *engine)
{
    engine->vector_buckets = 64;
    while (engine->vector_buckets < engine->size / 4)
        engine->vector_buckets *= 2;
    engine->vectors = zeros(engine, engine->vector_buckets, sizeof *engine->vectors);
}

static int32_t bucket_of(const struct engine *engine, const struct vector *vector)
{
    uint64_t words[sizeof *vector / 8], key = 0;

    _Static_assert(sizeof *vector % 8 == 0, "a vector is whole words");
    memcpy(words, vector, sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof *words; i += 1)
        key = (key ^ words[i] ^ key >> 29) * 0x9e3779b97f4a7c15u;
    return (int32_t)(key >> 32 & (uint32_t)(engine->vector_buckets - 1));
}

/* A vector of this content that stays as it is until `drop_vector`; NULL if there is no memory. */
const struct vector *keep_vector(struct engine *engine, const struct vector *vector)
{
    const int32_t bucket = bucket_of(engine, vector);
    struct kept_vector *kept = engine->vectors[bucket];

    while (kept != NULL && memcmp(&kept->vector, vector, sizeof *vector) != 0)
        kept = kept->next;
    if (kept == NULL) {
        kept = zeros(engine, 1, sizeof *kept);
        if (kept == NULL)
            return NULL;
        kept->vector = *vector;
        kept->bucket = bucket;
        kept->next = engine->vectors[bucket];
        engine->vectors[bucket] = kept;
    }
    kept->uses += 1;
    return &kept->vector;
}

void drop_vector(struct engine *engine, const struct vector *vector)
{
    struct kept_vector *kept = (struct kept_vector *)(uintptr_t)vector;
    struct kept_vector **link;

    if (vector == NULL || --kept->uses > 0)
        return;
    link = &engine->vectors[kept->bucket];
    while (*link != kept)
        link = &(*link)->next;
    *link = kept->next;
    free(kept);
}

void release_vectors(struct engine *engine)
{
    for (int32_t i = 0; engine->vectors != NULL && i < engine->vector_buckets; i += 1)
        for (struct kept_vector *kept = engine->vectors[i], *next; kept != NULL; kept = next) {
            next = kept->next;
            free(kept);
        }
    free(engine->vectors);
}
