# Registers test programs, each of their tests as a ctest entry of its own.

find_path(CUnit_INCLUDE_DIR NAMES CUnit/CUnit.h)
find_library(CUnit_LIBRARY NAMES cunit)
mark_as_advanced(CUnit_INCLUDE_DIR CUnit_LIBRARY)
if(NOT CUnit_INCLUDE_DIR OR NOT CUnit_LIBRARY)
    message(FATAL_ERROR
        "The tests need CUnit (Debian: libcunit1-dev); build without them by -DZKLOCK_BUILD_TESTS=OFF.")
endif()

if(NOT TARGET CUnit::CUnit)
    add_library(CUnit::CUnit UNKNOWN IMPORTED)
    set_target_properties(CUnit::CUnit PROPERTIES
        IMPORTED_LOCATION "${CUnit_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${CUnit_INCLUDE_DIR}")
endif()

# zklock_test_program(NAME exe LABEL unit|server|cli|... SOURCES a.c... TESTS one two...
#                     [LIBS target...] [TIMEOUT seconds] [PROCESSORS n])
#
# Entries: <label>.<exe>.<test> for every test, and <label>.<exe>.list, which fails when TESTS and the
# program's own table differ. A test that skips itself exits with 77.
function(zklock_test_program)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;LABEL;TIMEOUT;PROCESSORS" "SOURCES;LIBS;TESTS")
    foreach(required NAME LABEL SOURCES TESTS)
        if(NOT arg_${required})
            message(FATAL_ERROR "zklock_test_program(${arg_NAME}): ${required} is missing")
        endif()
    endforeach()
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "zklock_test_program(${arg_NAME}): not understood: ${arg_UNPARSED_ARGUMENTS}")
    endif()
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 180)
    endif()
    math(EXPR arg_TIMEOUT "${arg_TIMEOUT} * ${ZKLOCK_TEST_SLOWNESS}")
    if(NOT arg_PROCESSORS)
        set(arg_PROCESSORS 1)
    endif()

    add_executable(${arg_NAME} ${arg_SOURCES})
    target_link_libraries(${arg_NAME} PRIVATE ${arg_LIBS} zklock_test_support zklock_build_rules)

    set(entries "")
    foreach(test IN LISTS arg_TESTS)
        set(entry "${arg_LABEL}.${arg_NAME}.${test}")
        add_test(NAME "${entry}" COMMAND ${arg_NAME} ${test})
        list(APPEND entries "${entry}")
    endforeach()
    set(entry "${arg_LABEL}.${arg_NAME}.list")
    add_test(NAME "${entry}" COMMAND ${arg_NAME} --expect ${arg_TESTS})
    list(APPEND entries "${entry}")

    set_tests_properties(${entries} PROPERTIES
        LABELS "${arg_LABEL}"
        TIMEOUT ${arg_TIMEOUT}
        PROCESSORS ${arg_PROCESSORS}
        SKIP_RETURN_CODE 77)
    if(ZKLOCK_SANITIZE MATCHES "thread")
        set_tests_properties(${entries} PROPERTIES ENVIRONMENT
            "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/test/support/tsan_suppressions.txt")
    elseif(ZKLOCK_SANITIZE MATCHES "address")
        set_tests_properties(${entries} PROPERTIES ENVIRONMENT
            "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/test/support/lsan_suppressions.txt:print_suppressions=0")
    endif()
endfunction()
