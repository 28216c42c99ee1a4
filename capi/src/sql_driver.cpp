// mysql:// and postgres:// over a driver of the host, where their modules are not.
#include <array>
#include <utility>

#include "idgen/mutex.hpp"
#include "idgen/url.hpp"
#include "runtime/process_image.hpp"
#include "sql/server_settings.hpp"
#include "sql_store.hpp"
#include "store/driver_store.hpp"
#include "store/url_parameters.hpp"

using namespace idgen;
using namespace idgen::capi;

namespace {

constexpr std::string_view kParameters[] = {"user_env", "password_env", "password_file", "tls",
                                            "tls_ca",   "socket",       "accept_loss"};
constexpr std::string_view kParametersOfModules[] = {"auth", "channel_binding", "statements", "tls_fingerprint"};
constexpr const char* kInstead = ". Without it, a driver of the program is used";
constexpr std::size_t kMostIdle = 2;  // connections; a refill needs one

struct Driver {
  Driver(const idgen_sql_driver_t& given, void* ctx) : functions(given), context(ctx, given.release) {}

  const idgen_sql_driver_t functions;
  HostContext context;
};

Mutex driver_mutex;
// Never destroyed: when the process ends, the host may no longer be called.
std::shared_ptr<Driver>* driver_of_host IDGEN_GUARDED_BY(driver_mutex) = nullptr;

std::shared_ptr<Driver> current_driver() {
  const MutexLock lock(driver_mutex);
  return driver_of_host != nullptr ? *driver_of_host : nullptr;
}

idgen_sql_connections_t connections_of(const idgen_sql_driver_t& driver) {
  idgen_sql_connections_t connections{};
  connections.struct_size = sizeof connections;
  connections.execute = driver.execute;
  connections.begin = driver.begin;
  connections.commit = driver.commit;
  connections.rollback = driver.rollback;
  return connections;
}

// Throws Error{unsupported} for what only the module knows.
Parameters parameters_of(const StoreUrl& url, const StoreOptions& options, const std::string& absent) {
  const auto refuse = [&](const std::string& what) {
    throw Error(Status::unsupported,
                concat({absent, kInstead, ", which has no ", what, ": leave that out, or install the module"}));
  };
  for (const auto& [key, value] : url.parameters)
    if (std::find(std::begin(kParametersOfModules), std::end(kParametersOfModules), key) !=
        std::end(kParametersOfModules))
      refuse(concat({"parameter ", key}));
  if (url.hosts.size() != 1) refuse("list of hosts");
  if (options.schema != "idgen") refuse(concat({"segment.schema = ", options.schema}));
  return {url, kParameters};
}

class DriverStore final : public SqlStore {
 public:
  DriverStore(std::shared_ptr<Driver> driver, const StoreUrl& url, const StoreOptions& options,
              const sql::Dialect& dialect, std::uint16_t port, const std::string& absent)
      : SqlStore({.shown = url.shown(),
                  .table = sql::kOwnSchema.table,
                  .schema = sql::kOwnSchema.name,
                  .how_to_create = sql::kHowToCreate,
                  .how_to_create_workers = sql::kHowToCreateWorkers,
                  .how_to_create_grants = sql::kHowToCreateGrants}),
        driver_(std::move(driver)),
        calls_(connections_of(driver_->functions)),
        parameters_(parameters_of(url, options, absent)),
        tls_(parameters_.tls("prefer")),
        url_(url),
        port_(port),
        timeout_ms_(static_cast<std::uint64_t>(options.timeout_ms)),
        dialect_(dialect),
        terms_{.step = options.step, .grant_log = options.grant_log, .create = options.create},
        absent_(absent) {
    on_connection([&](const Session& on) {
      if (terms_.create) tables_.create_tables(on);
    });
  }
  DriverStore(const DriverStore&) = delete;
  DriverStore& operator=(const DriverStore&) = delete;
  ~DriverStore() override { DriverStore::disconnect(); }

  std::string describe() const override {
    return concat({"store: ", wording_.shown,
                   " over a driver of the program, because its module is not here; each "
                   "grant is committed there before its first id is issued\n"
                   "power loss: nothing granted is forgotten, as long as the server's disk keeps what it has synced\n"
                   "failover: with asynchronous replicas the newest grants can be lost. A running process then stops "
                   "with STORE_REGRESSED\n",
                   kWorkersSentence});
  }
  bool survives_fork() const override { return (driver_->functions.flags & IDGEN_SQL_DRIVER_FORKS) != 0; }
  void disconnect() noexcept override {
    for (Link& link : idle()) close(link);
  }

 private:
  struct Link {
    void* connection = nullptr;
    std::uint64_t image = 0;  // the process in which it was opened
  };
  using Links = std::array<Link, kMostIdle>;

  void on_connection(const Work& work) override {
    Link link = borrowed();
    HostConnection on(calls_, driver_->context.get(), link.connection, wording_);
    try {
      work({on, dialect_, dialect_.own, terms_});
    } catch (...) {
      on.end();
      give_back(link, on.has_failed());
      throw;
    }
    on.end();
    give_back(link, false);
  }

  // One that answers. Servers, firewalls and proxies cut idle connections, and that must be noticed before anything is
  // sent whose outcome would then be unknown.
  Link borrowed() {
    const std::uint64_t image = process_image();
    for (;;) {
      Link link = taken();
      if (link.connection == nullptr) return connected(image);
      if (link.image != image) continue;  // the parent's: a word on it would be taken for the parent's
      try {
        HostConnection on(calls_, driver_->context.get(), link.connection, wording_);
        on.execute(sql::Statement(dialect_, sql::About::segments, true) << "SELECT 1 AS one");
        return link;
      } catch (const Error&) {
        close(link);
      } catch (...) {
        close(link);
        throw;
      }
    }
  }

  Link connected(std::uint64_t image) {
    const std::string user = parameters_.secret("user", url_.user), socket = parameters_.get("socket");
    const std::string password = parameters_.secret("password", url_.password);
    const StoreHost& host = url_.hosts.front();
    idgen_sql_address_t address{};
    address.struct_size = sizeof address;
    address.dialect = dialect_.database == sql::Database::mysql ? IDGEN_SQL_MYSQL : IDGEN_SQL_POSTGRES;
    address.host = host.name.c_str();
    address.socket = socket.c_str();
    address.port = host.port == 0 ? port_ : host.port;
    address.user = user.c_str();
    address.password = password.c_str();
    address.database = url_.path.c_str();
    address.tls = tls_.mode.c_str();
    address.tls_ca = tls_.ca.c_str();
    address.timeout_ms = timeout_ms_;
    Link link{nullptr, image};
    HostFailure failure;
    const idgen_status_t status =
        driver_->functions.connect(driver_->context.get(), &address, &link.connection, failure.out());
    if (status == IDGEN_E_UNSUPPORTED)
      throw Error(Status::unsupported, concat({absent_, kInstead, ": ", failure.message()}));
    if (status != IDGEN_OK) failure.raise(status, sql::About::segments, wording_);
    try {
      HostConnection on(calls_, driver_->context.get(), link.connection, wording_);
      sql::check_server(on, dialect_, sql::kOwnSchema, wording_, parameters_);
    } catch (...) {
      close(link);
      throw;
    }
    return link;
  }

  Link taken() {
    const MutexLock lock(mutex_);
    for (Link& link : idle_)
      if (link.connection != nullptr) return std::exchange(link, {});
    return {};
  }
  Links idle() noexcept {
    const MutexLock lock(mutex_);
    return std::exchange(idle_, {});
  }
  void give_back(Link link, bool is_broken) noexcept {
    if (!is_broken) {
      const MutexLock lock(mutex_);
      for (Link& place : idle_) {
        if (place.connection != nullptr) continue;
        place = std::exchange(link, {});
        break;
      }
    }
    close(link);
  }
  void close(const Link& link) noexcept {
    if (link.connection != nullptr && link.image == process_image_if_known())
      driver_->functions.close(driver_->context.get(), link.connection);
  }

  const std::shared_ptr<Driver> driver_;
  const idgen_sql_connections_t calls_;
  const Parameters parameters_;
  const TlsTerms tls_;
  const StoreUrl url_;
  const std::uint16_t port_;
  const std::uint64_t timeout_ms_;
  const sql::Dialect& dialect_;
  const sql::Terms terms_;
  const std::string absent_;
  Mutex mutex_;
  Links idle_ IDGEN_GUARDED_BY(mutex_){};
};

std::shared_ptr<Store> open_over_driver(const StoreScheme& scheme, const std::string& url, const StoreOptions& options,
                                        const std::string& absent) {
  std::shared_ptr<Driver> driver = current_driver();
  if (!driver) return nullptr;
  const bool is_mysql = scheme.module == "mysql";
  return std::make_shared<DriverStore>(std::move(driver), StoreUrl::parse(url), options,
                                       is_mysql ? sql::kHostMysql : sql::kHostPostgres, is_mysql ? 3306 : 5432, absent);
}

}  // namespace

extern "C" idgen_status_t idgen_set_sql_driver(const idgen_sql_driver_t* driver, void* ctx, idgen_error_t* err) {
  return guard_uncancelled(err, [&] {
    auto made = std::make_unique<std::shared_ptr<Driver>>();
    if (driver != nullptr) {
      check_struct(driver, "driver");
      const idgen_sql_driver_t copy = *driver;
      if ((copy.flags & ~IDGEN_SQL_DRIVER_FORKS) != 0)
        throw Error(Status::argument, concat({"driver.flags is ", copy.flags, "; allowed: IDGEN_SQL_DRIVER_FORKS, 0"}));
      require(copy.connect, "driver.connect");
      require(copy.close, "driver.close");
      require(copy.execute, "driver.execute");
      require(copy.begin, "driver.begin");
      require(copy.commit, "driver.commit");
      require(copy.rollback, "driver.rollback");
      *made = std::make_shared<Driver>(copy, ctx);
    }
    driver_store = open_over_driver;
    {
      const MutexLock lock(driver_mutex);
      made.reset(std::exchange(driver_of_host, made.release()));
    }  // the one before it is released without the lock
  });
}
