# How every library, program and test of the project is compiled.

find_program(RINGWAY_CCACHE ccache)
if(RINGWAY_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${RINGWAY_CCACHE})
endif()

add_library(ringway_options INTERFACE)
target_include_directories(ringway_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(ringway_options INTERFACE
  -Wall -Wextra -Werror -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
  -Wimplicit-fallthrough -fno-omit-frame-pointer)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(ringway_options INTERFACE -Wthread-safety)
else()
  # g++ 12 takes std::string's operator+ for an overlapping copy (GCC bug 105651).
  target_compile_options(ringway_options INTERFACE -Wno-restrict)
endif()
if(RINGWAY_SANITIZE)
  # The vptr check opens a pipe to see whether memory can be read, and takes a failure for a fault of the program: it
  # cannot run where tests take away all descriptors.
  target_compile_options(ringway_options INTERFACE
    -fsanitize=${RINGWAY_SANITIZE} -fno-sanitize-recover=all -fno-sanitize=vptr)
  target_link_options(ringway_options INTERFACE -fsanitize=${RINGWAY_SANITIZE})
endif()
if(RINGWAY_FUZZ)
  target_compile_options(ringway_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# ringway_library(NAME sources... [LINK libraries...])
function(ringway_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC ringway_options ${ARG_LINK})
endfunction()

# ringway_test(NAME LABEL label sources... [LINK libraries...] [TIMEOUT seconds] [SERIAL])
# One program, each of its GoogleTest cases a ctest test with that label.
# SERIAL: the case has the machine to itself.
function(ringway_test name)
  cmake_parse_arguments(ARG "SERIAL" "LABEL;TIMEOUT" "LINK" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  set(properties LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT})
  if(ARG_SERIAL)
    list(APPEND properties RUN_SERIAL TRUE)
  endif()
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ringway_options ${ARG_LINK} GTest::gmock GTest::gtest_main)
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST TEST_PREFIX "${ARG_LABEL}/"
    PROPERTIES ${properties})
endfunction()

# ringway_fuzz_target(NAME source [LINK libraries...])
# A libFuzzer program where RINGWAY_FUZZ is on; everywhere a ctest test (label fuzz) that
# replays tests/fuzz/corpus/NAME through the same entry point.
function(ringway_fuzz_target name source)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  if(RINGWAY_FUZZ)
    add_executable(${name} ${source})
    target_link_libraries(${name} PRIVATE ringway_options ${ARG_LINK})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  else()
    add_executable(${name}_replay ${source} ${PROJECT_SOURCE_DIR}/tests/fuzz/replay_main.cc)
    target_link_libraries(${name}_replay PRIVATE ringway_options ${ARG_LINK})
    add_test(NAME fuzz/${name}.corpus
             COMMAND ${name}_replay ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name})
    set_tests_properties(fuzz/${name}.corpus PROPERTIES LABELS fuzz TIMEOUT 120)
  endif()
endfunction()
