# cmake --install: the program, the library with its headers, presets and scenes, and a CMake package.
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/tribo")

install(TARGETS tribo_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(TARGETS tribo EXPORT tribo-targets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY src/tribo DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h")
install(DIRECTORY materials scenes DESTINATION "${CMAKE_INSTALL_DATADIR}/tribo")
install(EXPORT tribo-targets NAMESPACE tribo:: DESTINATION "${package_dir}")
configure_package_config_file(cmake/tribo-config.cmake.in "${PROJECT_BINARY_DIR}/tribo-config.cmake"
  INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/tribo-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/tribo-config.cmake" "${PROJECT_BINARY_DIR}/tribo-config-version.cmake"
  cmake/Findzstd_and_xxhash.cmake cmake/FindOpenVDB.cmake DESTINATION "${package_dir}")
