// Memory for keys: pages of their own, not swapped and not in a core dump where the system allows that, and wiped
// before they are given back.
#pragma once

#include <openssl/crypto.h>
#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace idgen::cipher {

class SecretPages {
 public:
  explicit SecretPages(std::size_t size) : size_(size) {
    void* const pages = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    pages_ = pages;
    is_locked_ = mlock(pages_, size_) == 0;  // RLIMIT_MEMLOCK may forbid it
    (void)madvise(pages_, size_, MADV_DONTDUMP);
  }
  SecretPages(const SecretPages&) = delete;
  SecretPages& operator=(const SecretPages&) = delete;
  ~SecretPages() {
    OPENSSL_cleanse(pages_, size_);
    munmap(pages_, size_);
  }

  void* data() const noexcept { return pages_; }
  std::size_t size() const noexcept { return size_; }
  bool is_locked() const noexcept { return is_locked_; }

 private:
  void* pages_ = nullptr;
  std::size_t size_;
  bool is_locked_ = false;
};

// Wipes a variable at the end of its block.
template <class T>
class Wiped {
 public:
  T value{};
  Wiped() = default;
  Wiped(const Wiped&) = delete;
  Wiped& operator=(const Wiped&) = delete;
  ~Wiped() { OPENSSL_cleanse(&value, sizeof value); }
};

}  // namespace idgen::cipher
