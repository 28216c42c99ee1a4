// The rows of workers in an SQL database; see store/worker_rows.hpp.
#pragma once

#include <string>

#include "sql/dialect.hpp"
#include "sql/statement.hpp"
#include "store/worker_rows.hpp"

namespace idgen::sql {

// By one connection, for one call.
class WorkerTable final : public WorkerServer {
 public:
  WorkerTable(Connection& connection, const Dialect& dialect, const std::string& shown)
      : connection_(connection), dialect_(dialect), shown_(shown) {}

  HeldWorker read_worker(const std::string& name_space, std::uint64_t worker) override;
  void list_workers(const std::string& name_space, bool numbers_only, const EachWorker& each) override;
  bool replace_worker(const std::string& name_space, std::uint64_t worker, HeldWorker& held, const WorkerRow& next,
                      const WindowRequest* request) override;
  std::string format_of(const std::string& name_space, const std::string& format) override;

 private:
  HeldWorker held_of(const std::string& name_space, std::uint64_t worker, const Row& row) const;
  std::int64_t signed_number(const std::string& name_space, std::uint64_t worker, const Cell& cell) const;
  [[noreturn]] void fail_damaged(const std::string& name_space, std::uint64_t worker, const std::string& what) const;

  Connection& connection_;
  const Dialect& dialect_;
  const std::string& shown_;
};

}  // namespace idgen::sql
