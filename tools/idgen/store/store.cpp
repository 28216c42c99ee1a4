// idgen store: makes the store that holds the rows of segments and workers.
#include <memory>

#include "shared/command.hpp"
#include "shared/output.hpp"
#include "shared/settings.hpp"
#include "shared/text.hpp"

namespace idgen_tool {
namespace {

// "store sqlite:/srv/ids.db, identity 0f4d...", as in the description of every generator on it.
std::string name_and_identity(const Config& config) {
  const Config described = make_config();
  for (const char* key : {"store", "directory"}) set(described, key, value(config, key));
  set(described, "kind", "segment");  // no tag in particular: nothing is requested from it
  const std::string text = read_text([&](char* buffer, std::size_t* size, idgen_error_t* error) {
    return idgen_config_describe(described.get(), buffer, size, error);
  });
  const std::size_t begin = text.find("\nstore ");
  const std::size_t identity = text.find(", identity ", begin);  // after a path, which may contain anything
  if (identity == std::string::npos) return "store " + one_line(without_secrets(value(config, "store")));  // a server
  const std::size_t end = text.find(": ", identity);
  return one_line(text.substr(begin + 1, end - begin - 1));
}

int create(const Settings& settings) {
  const Config config = settings.make();
  ErrorSlot error;
  check(idgen_store_create(config.get(), error), error);
  print(name_and_identity(config) + ": ready\n");
  return kExitOk;
}

}  // namespace

Command store_command() {
  auto settings = std::make_shared<Settings>();
  Command create_command{
      .name = "create",
      .summary = "Make a store that is missing, without a tag.",
      .usage = {"--store URL | --config FILE [--name NAME]"},
      .details = R"(
That is all that snowflakes need; segments need `idgen segment create`, which makes the tag too. An existing
store is left as it is, so this can be repeated. Prints the store and its identity.

On a server this makes the tables of segments and workers. For memory, redis, etcd and zookeeper there is
nothing to make. A buffer is refused (UNSUPPORTED): its first tag makes it. A SQLite store is lost if its
PATH-lock exists without the database: then no new one is made (STORE_MISSING).
)",
      .examples = {"idgen store create --store sqlite:ids.db", "idgen store create --config idgen.toml --name events"},
      .options = settings->options({"store"}),
      .run = [settings] { return create(*settings); },
  };
  return {
      .name = "store",
      .summary = "Make the store that holds segments and workers.",
      .usage = {"create --store URL | --config FILE [--name NAME]"},
      .details = R"(
A store keeps the reservations, so that no id is issued twice. Make it once, by hand: a lost store
is then an error, and never silently replaced by a new one.
)",
      .examples = {"idgen store create --store sqlite:ids.db"},
      .commands = {create_command},
  };
}

}  // namespace idgen_tool
