#include "idgen/cipher.hpp"

#include <array>
#include <memory>

#include "idgen/layout.hpp"
#include "idgen/runtime.hpp"
#include "idgen/system_calls.hpp"
#include "idgen/text.hpp"
#include "module/module_loader.hpp"

namespace idgen {
namespace {

using ModuleError = idgen_module_error;

[[gnu::cold]] void throw_from(ModuleError& err, std::int32_t status) {
  err.message[sizeof err.message - 1] = '\0';
  throw Error(static_cast<Status>(status), err.message, err.retry_after_ns);
}
template <class F>
void call(F&& function) {
  ModuleError err;
  err.retry_after_ns = 0;
  const std::int32_t status = function(&err);
  if (status != 0) [[unlikely]]
    throw_from(err, status);
}

Layout layout_of(const Config& config) {
  const std::string& text = config.get("layout");
  if (!text.empty()) return Layout::parse(text);
  const std::string& kind = config.get("kind");
  return kind == "segment" ? Layout::plain_segment() : Layout::parse(kind == "business" ? "business64" : "default");
}

idgen_cipher_shape shape_of(const Layout& layout) {
  const auto field = [&](FieldKind kind) {
    const Field* const found = layout.find(kind);
    return found != nullptr ? *found : Field{kind, 0, 0};
  };
  const Field segment = field(FieldKind::segment), version = field(FieldKind::version), gene = field(FieldKind::gene);
  if (version.bits != 0 && (segment.bits == 0 || version.bits < 2)) {
    throw Error(
        Status::unsupported,
        concat({"layout '", layout.text(),
                "': hidden ids need a segment field beside a version field of at least 2 bits, or no version field"}));
  }
  const bool is_whole = segment.bits == 0;
  return {.id_bits = layout.bits(),
          .shift = is_whole ? 0 : segment.shift,
          .bits = is_whole ? layout.bits() : segment.bits,
          .version_shift = version.shift,
          .version_bits = version.bits,
          .gene_shift = is_whole ? 0 : gene.shift,
          .gene_bits = is_whole ? 0 : gene.bits};
}

constexpr std::string_view kFile = "file:", kVariable = "env:";

// Never shown: somebody may have put the key itself there.
[[noreturn]] void refuse_key(const char* why) {
  throw Error(Status::value,
              concat({"cipher.key ", why,
                      "; allowed: file:PATH, env:VARIABLE, or keys of the program's own. `idgen key new` "
                      "makes a key file"}));
}

// What the module asks for while it reads its keys. No exception passes it.
class Host {
 public:
  explicit Host(const Config& config) : config_(config), key_(config.get("cipher.key")) {
    if (config.keys == nullptr && key_.empty()) refuse_key("is not set");
    if (config.keys == nullptr && !key_.starts_with(kFile) && !key_.starts_with(kVariable))
      refuse_key("is neither a file nor an environment variable");
    host_ = {.ctx = this,
             .key_text = config.keys == nullptr && key_.starts_with(kVariable) ? &key_text : nullptr,
             .keys = config.keys != nullptr ? &keys : nullptr,
             .record = &record};
  }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  const idgen_cipher_host* get() const { return &host_; }
  std::string key_file() const {
    if (config_.keys != nullptr || !key_.starts_with(kFile)) return "";
    const std::string path = key_.substr(kFile.size());
    const std::string& directory = config_.get("directory");
    return path.starts_with('/') || directory.empty() ? path : directory + "/" + path;
  }

 private:
  template <class F>
  static std::int32_t guarded(ModuleError* err, F&& work) noexcept {
    try {
      work();
      return 0;
    } catch (const Error& error) {
      err->retry_after_ns = error.retry_after_ns();
      copy_text(error.what(), err->message, sizeof err->message);
      return static_cast<std::int32_t>(error.status());
    } catch (const std::bad_alloc&) {
      return static_cast<std::int32_t>(Status::no_memory);
    } catch (const std::exception& error) {
      copy_text(error.what(), err->message, sizeof err->message);
      return static_cast<std::int32_t>(Status::internal);
    }
  }
  static const Config& config_of(void* ctx) { return static_cast<Host*>(ctx)->config_; }

  static std::int32_t key_text(void* ctx, idgen_module_text_fn text, void* to, ModuleError* err) {
    return guarded(err, [&] {
      const std::string name = static_cast<Host*>(ctx)->key_.substr(kVariable.size());
      const Config& config = config_of(ctx);
      std::optional<std::string> value = (config.runtime ? *config.runtime : system_runtime()).environment(name);
      if (!value) {
        throw Error(Status::config_file, concat({"cipher.key names the environment variable ", quote(name),
                                                 ", which this process does not have"}));
      }
      text(to, value->c_str());
      // NOLINTNEXTLINE(clang-analyzer-cplusplus.InnerPointer): no two calls that change it
      wipe_memory(value->data(), value->size());
    });
  }
  static std::int32_t keys(void* ctx, idgen_cipher_key_fn each, void* to, ModuleError* err) {
    return guarded(err, [&] { config_of(ctx).keys->read(each, to); });
  }
  static std::int32_t record(void* ctx, const char* name, const char* value, idgen_module_text_fn text, void* to,
                             ModuleError* err) {
    return guarded(err, [&] {
      auto& self = *static_cast<Host*>(ctx);
      const Config& config = self.config_;
      if (self.store_ == nullptr)
        self.store_ = config.store ? config.store : shared_store(config.get("store"), config.store_options());
      text(to, self.store_->namespace_format(name, value).c_str());
    });
  }

  const Config& config_;
  const std::string& key_;
  std::shared_ptr<Store> store_;  // as long as the keys are read
  idgen_cipher_host host_{};
};

// With `archived`, opens nothing, and archives that key version.
idgen_module_cipher_t open_cipher(const Config& config, const Layout& layout, bool records,
                                  std::uint32_t archived = 0) {
  const idgen_cipher_shape shape = shape_of(layout);
  const Host host(config);
  const auto& module = *static_cast<const idgen_cipher_module*>(
      load_module({.what = "hidden ids", .name = "cipher", .package = "libssl3", .abi = IDGEN_CIPHER_MODULE_ABI},
                  config.get("module.path"), config.get("directory")));
  const std::string file = host.key_file();
  const std::array<idgen_module_setting, 5> settings = {{{"mode", config.get("cipher.mode").c_str()},
                                                         {"namespace", config.get("namespace").c_str()},
                                                         {"version", config.get("cipher.version").c_str()},
                                                         {"key_file", file.c_str()},
                                                         {"record", records ? "1" : "0"}}};
  idgen_module_cipher_t opened{};
  call([&](ModuleError* err) {
    return archived != 0 ? module.archive(settings.data(), settings.size(), &shape, host.get(), archived, err)
                         : module.open(settings.data(), settings.size(), &shape, host.get(), &opened, err);
  });
  return opened;
}

bool is_widened(const Config& config, const Layout& layout) {
  return !layout.is_wide() && config.get("on_full") == "widen";
}

void close(const idgen_module_cipher_t& cipher) {
  if (cipher.ctx != nullptr) cipher.close(cipher.ctx);
}

void describe_to(std::string& text, const idgen_module_cipher_t& cipher) {
  call([&](ModuleError* err) {
    return cipher.describe(
        cipher.ctx, [](void* to, const char* part) { *static_cast<std::string*>(to) += part; }, &text, err);
  });
}

}  // namespace

Cipher::Cipher(const Config& config, const Layout& layout, bool records)
    : config_(config.with_absolute_directory()), layout_(layout), module_(open_cipher(config_, layout_, records)) {}
Cipher::Cipher(const Config& config, bool records) : Cipher(config, layout_of(config), records) {
  if (is_widened(config_, layout_)) widened_ = open_cipher(config_, Layout::parse(kWideLayout), records);
}
Cipher::~Cipher() {
  close(module_);
  close(widened_);
}

void Cipher::apply(bool reveals, const std::uint64_t* ids, std::uint64_t* out, std::size_t count) const {
  call([&](ModuleError* err) { return module_.apply(module_.ctx, reveals ? 1 : 0, ids, out, count, err); });
}
void Cipher::apply_wide(bool reveals, const std::uint8_t* ids, std::uint8_t* out, std::size_t count,
                        std::optional<unsigned> id_bytes) const {
  const bool is_widened = id_bytes == 16U && widened_.ctx != nullptr;
  if (id_bytes && !is_widened) layout_.require_length(*id_bytes);
  const idgen_module_cipher_t& cipher = is_widened ? widened_ : module_;
  call([&](ModuleError* err) { return cipher.apply_wide(cipher.ctx, reveals ? 1 : 0, ids, out, count, err); });
}
void Cipher::archive(const Config& config, std::uint32_t version) {
  const Config found = config.with_absolute_directory();
  const Layout layout = layout_of(found);
  // Both lengths are checked before either is written.
  for (const bool records : {false, true}) {
    open_cipher(found, layout, records, version);
    if (is_widened(found, layout)) open_cipher(found, Layout::parse(kWideLayout), records, version);
  }
}
void Cipher::reload() {
  const Host host(config_);
  // Both lengths, also if one is refused: then it gives up the keys that were archived, and the other does so too.
  call([&](ModuleError* err) {
    const std::int32_t wide = widened_.ctx != nullptr ? widened_.reload(widened_.ctx, host.get(), err) : 0;
    ModuleError second;
    const std::int32_t status = module_.reload(module_.ctx, host.get(), wide != 0 ? &second : err);
    return wide != 0 ? wide : status;
  });
}
std::string Cipher::describe() const {
  std::string text;
  describe_to(text, module_);
  if (widened_.ctx != nullptr) describe_to(text += "ids of 16 bytes, which follow those of 8:\n", widened_);
  return text;
}

}  // namespace idgen
