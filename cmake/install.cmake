# What "cmake --install" puts where: library, header, command, manual page, and what pkg-config and
# find_package(zklock) read. The package zklock gives zklock::zklock; its component "static" gives zklock::static.

include(CMakePackageConfigHelpers)

set(zklock_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/zklock")

install(TARGETS zklock EXPORT zklock
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(TARGETS zklock_static EXPORT zklock_static
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
set_target_properties(zklock_static PROPERTIES EXPORT_NAME static)
install(FILES "${PROJECT_SOURCE_DIR}/include/zklock.h" "${PROJECT_SOURCE_DIR}/include/zklock_cohort.h"
    "${PROJECT_SOURCE_DIR}/include/zklock_observer.h" "${PROJECT_SOURCE_DIR}/include/zklock_zookeeper.h"
    "${PROJECT_SOURCE_DIR}/include/zklock.hpp"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")

install(EXPORT zklock NAMESPACE zklock:: FILE zklock-shared.cmake DESTINATION "${zklock_package_dir}")
install(EXPORT zklock_static NAMESPACE zklock:: FILE zklock-static.cmake DESTINATION "${zklock_package_dir}")
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/zklock-config.cmake.in" zklock-config.cmake
    INSTALL_DESTINATION "${zklock_package_dir}")
write_basic_package_version_file(zklock-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES
    "${CMAKE_CURRENT_BINARY_DIR}/zklock-config.cmake"
    "${CMAKE_CURRENT_BINARY_DIR}/zklock-config-version.cmake"
    "${CMAKE_CURRENT_LIST_DIR}/FindZooKeeper.cmake"
    DESTINATION "${zklock_package_dir}")

# Relative to the file itself, so that an installed tree can be moved.
file(RELATIVE_PATH zklock_pc_prefix "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
configure_file("${CMAKE_CURRENT_LIST_DIR}/zklock.pc.in" zklock.pc @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/zklock.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

# zklock(3) is made of the header's text, where there is a Python to do it.
find_program(zklock_python NAMES python3 PATHS /usr/bin)
mark_as_advanced(zklock_python)
if(zklock_python)
    add_custom_command(OUTPUT zklock.3
        COMMAND "${zklock_python}" "${PROJECT_SOURCE_DIR}/scripts/manual" "${CMAKE_CURRENT_BINARY_DIR}/zklock.3"
        DEPENDS "${PROJECT_SOURCE_DIR}/scripts/manual" "${PROJECT_SOURCE_DIR}/include/zklock.h"
            "${PROJECT_SOURCE_DIR}/include/zklock_cohort.h" "${PROJECT_SOURCE_DIR}/include/zklock_observer.h")
    add_custom_target(zklock_manual ALL DEPENDS zklock.3)
    install(FILES "${CMAKE_CURRENT_BINARY_DIR}/zklock.3" DESTINATION "${CMAKE_INSTALL_MANDIR}/man3")
endif()
install(FILES "${PROJECT_SOURCE_DIR}/man/zklock-protocol.7" DESTINATION "${CMAKE_INSTALL_MANDIR}/man7")

if(ZKLOCK_BUILD_CLI)
    install(FILES "${PROJECT_SOURCE_DIR}/src/cli/completion/zklock.bash"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" RENAME zklock)
    install(FILES "${PROJECT_SOURCE_DIR}/src/cli/completion/_zklock"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions")
    install(TARGETS zklock_command RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
    install(FILES "${PROJECT_SOURCE_DIR}/man/zklock.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
endif()
