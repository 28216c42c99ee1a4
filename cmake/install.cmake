# What `cmake --install` installs. All paths are relative to one another, so the installed tree can be moved.
include(CMakePackageConfigHelpers)

set(idgen_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/idgen)

set_target_properties(idgen_static PROPERTIES EXPORT_NAME static)
install(TARGETS idgen idgen_static EXPORT idgenTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY capi/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(EXPORT idgenTargets NAMESPACE idgen:: DESTINATION ${idgen_cmake_dir})

configure_package_config_file(cmake/idgenConfig.cmake.in idgenConfig.cmake INSTALL_DESTINATION ${idgen_cmake_dir})
write_basic_package_version_file(idgenConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/idgenConfig.cmake ${PROJECT_BINARY_DIR}/idgenConfigVersion.cmake
  DESTINATION ${idgen_cmake_dir})

file(RELATIVE_PATH idgen_pc_to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(cmake/idgen.pc.in idgen.pc @ONLY)
# pkg-config prefers it while PKG_CONFIG_PATH names the build folder.
file(CONFIGURE OUTPUT idgen-uninstalled.pc CONTENT [[
Name: idgen
Description: idgen as it was built, before it is installed
Version: @PROJECT_VERSION@
Libs: -L@PROJECT_BINARY_DIR@/lib -lidgen -Wl,-rpath,@PROJECT_BINARY_DIR@/lib
Cflags: -I@PROJECT_SOURCE_DIR@/capi/include
]] @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/idgen.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
