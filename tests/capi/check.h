/* A check that counts. Every group of checks is a function void group(void); main runs all and prints what passed. */
#ifndef IDGEN_TESTS_CAPI_CHECK_H
#define IDGEN_TESTS_CAPI_CHECK_H

#include <idgen/idgen.h>

/* Counts a check; prints it if it failed. Returns ok. */
int check_that(int ok, const char *file, int line, const char *what);
/* As above, for the status of a call: also notes that the status was seen. err may be NULL. */
int check_status(idgen_status_t got, idgen_status_t want, const idgen_error_t *err, const char *file, int line,
                 const char *what);
/* That text contains part. */
int check_contains(const char *text, const char *part, const char *file, int line);
/* Whether some checked call has returned this status. */
int was_seen(idgen_status_t status);

#define CHECK(condition) check_that((condition) != 0, __FILE__, __LINE__, #condition)
#define CHECK_CALL(want, call) check_status((call), (want), NULL, __FILE__, __LINE__, #call)
/* Of this thread's latest call that was given it: a success empties it. */
extern _Thread_local idgen_error_t err;
/* For a call that fills `err`. A failure must fill it with the same status and a message. */
#define CHECK_ERR(want, call) check_status((call), (want), &err, __FILE__, __LINE__, #call)
#define CHECK_SAYS(part) check_contains(err.message, part, __FILE__, __LINE__)

/* A configuration from keys and values, ended by NULL. Never NULL: a mistake here ends the test. */
idgen_config_t *config_with(const char *first_key, ...);
/* A generator from a configuration that it destroys. NULL, and a failed check, if that fails. */
idgen_t *generator_from(idgen_config_t *config, const char *file, int line);
#define GENERATOR(config) generator_from((config), __FILE__, __LINE__)

/* Runs body in a forked child; its result comes back with err. A child that crashes is a failed check and returns
 * -1. */
idgen_status_t in_child(idgen_status_t (*body)(void *argument, idgen_error_t *err), void *argument, idgen_error_t *err);

/* The groups. Each runs in an empty working directory of its own. */
void enumerations(void);
void null_and_wrong_handles(void);
void struct_sizes_and_buffers(void);
void texts_and_layouts(void);
void snowflakes(void);
void views(void);
void segments(void);
void configuration_files(void);
void host_clock(void);
void clock_set_back(void);
void host_store(void);
void host_rows(void);
void host_log(void);
void hidden_ids(void);
void bad_configurations(void);
void bad_stores(void);
void routes(void);
void standard_ids(void);
void patterns(void);
void generators_for_tests(void);

#endif
