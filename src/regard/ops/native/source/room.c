/* A thread's rooms, which end with it: OpenMP ends threads as soon as fewer are asked for, and Python's come and go. */
#include <pthread.h>
#include "vector.h"

static pthread_key_t rooms;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void leave(void *first) {
    for (room *here = first; here; here = here->next) {
        free(here->data);
        here->data = NULL;
        here->size = 0;
    }
}

static void begin(void) {
    if (pthread_key_create(&rooms, leave)) abort();
}

void regard_grow(room *here, size_t bytes) {
    if (!here->data) {
        pthread_once(&once, begin);
        here->next = pthread_getspecific(rooms);
        if (pthread_setspecific(rooms, here)) abort();
    }
    free(here->data);
    here->data = aligned_alloc(64, bytes);
    if (!here->data) abort();
    here->size = bytes;
}
