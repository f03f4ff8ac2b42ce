# Debian's OpenVDB has no CMake package; this finds the library and makes the imported target tribo_openvdb. Found means
# that a program with points builds: the headers need those of Boost and Imath, too.
include(FindPackageHandleStandardArgs)
find_library(OpenVDB_LIBRARY NAMES openvdb)
find_path(OpenVDB_INCLUDE_DIR NAMES openvdb/openvdb.h)
find_package(TBB QUIET)
if(OpenVDB_LIBRARY AND OpenVDB_INCLUDE_DIR AND TARGET TBB::tbb)
  if(EXISTS "${OpenVDB_INCLUDE_DIR}/openvdb/version.h")
    file(STRINGS "${OpenVDB_INCLUDE_DIR}/openvdb/version.h" line REGEX "define OPENVDB_LIBRARY_VERSION_STRING")
    string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" OpenVDB_VERSION "${line}")
  endif()
  if(NOT TARGET tribo_openvdb)
    add_library(tribo_openvdb INTERFACE IMPORTED)
    set_target_properties(tribo_openvdb PROPERTIES
      INTERFACE_LINK_LIBRARIES "${OpenVDB_LIBRARY};TBB::tbb"
      INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${OpenVDB_INCLUDE_DIR}"
      INTERFACE_INCLUDE_DIRECTORIES "${OpenVDB_INCLUDE_DIR}")
  endif()
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_LIBRARIES tribo_openvdb)
  set(CMAKE_REQUIRED_QUIET ON)
  check_cxx_source_compiles("
    #include <openvdb/openvdb.h>
    #include <openvdb/points/PointDataGrid.h>
    int main() { openvdb::initialize(); return openvdb::points::PointDataGrid::create()->empty() ? 0 : 1; }"
    OpenVDB_WORKS)
  unset(CMAKE_REQUIRED_LIBRARIES)
  unset(CMAKE_REQUIRED_QUIET)
endif()
find_package_handle_standard_args(OpenVDB REQUIRED_VARS OpenVDB_LIBRARY OpenVDB_INCLUDE_DIR OpenVDB_WORKS
  VERSION_VAR OpenVDB_VERSION)
mark_as_advanced(OpenVDB_LIBRARY OpenVDB_INCLUDE_DIR)
