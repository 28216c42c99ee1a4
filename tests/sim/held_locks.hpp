// How many mutexes this thread holds. Programs linked with held_locks.cpp count their calls of pthread_mutex_lock and
// its relatives (the linker's --wrap); see tests/generator/CMakeLists.txt.
#pragma once

namespace idgen::sim {

int held_locks() noexcept;

}  // namespace idgen::sim
