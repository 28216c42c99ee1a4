/* A file that somebody has put where a module may be looked for. It shows that it ran. For idgen it is of another
 * version. */
#include <stdlib.h>

__attribute__((constructor)) static void run(void) { setenv("IDGEN_TEST_PLANTED", "ran", 1); }
