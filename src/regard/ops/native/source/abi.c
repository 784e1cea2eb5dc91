/* What `structs.py` and `library.py` must agree with: read when the library is loaded, before anything is called. */
#include "decoding.h"
#include "recurrence.h"

/* Raised by one whenever what a kernel takes or gives changes. */
const long regard_abi = 7;

const long regard_size_of_reading = sizeof(reading);
const long regard_size_of_level = sizeof(level);
const long regard_size_of_recurrence = sizeof(recurrence);
const long regard_size_of_packed = sizeof(packed);
const long regard_size_of_decoder = sizeof(decoder);
const long regard_size_of_sentences = sizeof(sentences);
