# What every target of this project shares, attached target by target: no global flags.

add_library(zklock_build_rules INTERFACE)
target_compile_features(zklock_build_rules INTERFACE c_std_11)
target_compile_definitions(zklock_build_rules INTERFACE _GNU_SOURCE)
target_compile_options(zklock_build_rules INTERFACE
    -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wwrite-strings
    -Wformat=2 -Wvla -fno-strict-overflow)
if(ZKLOCK_BUILD_TESTS)
    # The machine asserts that each of its moves is in the table.
    target_compile_options(zklock_build_rules INTERFACE -UNDEBUG)
endif()
if(ZKLOCK_SANITIZE)
    target_compile_options(zklock_build_rules INTERFACE
        -fsanitize=${ZKLOCK_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(zklock_build_rules INTERFACE -fsanitize=${ZKLOCK_SANITIZE})
endif()
if(ZKLOCK_COVERAGE)
    # Several threads count at once.
    target_compile_options(zklock_build_rules INTERFACE --coverage -fprofile-update=atomic)
    target_link_options(zklock_build_rules INTERFACE --coverage)
endif()

# One layer of the library: an object library that ships in both the shared and the static build.
function(zklock_layer name)
    add_library(zklock_${name} OBJECT ${ARGN})
    target_link_libraries(zklock_${name} PRIVATE zklock_build_rules)
    target_include_directories(zklock_${name} PRIVATE
        "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
    set_target_properties(zklock_${name} PROPERTIES
        POSITION_INDEPENDENT_CODE ON
        C_VISIBILITY_PRESET hidden)
endfunction()
