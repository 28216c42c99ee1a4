// Counts the ids that occur more than once in files of little-endian 64-bit ids. Exact: every id is compared.
//
// Each file holds the ids of one generator, drawn by one thread, so in rising order (sorted here if not). A merge then
// meets equal ids side by side, in one pass and without extra memory. Prints "IDS DUPLICATES".
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <vector>

namespace {

struct Run {
  std::uint64_t* at;
  std::uint64_t* end;
};

bool map(const char* path, Run& run) {
  const int file = open(path, O_RDONLY);
  struct stat info {};
  if (file < 0 || fstat(file, &info) != 0 || info.st_size % 8 != 0) return false;
  run = {nullptr, nullptr};
  if (info.st_size > 0) {
    // Private and writable, so that sorting would not change the file.
    void* const start =
        mmap(nullptr, static_cast<std::size_t>(info.st_size), PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    if (start == MAP_FAILED) return false;
    run.at = static_cast<std::uint64_t*>(start);
    run.end = run.at + info.st_size / 8;
  }
  close(file);
  if (!std::is_sorted(run.at, run.end)) {
    std::fprintf(stderr, "count_duplicates: the ids of %s are not in rising order\n", path);
    std::sort(run.at, run.end);
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Run> runs;
  std::uint64_t total = 0;
  for (int i = 1; i < argc; ++i) {
    Run run;
    if (!map(argv[i], run)) {
      std::perror(argv[i]);
      return 1;
    }
    total += static_cast<std::uint64_t>(run.end - run.at);
    if (run.at != run.end) runs.push_back(run);
  }

  std::uint64_t duplicates = 0;
  std::uint64_t last = 0;
  bool any = false;
  while (!runs.empty()) {
    // The run with the smallest head continues alone up to the smallest head of the others.
    std::size_t low = 0;
    std::uint64_t next = std::numeric_limits<std::uint64_t>::max();
    for (std::size_t i = 1; i < runs.size(); ++i) {
      if (*runs[i].at < *runs[low].at) low = i;
    }
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (i != low) next = std::min(next, *runs[i].at);
    }
    Run& run = runs[low];
    do {
      duplicates += any && *run.at == last;
      last = *run.at++;
      any = true;
    } while (run.at != run.end && *run.at <= next);
    if (run.at == run.end) runs.erase(runs.begin() + static_cast<std::ptrdiff_t>(low));
  }
  std::printf("%llu %llu\n", static_cast<unsigned long long>(total), static_cast<unsigned long long>(duplicates));
}
