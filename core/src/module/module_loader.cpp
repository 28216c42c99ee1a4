#include "module/module_loader.hpp"

#include <dlfcn.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <new>
#include <system_error>
#include <vector>

#include "idgen/status.hpp"
#include "idgen/text.hpp"
#include "module/module_file.hpp"

namespace idgen {
namespace {

[[noreturn]] void fail_to_load(const ModuleName& module, const std::string& what) {
  throw Error(Status::unsupported, concat({module.what, ": ", what}));
}

[[noreturn]] void throw_absent(const ModuleName& module, const std::string& what) {
  throw ModuleAbsent(Status::unsupported, concat({module.what, ": ", what}));
}

// module.path, else idgen/modules (as installed) and modules (in a Python package) beside this library, or beside
// the program that it is compiled into.
std::vector<std::string> module_folders(const std::string& own, const std::string& folder,
                                        const std::string& directory) {
  if (!folder.empty()) {
    const bool is_relative = folder.front() != '/' && !directory.empty();
    return {is_relative ? directory + "/" + folder : folder};
  }
  if (own.empty()) return {};
  const std::string beside = folder_of_file(own);
  return {beside + "/idgen/modules", beside + "/modules"};
}

// Its real path. Throws if it is missing, or may be under somebody else's control; none of its code has run by then.
std::string find_module(const ModuleName& module, const std::string& file, const std::string& wanted_folder,
                        const std::string& directory) {
  const std::string own = own_file();
  std::string searched;
  for (const std::string& folder : module_folders(own, wanted_folder, directory)) {
    const std::unique_ptr<char, decltype(&std::free)> real(realpath((folder + "/" + file).c_str(), nullptr),
                                                           &std::free);
    if (!real) {
      if (errno == ENOMEM) throw std::bad_alloc();
      searched += (searched.empty() ? "" : " and not in ") + in_quotes(folder);
      if (errno != ENOENT) searched += " (" + std::generic_category().message(errno) + ")";
      continue;
    }
    std::string path = real.get();
    if (const std::string objection = module_objection(path, own); !objection.empty())
      fail_to_load(module, "the module " + in_quotes(path) + " was not loaded, because " + objection);
    return path;
  }
  if (searched.empty()) {
    throw_absent(module, "its module " + file +
                             " is looked for beside libidgen, whose file was deleted after it was loaded (a jar's copy "
                             "always is). Set module.path to the folder of the modules");
  }
  throw_absent(module, "its module " + file + " is not in " + searched +
                           ". Install it and its client library (Debian: " + std::string(module.package) +
                           "), or set module.path to its folder");
}

}  // namespace

const void* load_module(const ModuleName& module, const std::string& folder, const std::string& directory) {
  const std::string name(module.name);
  const std::string path = find_module(module, "libidgen_" + name + ".so", folder, directory);
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();  // NOLINT(concurrency-mt-unsafe): glibc and musl keep it by thread
    throw_absent(module, "the module " + in_quotes(path) + " could not be loaded: " + (why != nullptr ? why : "") +
                             ". Install its client library (Debian: " + std::string(module.package) + ")");
  }
  using Function = const std::uint32_t* (*)();
  const auto function = reinterpret_cast<Function>(dlsym(library, ("idgen_module_" + name).c_str()));
  const std::uint32_t* const found = function != nullptr ? function() : nullptr;
  if (found == nullptr || *found != module.abi) {
    fail_to_load(module, in_quotes(path) + " belongs to another version of idgen (interface " +
                             (found == nullptr ? std::string("unknown") : std::to_string(*found)) + ", wanted " +
                             std::to_string(module.abi) + "); install library and modules of one version");
  }
  return found;
}

}  // namespace idgen
