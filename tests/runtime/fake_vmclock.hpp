// A file in place of /dev/vmclock0: the page as a hypervisor fills it in, by the offsets of linux/vmclock-abi.h.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace idgen {

class FakeVmclock {
 public:
  static constexpr std::size_t kBytes = 4096;
  static constexpr std::size_t kMagic = 0x00, kSize = 0x04, kVersion = 0x08, kSequence = 0x0c, kFlags = 0x18,
                               kGeneration = 0x68, kEnd = 0x70;

  explicit FakeVmclock(std::uint64_t generation) {
    const int fd = mkstemp(path_.data());
    EXPECT_GE(fd, 0);
    EXPECT_EQ(ftruncate(fd, kBytes), 0);
    page_ = static_cast<unsigned char*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    close(fd);
    if (page_ == MAP_FAILED) throw std::bad_alloc();
    set<std::uint32_t>(kMagic, 0x4b4c4356);
    set<std::uint32_t>(kSize, kBytes);
    set<std::uint16_t>(kVersion, 1);
    set<std::uint64_t>(kFlags, 1 << 8);
    set<std::uint64_t>(kGeneration, generation);
  }
  FakeVmclock(const FakeVmclock&) = delete;
  FakeVmclock& operator=(const FakeVmclock&) = delete;
  ~FakeVmclock() {
    munmap(page_, kBytes);
    unlink(path());
  }

  const char* path() const { return path_.c_str(); }
  template <class T>
  void set(std::size_t offset, T value) {
    __atomic_store_n(reinterpret_cast<T*>(page_ + offset), value, __ATOMIC_RELEASE);
  }
  template <class T>
  T get(std::size_t offset) const {
    return __atomic_load_n(reinterpret_cast<const T*>(page_ + offset), __ATOMIC_ACQUIRE);
  }
  // As the hypervisor that has restored this machine.
  void change_generation() {
    const auto sequence = get<std::uint32_t>(kSequence);
    set<std::uint32_t>(kSequence, sequence + 1);
    set<std::uint64_t>(kGeneration, get<std::uint64_t>(kGeneration) + 1);
    set<std::uint32_t>(kSequence, sequence + 2);
  }
  // The rest of the file is gone.
  void cut_to(std::size_t bytes) const { EXPECT_EQ(truncate(path(), static_cast<off_t>(bytes)), 0); }

 private:
  std::string path_ = (std::filesystem::temp_directory_path() / "idgen-vmclock-XXXXXX").string();
  unsigned char* page_ = nullptr;
};

}  // namespace idgen
