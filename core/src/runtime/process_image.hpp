// Which process image runs this code: a forked child is another one, also after a raw clone().
//
// Process ids do not tell: the first process of a container has the id 1, and so has its child in a nested one.
#pragma once

#include <cstdint>

namespace idgen {

// The same number in one process image, another one than in all its ancestors; never 0. The first call may throw
// Error{unsupported} or std::bad_alloc.
std::uint64_t process_image();

// The same, or 0 if nobody has asked in this image or an ancestor. For fork handlers: allocates nothing.
std::uint64_t process_image_if_known() noexcept;

}  // namespace idgen
