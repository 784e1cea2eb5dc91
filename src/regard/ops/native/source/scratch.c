/* The arenas of `scratch.h`: blocks that are filled from their start. A call that outgrows the block it found gets
   further ones, and the next call one block as large as all of them. */
#include <limits.h>
#include <pthread.h>
#include "scratch.h"
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define GAP 64 /* bytes that no buffer has, so that the sanitizer sees a step past the end of one */
#else
#define ASAN_POISON_MEMORY_REGION(start, bytes) ((void)(start), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(start, bytes) ((void)(start), (void)(bytes))
#define GAP 0
#endif

struct block {
    block *next;
    size_t size, used; /* bytes behind the header */
};

#define HEADER 64 /* bytes before the first buffer, which starts on a cache line */

static _Thread_local arena own;
static pthread_key_t ends;
static int can_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;

INLINE char *data_of(block *b) { return (char *)b + HEADER; }

static void release(void *from) {
    arena *a = from;
    while (a->newest) {
        block *next = a->newest->next;
        ASAN_UNPOISON_MEMORY_REGION(data_of(a->newest), a->newest->size);
        free(a->newest);
        a->newest = next;
    }
}

static void make_key(void) { can_end = !pthread_key_create(&ends, release); }

arena *regard_begin(void) {
    own.failed = 0;
    if (own.newest && own.newest->next) release(&own);
    if (own.newest) {
        own.newest->used = 0;
        ASAN_POISON_MEMORY_REGION(data_of(own.newest), own.newest->size);
    } else {
        /* threads of Python come and go: without an end to its arena, each would leave it behind */
        pthread_once(&once, make_key);
        own.failed = !can_end || pthread_setspecific(ends, &own);
    }
    return &own;
}

float *regard_scratch(arena *a, long rows, long width, long lines) {
    long words;
    if (a->failed || __builtin_mul_overflow(rows, width, &words)) goto failed;
    if (__builtin_add_overflow(words, LINE * lines, &words) || words < 0 || words > LONG_MAX / 8) goto failed;
    size_t bytes = ((size_t)words * 4 + 63) / 64 * 64 + GAP;
    block *b = a->newest;
    if (!b || b->size - b->used < bytes) {
        size_t size = !b && a->total > bytes ? a->total : bytes;
        if (!(b = aligned_alloc(64, HEADER + size))) goto failed;
        *b = (block){a->newest, size, 0};
        a->total = a->newest ? a->total + size : size;
        a->newest = b;
        ASAN_POISON_MEMORY_REGION(data_of(b), size);
    }
    char *at = data_of(b) + b->used;
    b->used += bytes;
    ASAN_UNPOISON_MEMORY_REGION(at, (size_t)words * 4);
    return (float *)at;
failed:
    release(a); /* the call reads none of it, and a smaller one can succeed */
    a->total = 0;
    a->failed = 1;
    return NULL;
}
