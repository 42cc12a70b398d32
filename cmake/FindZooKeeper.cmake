# Finds the threaded ZooKeeper C client (Debian: libzookeeper-mt-dev).
#
# Result: the target ZooKeeper::mt, and ZooKeeper_VERSION as the client's header states it.

find_path(ZooKeeper_INCLUDE_DIR NAMES zookeeper/zookeeper.h)
find_library(ZooKeeper_LIBRARY NAMES zookeeper_mt)

if(ZooKeeper_INCLUDE_DIR AND EXISTS "${ZooKeeper_INCLUDE_DIR}/zookeeper/zookeeper_version.h")
    file(STRINGS "${ZooKeeper_INCLUDE_DIR}/zookeeper/zookeeper_version.h" version_line
         REGEX "define ZOO_VERSION ")
    string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" ZooKeeper_VERSION "${version_line}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ZooKeeper
    REQUIRED_VARS ZooKeeper_LIBRARY ZooKeeper_INCLUDE_DIR
    VERSION_VAR ZooKeeper_VERSION
    REASON_FAILURE_MESSAGE "install the threaded C client (Debian: libzookeeper-mt-dev)")

# Only said here: the library finds it out anew each time that it is loaded.
if(ZooKeeper_FOUND AND NOT DEFINED ZooKeeper_HAS_TLS)
    include(CheckLibraryExists)
    set(CMAKE_REQUIRED_QUIET ON)
    check_library_exists("${ZooKeeper_LIBRARY}" zookeeper_init_ssl "" ZooKeeper_HAS_TLS)
    unset(CMAKE_REQUIRED_QUIET)
    if(NOT ZooKeeper_HAS_TLS)
        message(STATUS "This ZooKeeper client library has no TLS: option --tls will be refused")
    endif()
endif()

if(ZooKeeper_FOUND AND NOT TARGET ZooKeeper::mt)
    add_library(ZooKeeper::mt UNKNOWN IMPORTED)
    set_target_properties(ZooKeeper::mt PROPERTIES
        IMPORTED_LOCATION "${ZooKeeper_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${ZooKeeper_INCLUDE_DIR}"
        # The header hides the threaded calls without it.
        INTERFACE_COMPILE_DEFINITIONS THREADED)
endif()
mark_as_advanced(ZooKeeper_INCLUDE_DIR ZooKeeper_LIBRARY)
