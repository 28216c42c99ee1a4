// Where a module may be loaded from: no code runs that somebody else may have put there.
#include "module/module_file.hpp"

#include <array>

#include "store/store_test_support.hpp"

namespace idgen {
namespace {

using testing::HasSubstr;

constexpr const char* kUrl = "redis://cache.invalid";

void plant(const std::string& folder) {
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(IDGEN_TEST_PLANTED_MODULE, folder + "/libidgen_redis.so");
  chmod((folder + "/libidgen_redis.so").c_str(), 0755);
  chmod(folder.c_str(), 0755);
}

// Opens a store with the modules of `folder`; "MESSAGE", and " [ran]" if the module's code ran.
std::string opened_with(const std::string& folder) {
  unsetenv("IDGEN_TEST_PLANTED");
  StoreOptions options;
  options.module_path = folder;
  const Error error = error_of([&] { open_store(kUrl, options); });
  EXPECT_EQ(error.status(), Status::unsupported);
  return error.message() + (std::getenv("IDGEN_TEST_PLANTED") != nullptr ? " [ran]" : "");
}

TEST(ModuleFile, AModuleThatEverybodyCanWriteIsRefusedBeforeItRuns) {
  const TempFolder folder;
  plant(folder.file("modules"));
  const std::string module = folder.file("modules/libidgen_redis.so");
  for (const std::string& writable : {module, folder.file("modules")}) {
    chmod(writable.c_str(), 0757);
    const std::string said = opened_with(folder.file("modules"));
    EXPECT_THAT(said, AllOf(HasSubstr("was not loaded"), HasSubstr("chmod o-w"), HasSubstr(module)));
    EXPECT_THAT(said, testing::Not(HasSubstr("[ran]")));
    chmod(writable.c_str(), 0755);
  }
  EXPECT_THAT(opened_with(folder.file("modules")), AllOf(HasSubstr("another version"), HasSubstr("[ran]")));
}

TEST(ModuleFile, AFolderIsJudgedByWhereItsLinksLead) {
  const TempFolder folder;
  plant(folder.file("modules"));
  std::filesystem::create_directory_symlink(folder.file("modules"), folder.file("link"));
  chmod(folder.file("modules").c_str(), 0777);
  EXPECT_THAT(opened_with(folder.file("link")), HasSubstr("its folder is writable by everybody"));
}

TEST(ModuleFile, AFolderAboveThatOthersCouldRenameInIsRefusedAndAStickyOneIsNot) {
  const TempFolder folder;
  plant(folder.file("shared/mine/modules"));
  const std::string shared = folder.file("shared");
  chmod(shared.c_str(), 0777);
  const std::string said = opened_with(shared + "/mine/modules");
  EXPECT_THAT(said, AllOf(HasSubstr(in_quotes(shared) + ", which is above it, is writable by everybody"),
                          testing::Not(HasSubstr("[ran]"))));
  chmod(shared.c_str(), 01777);
  EXPECT_THAT(opened_with(shared + "/mine/modules"), HasSubstr("[ran]"));
}

TEST(ModuleFile, WhatIsAboveThisLibraryTooIsNotAsked) {
  const TempFolder folder;
  plant(folder.file("app/modules"));
  const std::string module = std::filesystem::canonical(folder.file("app/modules/libidgen_redis.so")).string();
  const std::string app = folder_of_file(folder_of_file(module));
  chmod(app.c_str(), 0777);
  EXPECT_EQ(module_objection(module, app + "/libidgen.so"), "");
  EXPECT_THAT(module_objection(module, ""), HasSubstr(in_quotes(app) + ", which is above it"));
  EXPECT_THAT(module_objection(module, app + "s/libidgen.so"), HasSubstr(in_quotes(app) + ", which is above it"));
}

TEST(ModuleFile, ARelativeFolderBeginsWhereTheConfigurationIs) {
  const TempFolder folder;
  plant(folder.file("modules"));
  StoreOptions options;
  options.module_path = "modules";
  options.directory = folder.path();
  EXPECT_FAILS(open_store(kUrl, options), Status::unsupported, "another version");
}

TEST(ModuleFile, OnlyThoseAreTrustedWhoCouldHaveReplacedThisLibrary) {
  const ModuleTrust trust{.user = 1000, .owner = 2000, .group = 50};
  const auto objection = [&](uid_t user, gid_t group, mode_t mode) {
    struct stat found {};
    found.st_uid = user;
    found.st_gid = group;
    found.st_mode = mode;
    return module_objection(found, ModulePart::file, trust);
  };
  for (const uid_t user : {0u, 1000u, 2000u}) EXPECT_EQ(objection(user, 99, 0755), "") << user;
  EXPECT_THAT(objection(1001, 50, 0755),
              AllOf(HasSubstr("number 1001"), HasSubstr("root, the user of this process (1000)")));
  EXPECT_EQ(objection(1000, 50, 0775), "");
  EXPECT_THAT(objection(1000, 51, 0775), AllOf(HasSubstr("group with the number 51"), HasSubstr("chmod g-w")));
  EXPECT_THAT(objection(0, 50, 0777), HasSubstr("everybody"));
  const ModuleTrust of_a_jar{.user = 1000, .owner = std::nullopt, .group = std::nullopt};
  struct stat found {};
  found.st_uid = 2000;
  EXPECT_NE(module_objection(found, ModulePart::file, of_a_jar), "");
}

TEST(ModuleFile, ThisProgramsOwnFileIsKnownByWhereTheKernelMappedItFrom) {
  EXPECT_EQ(own_file(), std::filesystem::canonical("/proc/self/exe").string());
}

// What the program opens_a_store says when it runs in `folder`, called by a name without a slash and with a loader
// that looks there.
std::string said_in(const std::string& program, const std::string& folder) {
  const std::string out = folder + "/out";
  const pid_t child = fork();
  if (child == 0) {
    const int fd = open(out.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0644);
    dup2(fd, 1);
    if (chdir(folder.c_str()) != 0) _exit(1);
    std::array<char*, 2> arguments = {const_cast<char*>("plain"), nullptr};
    std::array<char*, 2> environment = {const_cast<char*>("LD_LIBRARY_PATH=.:"), nullptr};
    execve(program.c_str(), arguments.data(), environment.data());
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  std::string text(4096, '\0');
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(out.c_str(), "re"), &std::fclose);
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  return text;
}

TEST(ModuleFile, NothingIsEverLoadedFromTheWorkingDirectory) {
  const TempFolder folder;
  plant(folder.path());
  plant(folder.file("idgen/modules"));
  plant(folder.file("modules"));
  const std::string said = said_in(IDGEN_TEST_OPENS_A_STORE, folder.path());
  EXPECT_THAT(said, HasSubstr("its module libidgen_redis.so is not in "));
  EXPECT_THAT(said, testing::Not(HasSubstr("[ran]")));
}

TEST(ModuleFile, WhatStandsBesideTheProgramIsFoundWhereverItIsCalledFrom) {
  const TempFolder folder;
  const TempFolder elsewhere;
  plant(folder.file("idgen/modules"));
  std::filesystem::copy_file(IDGEN_TEST_OPENS_A_STORE, folder.file("program"));
  EXPECT_THAT(said_in(folder.file("program"), elsewhere.path()), HasSubstr("[ran]"));
}

}  // namespace
}  // namespace idgen
