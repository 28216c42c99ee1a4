// The store of a program that has connections of its own.
#include <atomic>
#include <exception>

#include "sql_store.hpp"

using namespace idgen;
using namespace idgen::capi;

namespace {

constexpr const char* kShown = "the program's own database";

const sql::Dialect* dialect_of(int32_t number) {
  switch (number) {
    case IDGEN_SQL_MYSQL:
      return &sql::kHostMysql;
    case IDGEN_SQL_POSTGRES:
      return &sql::kHostPostgres;
    case IDGEN_SQL_SQLITE:
      return &sql::kHostSqlite;
    default:
      return nullptr;
  }
}

class HostSqlStore final : public SqlStore {
 public:
  HostSqlStore(const idgen_sql_connections_t& host, void* ctx)
      : SqlStore(
            {.shown = kShown,
             .table = sql::kOwnSchema.table,
             .schema = sql::kOwnSchema.name,
             .how_to_create =
                 "Create it with the store's own function, or `idgen segment create --store URL --tag TAG`",
             .how_to_create_workers =
                 "Create the tables with the store's own function, or make them with `idgen store create --store URL`",
             .how_to_create_grants = "The log of grants (segment.grant_log) needs it. Create the tables with the "
                                     "store's own function, given the "
                                     "same configuration, or make them with `idgen store create --store URL`"}),
        host_(host),
        ctx_(ctx, host.release) {}

  void configure(const StoreOptions& options) override {
    StoreOptions others = options;
    others.grant_log = 0;
    Store::configure(others);
    grant_log_ = options.grant_log;
  }

  std::string describe() const override {
    return concat(
        {"store: ", kShown,
         "; each grant is committed there before its first id is issued. What its server does in a crash or a "
         "failover is not checked\n",
         kWorkersSentence});
  }
  // Connections, locks and interpreters of the host are not made for a child.
  bool survives_fork() const override { return false; }

 private:
  struct Job {
    HostSqlStore& store;
    const Work& work;
    bool has_run = false;
    std::exception_ptr failure{};
  };

  // The host decides on which thread. What the work throws is thrown here.
  void on_connection(const Work& work) override {
    Job job{*this, work};
    HostFailure failure;
    const idgen_status_t status = host_.with_connection(ctx_.get(), run, &job, failure.out());
    if (job.failure) std::rethrow_exception(job.failure);
    if (job.has_run) return;
    if (status != IDGEN_OK) failure.raise(status, sql::About::segments, wording_);
    throw Error(Status::store_unavailable,
                concat({kShown, ": with_connection returned IDGEN_OK without a connection"}));
  }
  static int32_t run(void* given, void* connection, int32_t dialect) noexcept {
    Job& job = *static_cast<Job*>(given);
    if (std::exchange(job.has_run, true)) return IDGEN_SQL_DONE;
    HostSqlStore& store = job.store;
    HostConnection on(store.host_, store.ctx_.get(), connection, store.wording_);
    try {
      const sql::Dialect* const known = dialect_of(dialect);
      if (known == nullptr)
        throw Error(Status::argument,
                    concat({"dialect: ", dialect, " is none of IDGEN_SQL_MYSQL, _POSTGRES, _SQLITE"}));
      if (!on.is_idle(*known)) {
        job.failure = std::make_exception_ptr(
            Error(Status::store_unsafe,
                  "the pool gave a connection that is inside a transaction, which is its owner's to commit or to roll "
                  "back: nothing was asked of it and nothing was granted. For connections that nobody else uses, give "
                  "the store a small pool of its own with autocommit on"));
        return IDGEN_SQL_REFUSED;
      }
      const sql::Terms terms{.grant_log = store.grant_log_};
      job.work({on, *known, known->own, terms});
    } catch (...) {
      job.failure = std::current_exception();
    }
    on.end();
    return on.has_failed() ? IDGEN_SQL_FAILED : IDGEN_SQL_DONE;
  }

  const idgen_sql_connections_t host_;
  HostContext ctx_;
  std::atomic<std::uint64_t> grant_log_{0};
};

}  // namespace

extern "C" idgen_status_t idgen_config_set_sql_store(idgen_config_t* config, const idgen_sql_connections_t* connections,
                                                     void* ctx, idgen_error_t* err) {
  return guard_uncancelled(err, [&] {
    Config& target = open_handle(config, "config");
    const idgen_sql_connections_t copy = check_vtable(connections, "connections");
    require(copy.with_connection, "connections.with_connection");
    require(copy.execute, "connections.execute");
    require(copy.begin, "connections.begin");
    require(copy.commit, "connections.commit");
    require(copy.rollback, "connections.rollback");
    target.store = std::make_shared<HostSqlStore>(copy, ctx);
  });
}
