#include "store/owner_locks.hpp"

#include <memory>

#include "runtime/fork_page.hpp"
#include "runtime/made_once.hpp"

namespace idgen {

struct OwnerLocksOfProcess {
  Mutex mutex;
  std::map<std::string, std::unique_ptr<OwnerLocks>> by_path IDGEN_GUARDED_BY(mutex);

  OwnerLocks& at(const std::string& path) {
    const MutexLock lock(mutex);
    std::unique_ptr<OwnerLocks>& locks = by_path[path];
    if (locks == nullptr) locks.reset(new OwnerLocks(path));
    return *locks;
  }
};

// Never freed: stores may be destroyed late, by the host's own static objects. A child makes its own and leaks the
// parent's, whose mutex may have been locked when it was copied; the parent's descriptors are closed by LockFile.
OwnerLocks& OwnerLocks::at(const std::string& lock_path) {
  static constinit MadeOnce<ForkPage<MadeOnce<OwnerLocksOfProcess>>> page;
  return page.get()->get().at(lock_path);
}

void OwnerLocks::open_locked() {
  if (file_ && file_->is_open() && file_->is_at(path_)) return;
  std::optional<LockFile> file = LockFile::open(path_);
  if (!file) {
    throw Error(
        Status::store_missing,
        concat({"the lock file \"", path_, "\" was deleted while it was in use. It is made again by the next call"}));
  }
  for (const auto& [key, owned] : owned_) file->try_lock(owner_byte(key.first, key.second));
  file_ = std::move(file);
}

OwnerLocks::Claim OwnerLocks::claim(const std::string& name_space, std::uint64_t worker, const void* through) {
  const MutexLock lock(mutex_);
  const Key key{name_space, worker};
  if (owned_.contains(key)) return Claim::held_here;  // the kernel allows it: a description never blocks itself
  open_locked();
  if (!file_->try_lock(owner_byte(name_space, worker))) return Claim::held_elsewhere;
  try {
    owned_[key].through = through;
  } catch (...) {
    unlock(key);
    throw;
  }
  return Claim::granted;
}

void OwnerLocks::own(const std::string& name_space, std::uint64_t worker, std::uint64_t fence,
                     std::int64_t first_start_ms) {
  const MutexLock lock(mutex_);
  Owned& owned = owned_.at({name_space, worker});
  owned.fence = fence;
  owned.first_start_ms = first_start_ms;
}

std::optional<OwnerLocks::Owned> OwnerLocks::find(const std::string& name_space, std::uint64_t worker) {
  const MutexLock lock(mutex_);
  const auto found = owned_.find({name_space, worker});
  return found == owned_.end() ? std::nullopt : std::optional(found->second);
}

void OwnerLocks::release(const std::string& name_space, std::uint64_t worker, std::uint64_t fence) noexcept {
  const MutexLock lock(mutex_);
  for (auto at = owned_.begin(); at != owned_.end(); ++at) {
    if (at->first.first != name_space || at->first.second != worker || at->second.fence != fence) continue;
    unlock(at->first);
    owned_.erase(at);
    return;
  }
}

void OwnerLocks::release_all(const void* through) noexcept {
  const MutexLock lock(mutex_);
  for (auto at = owned_.begin(); at != owned_.end();) {
    if (at->second.through == through) unlock(at->first);
    at = at->second.through == through ? owned_.erase(at) : std::next(at);
  }
}

void OwnerLocks::restore() {
  const MutexLock lock(mutex_);
  if (!owned_.empty()) open_locked();
}

void OwnerLocks::unlock(const Key& key) const noexcept {
  if (file_) file_->unlock(owner_byte(key.first, key.second));
}

}  // namespace idgen
