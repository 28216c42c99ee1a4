#include "audit_parquet.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include "failure.hpp"
#include "text.hpp"

extern char** environ;

namespace idgen_tool {
namespace {

// The environment, with the folders of PYTHONPATH that do not depend on the working directory, where another user may
// have put modules. Python takes an empty one for that directory.
std::vector<std::string> environment() {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    constexpr std::string_view kPath = "PYTHONPATH=";
    std::string_view text = *variable;
    if (!text.starts_with(kPath)) {
      variables.emplace_back(text);
      continue;
    }
    std::string folders;
    for (text.remove_prefix(kPath.size()); !text.empty();) {
      const std::string_view folder = text.substr(0, text.find(':'));
      text.remove_prefix(std::min(folder.size() + 1, text.size()));
      if (folder.starts_with('/')) folders.append(folders.empty() ? "" : ":").append(folder);
    }
    if (!folders.empty()) variables.push_back(std::string(kPath) + folders);
  }
  return variables;
}

// Writes one line, "binary COLUMN", "lines COLUMN" or what is wrong, and then the ids: 8 bytes each, least significant
// first, or as text. A null is a line that is no id. The first folder of modules is empty, the working directory.
constexpr const char* kScript = R"(
import sys
sys.path[:] = [folder for folder in sys.path if folder]
path, wanted = sys.argv[1:]
out = sys.stdout.buffer
def say(kind, text):
    out.write(f"{kind} {text}".replace("\n", " ").encode() + b"\n")
def main():
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        return say("missing", "")
    try:
        file = pyarrow.parquet.ParquetFile(path)
    except Exception as error:
        return say("unreadable", error)
    names = file.schema_arrow.names
    found = [n for n in names if n == wanted] if wanted else [n for n in names if n.lower() == "id"]
    if not wanted and len(names) == 1:
        found = names
    if wanted.isdigit() and not found and 1 <= int(wanted) <= len(names):
        found = [names[int(wanted) - 1]]
    if not found:
        return say("column", ", ".join(names))
    name = found[0]
    kind = file.schema_arrow.field(name).type
    def nulls(group):
        for i in range(group.num_columns):
            column = group.column(i)
            if column.path_in_schema == name:
                known = column.statistics
                return known.null_count if known and known.has_null_count else 1
        return 1
    groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
    is_binary = sys.byteorder == "little" and pyarrow.types.is_integer(kind) and not any(map(nulls, groups))
    say("binary" if is_binary else "lines", name)
    wide = pyarrow.uint64() if pyarrow.types.is_unsigned_integer(kind) else pyarrow.int64()
    for batch in file.iter_batches(batch_size=1 << 16, columns=[name]):
        column = batch.column(0)
        if is_binary:
            column = column.cast(wide)
            out.write(memoryview(column.buffers()[1])[column.offset * 8:(column.offset + len(column)) * 8])
        else:
            out.write("".join(f"{'null' if v is None else v}\n" for v in column.to_pylist()).encode())
    out.flush()
try:
    main()
except BrokenPipeError:
    sys.stderr.close()
    sys.exit(1)
)";

}  // namespace

ParquetPipe::ParquetPipe(const std::string& path, const std::string& column) : path_(path) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw IoError(std::string("cannot make a pipe: ") + std::strerror(errno));
  pipe_ = Descriptor(ends[0]);
  Descriptor theirs(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, theirs.get(), STDOUT_FILENO);
  std::string words[] = {"python3", "-c", kScript, path, column};
  char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), words[4].data(), nullptr};
  std::vector<std::string> variables = environment();
  std::vector<char*> environment_of_python;
  for (std::string& variable : variables) environment_of_python.push_back(variable.data());
  environment_of_python.push_back(nullptr);
  const int why = posix_spawnp(&python_, "python3", &actions, nullptr, arguments, environment_of_python.data());
  posix_spawn_file_actions_destroy(&actions);
  if (why != 0) {
    python_ = -1;
    throw IoError("Parquet is read by python3 with pyarrow, and python3 cannot be started (" +
                  std::string(std::strerror(why)) + "). Install both (pip install pyarrow), or export to CSV");
  }
  theirs = Descriptor();  // or the end would never be seen
  const std::string said = line();
  const std::size_t space = said.find(' ');
  const std::string kind = said.substr(0, space), text = space == said.npos ? "" : said.substr(space + 1);
  if (kind == "missing")
    throw IoError(
        "Parquet is read by python3 with pyarrow, which is missing. Install it (pip install pyarrow), or "
        "export to CSV");
  if (kind == "unreadable") throw IoError("cannot read " + path + ": " + one_line(text));
  if (kind == "column") {
    throw UsageError(path +
                     (column.empty() ? " has no column called id; name the one of the ids with --column"
                                     : " has no column '" + one_line(column) + "'") +
                     "; it has " + one_line(text));
  }
  if (kind != "binary" && kind != "lines")
    throw IoError("cannot read " + path + ": python3 said '" + one_line(said) + "'");
  format_ = kind == "binary" ? DumpFormat::binary : DumpFormat::lines;
  column_ = text;
}

ParquetPipe::~ParquetPipe() {
  if (python_ < 0) return;
  kill(python_, SIGKILL);
  while (waitpid(python_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::string ParquetPipe::line() {
  std::string out;
  for (char c; read(&c, 1) == 1 && c != '\n';) out += c;
  return out;
}

std::size_t ParquetPipe::read(char* to, std::size_t size) {
  for (;;) {
    wait_for_input(pipe_.get());
    const ssize_t n = ::read(pipe_.get(), to, size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw IoError("cannot read " + path_ + ": " + std::strerror(errno));
    if (n > 0) return static_cast<std::size_t>(n);
    int status = 0;
    if (python_ >= 0) {
      while (waitpid(python_, &status, 0) < 0 && errno == EINTR) {
      }
      python_ = -1;
    }
    if (status != 0) throw IoError("cannot read " + path_ + ": python3 ended with an error, see above");
    return 0;
  }
}

}  // namespace idgen_tool
