// How many mutexes this thread holds. A program that is linked with held_locks.cpp has its calls of pthread_mutex_lock
// and the like counted (the linker's --wrap); see tests/generator/CMakeLists.txt.
#pragma once

namespace idgen::sim {

int held_locks() noexcept;

}  // namespace idgen::sim
