// The module of hidden ids: keys in, and with them a permutation of the ids of a layout. docs/hidden-ids.md says what
// it protects and what not.
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aes.hpp"
#include "guard.hpp"
#include "idgen/cipher_module.h"
#include "idgen/text.hpp"
#include "master_keys.hpp"
#include "secret.hpp"

namespace idgen::cipher {
namespace {

using module::guard;

struct Settings {
  std::string mode = "ff1", name_space, key_file;
  std::optional<std::uint32_t> version;
  bool records = true;
};

constexpr Block mask_of(unsigned bits) { return bits >= 128 ? ~Block{0} : (Block{1} << bits) - 1; }

std::string decimal(Block number) {
  std::string digits;
  do digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(number % 10)));
  while ((number /= 10) != 0);
  return digits;
}

std::string hex(const std::uint8_t* bytes, std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) {
    text += "0123456789abcdef"[bytes[i] >> 4];
    text += "0123456789abcdef"[bytes[i] & 15];
  }
  return text;
}

using Digest = std::uint8_t[32];

void hmac(const void* key, std::size_t key_size, const void* text, std::size_t size, Digest& out) {
  unsigned length = 0;
  // An empty key is a key, but not a null pointer.
  if (HMAC(EVP_sha256(), key_size == 0 ? "" : key, static_cast<int>(key_size), static_cast<const std::uint8_t*>(text),
           size, out, &length) == nullptr)
    throw Error(Status::internal, "libcrypto refuses HMAC-SHA256");
}

// HKDF of RFC 5869 with SHA-256, for one block of output.
void hkdf(const MasterKey& master, const std::string& salt, const std::string& info, Digest& out) {
  Wiped<Digest> extracted;
  hmac(salt.data(), salt.size(), master.bytes, master.size, extracted.value);
  const std::string expanding = info + '\x01';
  hmac(extracted.value, sizeof extracted.value, expanding.data(), expanding.size(), out);
}

// What one key version needs to hide and to reveal.
struct VersionKey {
  AesKey aes;
  Block p;      // FF1: the encrypted P
  Block mask;   // chacha20, aes-ctr: what is XORed
  Block tweak;  // FF1: all of it but the gene
  std::uint32_t version;
  bool is_retired;
  char check[17];  // of the derived key: public, and the same for two nodes exactly if their keys are
};

// All versions, lowest first, in secret pages. Never changed once it is in use; a reload makes another one.
struct KeySet {
  const KeySet* before;  // in use earlier. Another thread may still be reading it, so it goes when the cipher does
  std::size_t count;
  const VersionKey* hiding;  // NULL: all are retired
  const VersionKey* only;    // of a layout without a version field: the one version that there is
  const VersionKey* keys;

  const VersionKey* find(std::uint64_t version) const noexcept {
    if (hiding != nullptr && hiding->version == version) return hiding;
    const VersionKey* const end = keys + count;
    const VersionKey* const found = std::lower_bound(
        keys, end, version, [](const VersionKey& key, std::uint64_t wanted) { return key.version < wanted; });
    return found != end && found->version == version ? found : nullptr;
  }
  bool operator==(const KeySet& other) const noexcept {
    const auto number = [](const VersionKey* key) { return key == nullptr ? 0 : key->version; };
    return number(hiding) == number(other.hiding) && number(only) == number(other.only) &&
           std::equal(
               keys, keys + count, other.keys, other.keys + other.count, [](const VersionKey& a, const VersionKey& b) {
                 return a.version == b.version && a.is_retired == b.is_retired && std::string_view(a.check) == b.check;
               });
  }
};

// Owns a KeySet and the pages that it is in.
class OwnedKeys {
 public:
  explicit OwnedKeys(std::size_t count)
      : pages_(std::make_unique<SecretPages>(sizeof(KeySet) + alignof(VersionKey) + count * sizeof(VersionKey))) {
    set_ = new (pages_->data()) KeySet{};
    constexpr std::size_t kAt = (sizeof(KeySet) + alignof(VersionKey) - 1) / alignof(VersionKey) * alignof(VersionKey);
    keys_ = reinterpret_cast<VersionKey*>(static_cast<char*>(pages_->data()) + kAt);
    set_->keys = keys_;
    set_->count = count;
  }
  KeySet& set() const noexcept { return *set_; }
  VersionKey& key(std::size_t index) const noexcept { return keys_[index]; }
  bool is_locked() const noexcept { return pages_->is_locked(); }

  OwnedKeys* before = nullptr;

 private:
  std::unique_ptr<SecretPages> pages_;
  KeySet* set_;
  VersionKey* keys_;
};

// The keys that were archived in a namespace, the first one first: "7 ff1 0123456789abcdef". An entry names a key by
// its check value, not only a number: that number may belong to the next key by now.
class Archive {
 public:
  static std::string entry(std::uint32_t version, const std::string& value) {
    return std::to_string(version) + " " + value;
  }
  // False: no entry is there twice, and this is none.
  bool add(const std::string& entry) {
    if (version_of(entry) == 0 || has(entry)) return false;
    entries_.push_back(entry);
    return true;
  }
  bool has(const std::string& entry) const {
    return std::find(entries_.begin(), entries_.end(), entry) != entries_.end();
  }
  std::size_t size() const noexcept { return entries_.size(); }
  // How many keys of this version were archived before the one that may have the number now.
  std::size_t generation(std::uint32_t version) const {
    return static_cast<std::size_t>(std::count_if(
        entries_.begin(), entries_.end(), [&](const std::string& each) { return version_of(each) == version; }));
  }
  // Each one once, the lowest first.
  std::vector<std::uint32_t> versions() const {
    std::vector<std::uint32_t> found;
    for (const std::string& each : entries_) found.push_back(version_of(each));
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

 private:
  static std::uint32_t version_of(const std::string& entry) {
    return static_cast<std::uint32_t>(std::strtoul(entry.c_str(), nullptr, 10));
  }
  std::vector<std::string> entries_;
};

class Cipher {
 public:
  Cipher(Settings settings, const idgen_cipher_shape& shape)
      : settings_(std::move(settings)), shape_(shape), engine_(best_engine()) {
    is_ff1_ = settings_.mode == "ff1";
    check_shape();
    ff1_ = ff1_shape(shape_.bits, kTweakBytes);
    field_mask_ = mask_of(shape_.bits) << shape_.shift;
    if (!has_one_version()) version_mask_ = mask_of(shape_.version_bits) << shape_.version_shift;
    Digest digest;
    SHA256(reinterpret_cast<const std::uint8_t*>(settings_.name_space.data()), settings_.name_space.size(), digest);
    tweak_base_ = (Block{digest[0]} << 24 | Block{digest[1]} << 16 | Block{digest[2]} << 8 | digest[3]) << 56 |
                  Block{format()} << 48;
  }
  Cipher(const Cipher&) = delete;
  Cipher& operator=(const Cipher&) = delete;
  ~Cipher() {
    for (OwnedKeys* keys = current_.load(); keys != nullptr;) delete std::exchange(keys, keys->before);
  }

  void open(const idgen_cipher_host& host) {
    Archive archive;
    std::unique_ptr<OwnedKeys> keys;
    do {
      archive = archived(host);
      keys = read(host, archive);
    } while (!is_latest(host, archive));
    current_ = keys.release();
    if (!settings_.records && !has_one_version()) numbers_ = numbers_in(host, archive);
  }

  // Calls for ids go on meanwhile, with the keys that they began with.
  void reload(const idgen_cipher_host& host) {
    for (;;) {
      OwnedKeys* seen = current_.load(std::memory_order_acquire);
      const Archive archive = archived(host);
      std::unique_ptr<OwnedKeys> fresh;
      std::exception_ptr refused;
      try {
        fresh = read(host, archive);
        check_not_rekeyed(seen->set(), fresh->set(), archive);
      } catch (...) {
        if (archive.size() == 0 && is_latest(host, archive)) throw;
        // Whatever is wrong with the fresh keys: an archived one would reveal forms of the next key wrongly.
        refused = std::current_exception();
        fresh = without_archived(seen->set(), archive);
      }
      if (!refused && !is_latest(host, archive)) continue;
      if (!(fresh->set() == seen->set())) {
        fresh->before = seen;
        // Somebody else has reloaded meanwhile, and perhaps from a later file than we have read: read it again.
        if (!current_.compare_exchange_strong(seen, fresh.get(), std::memory_order_acq_rel)) continue;
        static_cast<void>(fresh.release());
      }
      if (!refused) return;
      if (is_latest(host, archive)) std::rethrow_exception(refused);
    }
  }

  // Frees the number of a version that is among the keys, retired. Once it is archived, this does nothing. All is
  // checked before the first record is written; without settings_.records, nothing is written.
  void archive(const idgen_cipher_host& host, std::uint32_t version) const {
    const std::string subject = "key version " + std::to_string(version);
    if (has_one_version())
      throw Error(Status::unsupported,
                  subject + ": ids of this layout have no version field, so their key can never change");
    check_fits(version);
    MasterKeys masters;
    read_masters(host, masters);
    std::size_t at = 0;
    while (at < masters.count() && masters.at(at).version != version) ++at;
    if (at == masters.count()) throw Error(Status::value, subject + ": there is no such key to archive");
    if (!masters.at(at).is_retired) {
      throw Error(Status::value, subject +
                                     " is not retired. First retire it, then remove its line everywhere and have every "
                                     "process reload its keys, and archive it then");
    }
    const OwnedKeys owned(1);
    derive(masters.at(at), owned.key(0));
    const std::string value = value_of(owned.key(0)), entry = Archive::entry(version, value);
    Archive archive = archived(host);
    if (archive.has(entry)) return;
    // A version that no process began is begun here, so that a process with a copy of this key is refused later.
    check_record(host, key_name(version, archive), value,
                 "nothing is archived: " + subject +
                     " is another key in the store. Only the key that has a number can give it up");
    if (!settings_.records) return;
    // Another process may archive at this moment. Wherever the entry is, it is there once, and it is of this key.
    while (!archive.has(entry)) add(archive, record(host, archive_name(archive), entry));
  }

  // get(i) and put(i, id): ids as an Id, a number of 64 bits or a Block.
  template <class Id, class Get, class Put>
  void apply(Direction direction, std::size_t count, Get&& get, Put&& put) const {
    const KeySet& keys = current_.load(std::memory_order_acquire)->set();
    const auto value_of = [&](Id id) {
      return Block{static_cast<Id>((id & static_cast<Id>(field_mask_)) >> shape_.shift)};
    };
    if (count == 1) {
      const Id id = get(0);
      const VersionKey& key = key_for(keys, direction, id, 0, 1);
      const Block tweak = tweak_of(key, id);
      Block value = value_of(id);
      permute(key, &tweak, &value, 1, direction);
      put(0, with<Id>(direction, id, key, value));
      return;
    }
    // All are checked before the first one is written.
    const VersionKey* const same = key_of_all<Id>(keys, direction, count, get);
    if (same == nullptr)
      for (std::size_t i = 0; i < count; ++i) key_for(keys, direction, get(i), i, count);
    for (std::size_t done = 0; done < count;) {
      constexpr std::size_t kChunk = 5 * kBatchLanes;
      Id ids[kChunk];
      Block tweaks[kChunk], values[kChunk];
      const std::size_t most = std::min(kChunk, count - done);
      ids[0] = get(done);
      const VersionKey& key = same != nullptr ? *same : key_for(keys, direction, ids[0], done, count);
      std::size_t n = 0;
      for (; n < most; ++n) {
        const Id id = get(done + n);
        if (same == nullptr && direction == Direction::reveal && version_in(id) != version_in(ids[0])) break;
        ids[n] = id;
        tweaks[n] = tweak_of(key, id);
        values[n] = value_of(id);
      }
      permute(key, tweaks, values, n, direction);
      for (std::size_t i = 0; i < n; ++i) put(done + i, with<Id>(direction, ids[i], key, values[i]));
      done += n;
    }
  }

  void check_fits_64_bits() const {
    if (shape_.id_bits <= 64) return;
    throw Error(Status::unsupported, "ids of this layout have " + std::to_string(shape_.id_bits) +
                                         " bits, and this call takes 64; use the one for ids of 128 bits");
  }

  std::string describe() const {
    const OwnedKeys& owned = *current_.load(std::memory_order_acquire);
    const KeySet& keys = owned.set();
    const std::string what = shape_.bits == shape_.id_bits ? "the whole id of " + std::to_string(shape_.bits) + " bits"
                                                           : "the segment field of " + std::to_string(shape_.bits) +
                                                                 " bits; every other field stays as it is";
    std::string text = "hidden ids: " + settings_.mode + " over " + what + "\n";
    if (is_ff1_) {
      text += std::string("ff1: NIST SP 800-38G with AES-128 and radix 2, by ") + engine_.name + "\n";
    } else {
      text += "Warning: " + settings_.mode +
              " is a mask, not an encryption: one id that is known in both forms reveals the mask, and with it all "
              "ids of the key version. Ids that follow each other differ in the same bits in both forms. Use ff1\n";
    }
    for (std::size_t i = 0; i < keys.count; ++i) {
      const VersionKey& key = keys.keys[i];
      text += "key version " + std::to_string(key.version) + ": " +
              (&key == keys.hiding ? "hides and reveals"
               : key.is_retired    ? "retired, reveals only"
                                   : "reveals") +
              ", check value " + key.check + "\n";
    }
    if (has_one_version()) {
      text +=
          "The layout has no version field: these ids have one key version for ever, and nothing tells a hidden id "
          "from "
          "a plain one.\n";
    }
    text += numbers_;
    text += std::string("keys in memory: ") +
            (owned.is_locked() ? "never swapped" : "may be swapped, because RLIMIT_MEMLOCK is too low") +
            ", and left out of core dumps\n";
    text +=
        "Not hidden: whether two ids are equal, and the fields outside the hidden one. A hidden id is no permission: "
        "anybody can make one up, so check who asks.\n";
    return text;
  }

 private:
  static constexpr unsigned kTweakBytes = 11;  // namespace 4, format 1, gene 3, key version 3

  bool has_one_version() const noexcept { return shape_.version_bits == 0; }
  std::uint64_t most_versions() const noexcept {
    // The largest number is kept for a later extension.
    return has_one_version() ? kMostVersion : std::min<std::uint64_t>(kMostVersion, low_bits(shape_.version_bits) - 1);
  }
  unsigned format() const noexcept { return has_one_version() ? 3 : shape_.id_bits > 64 ? 2 : 1; }

  void check_shape() const {
    if (shape_.bits < kFf1LeastBits || shape_.bits > kFf1MostBits) {
      throw Error(Status::unsupported, "ids with " + std::to_string(shape_.bits) +
                                           " bits to hide; allowed: " + std::to_string(kFf1LeastBits) + " to " +
                                           std::to_string(kFf1MostBits) + ", in fewer they could be tried out");
    }
  }

  std::uint64_t version_in(Block id) const noexcept {
    return static_cast<std::uint64_t>(id >> shape_.version_shift) & low_bits(shape_.version_bits);
  }
  Block tweak_of(const VersionKey& key, Block id) const noexcept {
    if (shape_.gene_bits == 0) return key.tweak;
    const std::uint64_t gene = static_cast<std::uint64_t>(id >> shape_.gene_shift) & low_bits(shape_.gene_bits);
    return key.tweak | Block{gene & 0xFFFFFF} << 24;
  }
  Block tweak_of(const VersionKey& key, std::uint64_t id) const noexcept {
    if (shape_.gene_bits == 0) return key.tweak;
    return key.tweak | Block{(id >> shape_.gene_shift & low_bits(shape_.gene_bits) & 0xFFFFFF) << 24};
  }

  void permute(const VersionKey& key, const Block* tweaks, Block* values, std::size_t count,
               Direction direction) const {
    if (is_ff1_) {
      engine_.ff1(key.aes, ff1_, key.p, tweaks, values, count, direction);
    } else {
      for (std::size_t i = 0; i < count; ++i) values[i] ^= key.mask;
    }
  }

  template <class Id>
  Id with(Direction direction, Id id, const VersionKey& key, Block value) const noexcept {
    id = (id & ~static_cast<Id>(field_mask_)) | static_cast<Id>(value) << shape_.shift;
    if (has_one_version()) return id;
    return direction == Direction::hide ? id | Id{key.version} << shape_.version_shift
                                        : id & ~static_cast<Id>(version_mask_);
  }

  // The key of all ids; NULL if they have different ones, or if there may be something wrong with one of them.
  template <class Id, class Get>
  const VersionKey* key_of_all(const KeySet& keys, Direction direction, std::size_t count, Get&& get) const {
    const Id first = get(0);
    Id some = 0, different = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const Id id = get(i);
      some |= id;
      different |= id ^ first;
    }
    if ((some & ~static_cast<Id>(mask_of(shape_.id_bits))) != 0 || (different & static_cast<Id>(version_mask_)) != 0)
      return nullptr;
    return &key_for(keys, direction, first, 0, count);
  }

  // Throws Error{value} if there is none for this id.
  const VersionKey& key_for(const KeySet& keys, Direction direction, Block id, std::size_t index,
                            std::size_t count) const {
    if ((id & ~mask_of(shape_.id_bits)) != 0) [[unlikely]]
      refuse(id, index, count,
             "has bits outside the layout, which has " + std::to_string(shape_.id_bits) + "; it is not one of its ids");
    if (has_one_version()) {
      if (direction == Direction::hide && keys.hiding == nullptr) [[unlikely]]
        refuse_hiding(keys);
      return *keys.only;
    }
    const std::uint64_t version = version_in(id);
    if (direction == Direction::hide) {
      if (version != 0) [[unlikely]]
        refuse(id, index, count,
               "is hidden already, by key version " + std::to_string(version) + "; hide takes a plain id");
      if (keys.hiding == nullptr) [[unlikely]]
        refuse_hiding(keys);
      return *keys.hiding;
    }
    const VersionKey* const key = keys.find(version);
    if (key == nullptr) [[unlikely]]
      refuse_version(keys, id, index, count, version);
    return *key;
  }

  [[noreturn, gnu::cold]] static void refuse(Block id, std::size_t index, std::size_t count, const std::string& why) {
    throw Error(Status::value,
                "id " + decimal(id) +
                    (count == 1 ? "" : ", number " + std::to_string(index + 1) + " of " + std::to_string(count) + ",") +
                    " " + why);
  }
  [[noreturn, gnu::cold]] void refuse_version(const KeySet& keys, Block id, std::size_t index, std::size_t count,
                                              std::uint64_t version) const {
    if (version == 0) refuse(id, index, count, "is not hidden: its version field is 0. reveal takes a hidden id");
    if (version > most_versions())
      refuse(id, index, count,
             "has version " + std::to_string(version) + ", which is kept for a later extension; it is no id of ours");
    refuse(id, index, count,
           "was hidden by key version " + std::to_string(version) + ", and there is no such key here; there are: " +
               versions_of(keys) + ". If that version is new, reload the keys");
  }
  [[noreturn, gnu::cold]] void refuse_hiding(const KeySet& keys) const {
    if (settings_.version) {
      throw Error(Status::value, "cipher.version = " + std::to_string(*settings_.version) +
                                     ": that key was archived, so it hides nothing more. Name another version");
    }
    throw Error(Status::value,
                "these keys hide nothing: every version is retired (" + versions_of(keys) +
                    "), or the one that hid was archived; add one with `idgen key rotate`, and reload the keys");
  }
  static std::string versions_of(const KeySet& keys) {
    std::string text = keys.count == 0 ? "there is none" : "";
    for (std::size_t i = 0; i < keys.count; ++i) text += (i == 0 ? "" : ", ") + std::to_string(keys.keys[i].version);
    return text;
  }

  // Throws Error{config_file} for the keys themselves, Error{value} for cipher.version, Error{format_mismatch} if the
  // store knows another key by the same number, Error{store_*}.
  std::unique_ptr<OwnedKeys> read(const idgen_cipher_host& host, const Archive& archive) const {
    MasterKeys masters;
    read_masters(host, masters);
    auto owned = std::make_unique<OwnedKeys>(masters.count());
    std::array<std::uint16_t, kMostKeys> order;
    for (std::size_t i = 0; i < masters.count(); ++i) order[i] = static_cast<std::uint16_t>(i);
    std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(masters.count()),
              [&](std::uint16_t a, std::uint16_t b) { return masters.at(a).version < masters.at(b).version; });
    KeySet& set = owned->set();
    for (std::size_t i = 0; i < masters.count(); ++i) {
      const MasterKey& master = masters.at(order[i]);
      check_fits(master.version);
      derive(master, owned->key(i));
      offer(set, owned->key(i));
    }
    choose(set);
    check_with_store(host, set, archive);
    return owned;
  }

  void check_fits(std::uint32_t version) const {
    if (version <= most_versions()) return;
    throw Error(Status::value, "key version " + std::to_string(version) +
                                   " does not fit the layout's version field; allowed: 1 to " +
                                   std::to_string(most_versions()) +
                                   ". `idgen key retire --archive` frees the number of a key that is not needed any "
                                   "more");
  }

  // The keys of `seen` that were not archived. There may be none. If the key that hid is not among them, none hides:
  // another one may be retired everywhere else.
  std::unique_ptr<OwnedKeys> without_archived(const KeySet& seen, const Archive& archive) const {
    std::vector<const VersionKey*> kept;
    for (std::size_t i = 0; i < seen.count; ++i) {
      const VersionKey& key = seen.keys[i];
      if (!archive.has(Archive::entry(key.version, value_of(key)))) kept.push_back(&key);
    }
    auto owned = std::make_unique<OwnedKeys>(kept.size());
    for (std::size_t i = 0; i < kept.size(); ++i) {
      owned->key(i) = *kept[i];
      if (kept[i] == seen.hiding) owned->set().hiding = &owned->key(i);
    }
    owned->set().only = owned->set().hiding;
    return owned;
  }

  // Keys are offered lowest version first, so the highest that is not retired hides.
  void offer(KeySet& set, const VersionKey& key) const {
    const bool is_wanted = !settings_.version || *settings_.version == key.version;
    if (is_wanted && !key.is_retired) set.hiding = &key;
  }

  void read_masters(const idgen_cipher_host& host, MasterKeys& masters) const {
    struct To {
      MasterKeys& masters;
      std::exception_ptr failure;
    } to{masters, nullptr};
    idgen_module_error err{};
    const auto check = [&](std::int32_t status) {
      if (to.failure) std::rethrow_exception(to.failure);
      if (status != 0) throw Error(static_cast<Status>(status), err.message, err.retry_after_ns);
    };
    if (host.keys != nullptr) {
      check(host.keys(
          host.ctx,
          [](void* into, std::uint32_t version, const std::uint8_t* key, std::size_t size, std::int32_t retired) {
            auto& all = *static_cast<To*>(into);
            try {
              if (!all.failure)
                all.masters.add("the host's key version " + std::to_string(version), version, key, size, retired != 0);
            } catch (...) {
              all.failure = std::current_exception();
            }
          },
          &to, &err));
      if (masters.count() == 0) throw Error(Status::config_file, "the host's keys: there is none");
    } else if (host.key_text != nullptr) {
      check(host.key_text(
          host.ctx,
          [](void* into, const char* text) {
            auto& all = *static_cast<To*>(into);
            try {
              all.masters.parse("the variable of cipher.key", text, true);
            } catch (...) {
              all.failure = std::current_exception();
            }
          },
          &to, &err));
    } else {
      masters.read_file(settings_.key_file);
    }
  }

  void derive(const MasterKey& master, VersionKey& out) const {
    const std::string info =
        "libidgen/" + settings_.mode + "/v1|" + std::to_string(shape_.bits) + "|" + std::to_string(master.version);
    Wiped<Digest> derived;
    hkdf(master, settings_.name_space, info, derived.value);
    const std::size_t size = settings_.mode == "chacha20" ? 32 : 16;
    Digest check;
    hmac(derived.value, size, "kcv", 3, check);
    const std::string shown = hex(check, 8);
    std::copy(shown.begin(), shown.end(), out.check);
    out.check[16] = '\0';
    out.version = master.version;
    out.is_retired = master.is_retired;
    out.tweak = tweak_base_ | master.version;
    if (!is_ff1_) {
      out.mask = keystream(derived.value);
      return;
    }
    std::copy_n(derived.value, 16, out.aes.rounds[0]);
    if (engine_.expand != nullptr) engine_.expand(out.aes);
    out.p = engine_.encrypt(out.aes, ff1_.p);
  }

  // The first bits of the keystream, with counter and nonce 0: the same for every id of the key version.
  Block keystream(const std::uint8_t* key) const {
    const std::unique_ptr<EVP_CIPHER_CTX, void (*)(EVP_CIPHER_CTX*)> context(EVP_CIPHER_CTX_new(),
                                                                             &EVP_CIPHER_CTX_free);
    if (!context) throw std::bad_alloc();
    const std::uint8_t zero[16] = {};
    Wiped<std::uint8_t[16]> stream;
    int length = 0;
    if (EVP_EncryptInit_ex(context.get(), settings_.mode == "chacha20" ? EVP_chacha20() : EVP_aes_128_ctr(), nullptr,
                           key, zero) != 1 ||
        EVP_EncryptUpdate(context.get(), stream.value, &length, zero, sizeof zero) != 1)
      throw Error(Status::internal, "libcrypto refuses " + settings_.mode);
    Block bits = 0;
    for (const std::uint8_t byte : stream.value) bits = bits << 8 | byte;
    return bits >> (128 - shape_.bits);
  }

  void choose(KeySet& set) const {
    if (settings_.version) {
      const VersionKey* const end = set.keys + set.count;
      const VersionKey* const named =
          std::find_if(set.keys, end, [&](const VersionKey& key) { return key.version == *settings_.version; });
      const std::string name = "cipher.version = " + std::to_string(*settings_.version);
      if (named == end) throw Error(Status::value, name + ": there is no such key; there are: " + versions_of(set));
      if (named->is_retired) {
        throw Error(Status::value, name +
                                       ": that version is retired, so it hides nothing more. Name another one, or "
                                       "none: then the highest that is not retired hides");
      }
    }
    set.only = set.hiding != nullptr ? set.hiding : &set.keys[set.count - 1];
  }

  std::string value_of(const VersionKey& key) const { return settings_.mode + " " + key.check; }

  void check_with_store(const idgen_cipher_host& host, const KeySet& set, const Archive& archive) const {
    if (has_one_version()) {
      // Without the version in its name: there is only one, so that no two keys ever hide ids of this namespace.
      check_record(host, record_name(""),
                   settings_.mode + " " + std::to_string(set.only->version) + " " + set.only->check,
                   "ids of this layout have no version field, so their key can never change: under two keys two ids "
                   "could get one hidden form. Keep the version that it began with (cipher.version), or take another "
                   "namespace for new ids");
      return;
    }
    for (std::size_t i = 0; i < set.count; ++i) {
      const VersionKey& key = set.keys[i];
      const std::string version = std::to_string(key.version), value = value_of(key);
      if (archive.has(Archive::entry(key.version, value))) {
        throw Error(Status::format_mismatch, of_namespace() + "key version " + version +
                                                 " was archived, so another key may have its number. Remove its line "
                                                 "from the keys, and reload them");
      }
      check_record(
          host, key_name(key.version, archive), value,
          "version " + version +
              " was begun with another key or another cipher.mode: under two keys two ids could get one hidden "
              "form. Put the first key back, or give the new one a new number. If the first one was archived, "
              "and the store restored since, archive it again instead");
    }
  }

  // The archived keys. They are read before the keys' own records: if another process archives meanwhile, a key is
  // compared with the record of its predecessor, and refused.
  Archive archived(const idgen_cipher_host& host) const {
    Archive archive;
    if (has_one_version()) return archive;
    for (;;) {
      const std::string found = record(host, archive_name(archive), "");
      if (found.empty()) return archive;
      add(archive, found);
    }
  }
  // A key that was archived after it was looked up was compared with its own record.
  bool is_latest(const idgen_cipher_host& host, const Archive& archive) const {
    return has_one_version() || record(host, archive_name(archive), "").empty();
  }
  void add(Archive& archive, const std::string& found) const {
    const std::string name = archive_name(archive);
    if (!archive.add(found)) {
      throw Error(Status::store_damaged, of_namespace() + "the store has " + in_quotes(found) + " as " +
                                             in_quotes(name) +
                                             ", which names no archived key, or one that was archived before");
    }
  }

  // Which numbers there are: "key versions: 1 to 30; archived: 3, 7; free for another key: 7".
  std::string numbers_in(const idgen_cipher_host& host, const Archive& archive) const {
    std::string archived, free;
    for (const std::uint32_t version : archive.versions()) {
      const std::string number = std::to_string(version);
      archived += (archived.empty() ? "" : ", ") + number;
      // Nobody has begun with it again.
      if (record(host, key_name(version, archive), "").empty()) free += (free.empty() ? "" : ", ") + number;
    }
    return "key versions: 1 to " + std::to_string(most_versions()) +
           "; archived: " + (archived.empty() ? "none" : archived) +
           "; free for another key: " + (free.empty() ? "none" : free) + "\n";
  }

  // The store keeps a value for each name and never another one, so each entry of the archive has its own name, and so
  // has each key that follows an archived one.
  std::string key_name(std::uint32_t version, const Archive& archive) const {
    const std::size_t generation = archive.generation(version);
    return record_name(", key " + std::to_string(version) +
                       (generation == 0 ? "" : ", generation " + std::to_string(generation)));
  }
  std::string archive_name(const Archive& archive) const {
    return record_name(", archive " + std::to_string(archive.size() + 1));
  }

  // At most 128 bytes, as every store takes.
  std::string record_name(const std::string& version) const {
    const std::string end = ", " + std::to_string(shape_.bits) + " bits" + version;
    std::string name = "hidden ids of " + settings_.name_space + end;
    if (name.size() <= 128) return name;
    Digest digest;
    SHA256(reinterpret_cast<const std::uint8_t*>(settings_.name_space.data()), settings_.name_space.size(), digest);
    return "hidden ids of " + hex(digest, sizeof digest) + end;
  }

  // What the store has by this name, which is `value` if it had nothing. An empty value only asks.
  static std::string record(const idgen_cipher_host& host, const std::string& name, const std::string& value) {
    idgen_module_error err{};
    std::string found;
    const std::int32_t status = host.record(
        host.ctx, name.c_str(), value.c_str(),
        [](void* to, const char* text) { static_cast<std::string*>(to)->assign(text); }, &found, &err);
    if (status != 0) throw Error(static_cast<Status>(status), err.message, err.retry_after_ns);
    return found;
  }

  void check_record(const idgen_cipher_host& host, const std::string& name, const std::string& value,
                    const std::string& why) const {
    const std::string found = record(host, name, settings_.records ? value : "");
    if (found == value || (found.empty() && !settings_.records)) return;
    throw Error(Status::format_mismatch,
                of_namespace() + why + ". The store has " + in_quotes(found) + ", here is " + in_quotes(value));
  }
  std::string of_namespace() const { return "namespace " + in_quotes(settings_.name_space) + ": "; }

  // The store may be another one by now, or one in memory; what this process has hidden is known in any case.
  void check_not_rekeyed(const KeySet& seen, const KeySet& fresh, const Archive& archive) const {
    for (std::size_t i = 0; i < fresh.count; ++i) {
      const VersionKey* const old = seen.find(fresh.keys[i].version);
      if (old == nullptr || std::string_view(old->check) == fresh.keys[i].check) continue;
      // Then the store has given the number on: the generation of the fresh key is a later one.
      if (archive.has(Archive::entry(old->version, value_of(*old)))) continue;
      throw Error(Status::format_mismatch, "key version " + std::to_string(old->version) +
                                               " is another key than before; a version number is never given a second "
                                               "key. The keys were not changed");
    }
  }

  const Settings settings_;
  const idgen_cipher_shape shape_;
  const Engine& engine_;
  bool is_ff1_;
  Ff1Shape ff1_{};
  Block field_mask_ = 0, version_mask_ = 0, tweak_base_ = 0;
  std::atomic<OwnedKeys*> current_{nullptr};
  std::string numbers_;  // of a cipher that only compares with the store
};

Settings settings_of(const idgen_module_setting* settings, std::size_t count) {
  Settings out;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view key = settings[i].key, value = settings[i].value;
    if (key == "mode") out.mode = value;
    if (key == "namespace") out.name_space = value;
    if (key == "key_file") out.key_file = value;
    if (key == "record") out.records = value != "0";
    if (key == "version" && !value.empty()) out.version = static_cast<std::uint32_t>(std::stoul(std::string(value)));
  }
  return out;
}

Direction direction_of(std::int32_t reveals) { return reveals != 0 ? Direction::reveal : Direction::hide; }

std::uint64_t eight(const std::uint8_t* bytes) {
  std::uint64_t number;
  std::memcpy(&number, bytes, sizeof number);
  return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap64(number) : number;
}
Block wide(const std::uint8_t* bytes) { return Block{eight(bytes)} << 64 | eight(bytes + 8); }

void put_eight(std::uint8_t* bytes, std::uint64_t number) {
  if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) number = __builtin_bswap64(number);
  std::memcpy(bytes, &number, sizeof number);
}

const idgen_cipher_module kModule = {
    IDGEN_CIPHER_MODULE_ABI, 0, "cipher",
    [](const idgen_module_setting* settings, std::size_t count, const idgen_cipher_shape* shape,
       const idgen_cipher_host* host, idgen_module_cipher_t* out, idgen_module_error* err) -> std::int32_t {
      return guard(err, [&] {
        auto opened = std::make_unique<Cipher>(settings_of(settings, count), *shape);
        opened->open(*host);
        out->ctx = opened.release();
        out->apply = [](void* ctx, std::int32_t reveals, const std::uint64_t* ids, std::uint64_t* to, std::size_t n,
                        idgen_module_error* e) -> std::int32_t {
          return guard(e, [&] {
            static_cast<const Cipher*>(ctx)->check_fits_64_bits();
            static_cast<const Cipher*>(ctx)->apply<std::uint64_t>(
                direction_of(reveals), n, [&](std::size_t i) { return ids[i]; },
                [&](std::size_t i, std::uint64_t id) { to[i] = id; });
          });
        };
        out->apply_wide = [](void* ctx, std::int32_t reveals, const std::uint8_t* ids, std::uint8_t* to, std::size_t n,
                             idgen_module_error* e) -> std::int32_t {
          return guard(e, [&] {
            static_cast<const Cipher*>(ctx)->apply<Block>(
                direction_of(reveals), n, [&](std::size_t i) { return wide(ids + 16 * i); },
                [&](std::size_t i, Block id) {
                  put_eight(to + 16 * i, static_cast<std::uint64_t>(id >> 64));
                  put_eight(to + 16 * i + 8, static_cast<std::uint64_t>(id));
                });
          });
        };
        out->reload = [](void* ctx, const idgen_cipher_host* from, idgen_module_error* e) -> std::int32_t {
          return guard(e, [&] { static_cast<Cipher*>(ctx)->reload(*from); });
        };
        out->describe = [](void* ctx, idgen_module_text_fn text, void* to, idgen_module_error* e) -> std::int32_t {
          return guard(e, [&] { text(to, static_cast<const Cipher*>(ctx)->describe().c_str()); });
        };
        out->close = [](void* ctx) { delete static_cast<Cipher*>(ctx); };
      });
    },
    [](const idgen_module_setting* settings, std::size_t count, const idgen_cipher_shape* shape,
       const idgen_cipher_host* host, std::uint32_t version, idgen_module_error* err) -> std::int32_t {
      return guard(err, [&] { Cipher(settings_of(settings, count), *shape).archive(*host, version); });
    }};

}  // namespace
}  // namespace idgen::cipher

extern "C" __attribute__((visibility("default"))) const idgen_cipher_module* idgen_module_cipher() {
  return &idgen::cipher::kModule;
}
