/* What `structs.py` and `library.py` must agree with: read when the library is loaded, before anything is called. */
#include "attending.h"
#include "decoding.h"
#include "tape.h"

/* Raised by one whenever what a kernel takes or gives changes. */
const long regard_abi = 4;

const long regard_size_of_source = sizeof(source);
const long regard_size_of_packed = sizeof(packed);
const long regard_size_of_decoder = sizeof(decoder);
const long regard_size_of_sentences = sizeof(sentences);
const long regard_size_of_tape = sizeof(tape);
