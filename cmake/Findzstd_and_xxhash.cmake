# Debian ships no CMake packages for zstd and xxHash; this finds both and makes imported targets.
include(FindPackageHandleStandardArgs)
foreach(name zstd xxhash)
  find_library(${name}_LIBRARY NAMES ${name})
  find_path(${name}_INCLUDE_DIR NAMES ${name}.h)
  if(${name}_LIBRARY AND ${name}_INCLUDE_DIR AND NOT TARGET tribo_${name})
    add_library(tribo_${name} INTERFACE IMPORTED)
    set_target_properties(tribo_${name} PROPERTIES
      INTERFACE_LINK_LIBRARIES "${${name}_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${${name}_INCLUDE_DIR}")
  endif()
endforeach()
find_package_handle_standard_args(zstd_and_xxhash
  REQUIRED_VARS zstd_LIBRARY zstd_INCLUDE_DIR xxhash_LIBRARY xxhash_INCLUDE_DIR)
mark_as_advanced(zstd_LIBRARY zstd_INCLUDE_DIR xxhash_LIBRARY xxhash_INCLUDE_DIR)
