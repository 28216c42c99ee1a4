/* Orders over HTTP, with libmicrohttpd, libpq and ids from idgen.
 *
 * PORT: where it listens. DATABASE_URL: where the rows are. IDGEN_ORDERS_STORE: where the ids come from. SIGTERM ends
 * it once all requests that have begun are answered. */

#include <idgen/idgen.h>
#include <jansson.h>
#include <libpq-fe.h>
#include <microhttpd.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 4, LONGEST_BODY = 4096, SECONDS_TO_END = 20 };

static idgen_t *order_ids; /* any number of threads may draw */

/* One connection for all threads. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static PGconn *database;

/* What of a request has arrived. */
struct request {
  size_t size; /* above LONGEST_BODY: too long */
  char body[LONGEST_BODY];
};

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status, json_t *json) {
  char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
  json_decref(json);
  if (!text) return MHD_NO;
  struct MHD_Response *response = MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_FREE);
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "application/json");
  enum MHD_Result result = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status, const char *why) {
  return answer(connection, status, json_pack("{s:s}", "error", why));
}

/* The log has the reason, and the client has not: it may name hosts, users and values of rows. */
static enum MHD_Result unavailable(struct MHD_Connection *connection, const char *why) {
  fprintf(stderr, "%s\n", why);
  return refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "not possible now; try again");
}

/* Runs a statement on the connection, which is opened again if it was lost. The caller clears the result. */
static PGresult *run(const char *statement, int count, const char *const *values) {
  pthread_mutex_lock(&mutex);
  if (PQstatus(database) != CONNECTION_OK) PQreset(database);
  PGresult *result = PQexecParams(database, statement, count, NULL, values, NULL, NULL, 0);
  pthread_mutex_unlock(&mutex);
  return result;
}

static enum MHD_Result place(struct MHD_Connection *connection, const char *customer) {
  idgen_error_t err = IDGEN_ERROR_INIT;
  uint64_t id = 0;
  if (idgen_next(order_ids, &id, &err)) return unavailable(connection, err.message);
  char number[24];
  snprintf(number, sizeof number, "%llu", (unsigned long long)id);
  const char *values[] = {number, customer};
  PGresult *result = run("INSERT INTO orders(id, customer) VALUES($1, $2)", 2, values);
  enum MHD_Result done =
      PQresultStatus(result) == PGRES_COMMAND_OK
          ? answer(connection, MHD_HTTP_CREATED, json_pack("{s:I, s:s}", "id", (json_int_t)id, "customer", customer))
          : unavailable(connection, PQresultErrorMessage(result));
  PQclear(result);
  return done;
}

static enum MHD_Result find(struct MHD_Connection *connection, const char *number) {
  size_t digits = strspn(number, "0123456789");
  if (digits == 0 || digits > 18 || number[digits]) return refuse(connection, MHD_HTTP_NOT_FOUND, "that is no id");
  const char *values[] = {number};
  PGresult *result = run("SELECT id, customer FROM orders WHERE id = $1", 1, values);
  enum MHD_Result done;
  if (PQresultStatus(result) != PGRES_TUPLES_OK) {
    done = unavailable(connection, PQresultErrorMessage(result));
  } else if (PQntuples(result) == 0) {
    done = refuse(connection, MHD_HTTP_NOT_FOUND, "there is no such order");
  } else {
    json_int_t id = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
    done = answer(connection, MHD_HTTP_OK, json_pack("{s:I, s:s}", "id", id, "customer", PQgetvalue(result, 0, 1)));
  }
  PQclear(result);
  return done;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *data, size_t *size, void **state) {
  (void)context, (void)version;
  struct request *request = *state;
  if (!request) return (*state = calloc(1, sizeof *request)) ? MHD_YES : MHD_NO;
  if (*size) {
    if (request->size + *size <= LONGEST_BODY) memcpy(request->body + request->size, data, *size);
    request->size += *size;
    *size = 0;
    return MHD_YES;
  }
  if (strcmp(method, "GET") == 0 && strncmp(url, "/orders/", 8) == 0) return find(connection, url + 8);
  if (strcmp(method, "POST") != 0 || strcmp(url, "/orders") != 0) {
    return refuse(connection, MHD_HTTP_NOT_FOUND, "there are POST /orders and GET /orders/ID");
  }
  if (request->size > LONGEST_BODY) return refuse(connection, MHD_HTTP_CONTENT_TOO_LARGE, "too long");
  json_t *order = json_loadb(request->body, request->size, 0, NULL);
  const char *customer = json_string_value(json_object_get(order, "customer"));
  enum MHD_Result done = customer ? place(connection, customer)
                                  : refuse(connection, MHD_HTTP_BAD_REQUEST, "expected {\"customer\": \"NAME\"}");
  json_decref(order);
  return done;
}

static void forget(void *context, struct MHD_Connection *connection, void **state,
                   enum MHD_RequestTerminationCode how) {
  (void)context, (void)connection, (void)how;
  free(*state);
}

static unsigned connections(struct MHD_Daemon *daemon) {
  return MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS)->num_connections;
}

static int fail(const char *why) {
  fprintf(stderr, "%s\n", why);
  return EXIT_FAILURE;
}

int main(void) {
  sigset_t signals; /* of all threads, so that only sigwait gets them */
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, NULL);
  if (!getenv("PORT") || !getenv("DATABASE_URL")) return fail("PORT and DATABASE_URL must be set");

  database = PQconnectdb(getenv("DATABASE_URL"));
  if (PQstatus(database) != CONNECTION_OK) return fail(PQerrorMessage(database));
  idgen_error_t err = IDGEN_ERROR_INIT;
  if (idgen_open("idgen.toml", "orders", &order_ids, &err)) return fail(err.message);

  struct MHD_Daemon *daemon =
      MHD_start_daemon(MHD_USE_AUTO_INTERNAL_THREAD | MHD_USE_ITC | MHD_USE_ERROR_LOG, (uint16_t)atoi(getenv("PORT")),
                       NULL, NULL, handle, NULL, MHD_OPTION_THREAD_POOL_SIZE, (unsigned)THREADS,
                       MHD_OPTION_NOTIFY_COMPLETED, forget, NULL, MHD_OPTION_END);
  if (!daemon) return fail("the port cannot be listened on");

  int signal;
  sigwait(&signals, &signal);
  close(MHD_quiesce_daemon(daemon)); /* no more connections */
  for (int i = 0; i < SECONDS_TO_END * 100 && connections(daemon) > 0; ++i) usleep(10000);
  MHD_stop_daemon(daemon);
  idgen_destroy(order_ids); /* what is left of its numbers goes back to the store */
  PQfinish(database);
  return EXIT_SUCCESS;
}
