# Settings shared by all targets, and the one way to declare a folder of src/.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

option(LANESCOPE_TESTS "Build the tests" ON)
option(LANESCOPE_BENCHMARKS "Build the benchmarks" ON)
option(LANESCOPE_FUZZERS "Build the fuzz targets (needs clang)" OFF)
option(LANESCOPE_WERROR "Warnings are errors" OFF)
set(LANESCOPE_SANITIZE "" CACHE STRING "Sanitizers for everything, e.g. address,undefined")

find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(Threads REQUIRED)
if(LANESCOPE_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()

add_library(lanescope_options INTERFACE)
target_include_directories(lanescope_options INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_compile_options(lanescope_options INTERFACE -Wall -Wextra -Wshadow -Wno-missing-field-initializers
  -ffp-contract=off -fno-math-errno)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(lanescope_options INTERFACE -Wno-restrict)  # false alarms on std::string (GCC bug 105651)
endif()
if(LANESCOPE_WERROR)
  target_compile_options(lanescope_options INTERFACE -Werror)
endif()
if(LANESCOPE_SANITIZE)
  target_compile_options(lanescope_options INTERFACE -fsanitize=${LANESCOPE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  target_link_options(lanescope_options INTERFACE -fsanitize=${LANESCOPE_SANITIZE})
endif()

if(LANESCOPE_FUZZERS)
  target_compile_options(lanescope_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# {fmt} inside of what we build, compiled once (src/base/fmt.cc); in every file where it is older than that can.
add_library(lanescope_fmt INTERFACE)
if(fmt_VERSION VERSION_LESS 9)
  target_link_libraries(lanescope_fmt INTERFACE fmt::fmt-header-only)
else()
  target_include_directories(lanescope_fmt SYSTEM INTERFACE $<TARGET_PROPERTY:fmt::fmt-header-only,INTERFACE_INCLUDE_DIRECTORIES>)
endif()

# What nearly every file includes, parsed once for the libraries, and once with GoogleTest for the tests. Presets `dev` and `fuzz` do without:
# there each file must include what it uses. With ccache they would only be in the way.
set(LANESCOPE_HEADERS <algorithm> <array> <bit> <charconv> <cmath> <cstdint> <cstdio> <cstdlib> <cstring> <filesystem> <functional> <map>
    <memory> <optional> <set> <span> <string> <string_view> <unordered_map> <vector> <fmt/format.h>)
if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES ccache)
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()

# lanescope_precompiled(TARGET OWNER header…): TARGET gets the precompiled headers of OWNER, which is the first target that asks.
function(lanescope_precompiled target owner)
  if(target STREQUAL owner)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)   # GCC forgets there which headers are not ours
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Wno-maybe-uninitialized)
  endif()
endfunction()

# lanescope_test(TARGET file… LINK library…): a program of GoogleTest.
function(lanescope_test target)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  add_executable(${target} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${target} PRIVATE ${arg_LINK} lanescope_fmt GTest::gmock GTest::gtest_main)
  target_compile_options(${target} PRIVATE -O0)   # what is tested is optimized, its tests need not be
  target_compile_definitions(${target} PRIVATE LANESCOPE_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  lanescope_precompiled(${target} base_test ${LANESCOPE_HEADERS} <gmock/gmock.h> <gtest/gtest.h>)
endfunction()

# lanescope_library(NAME DEPENDS other… LINK external…): the static library of src/NAME from every *.cc there, and a test
# program NAME_test from every *_test.cc.
function(lanescope_library name)
  cmake_parse_arguments(arg "" "" "DEPENDS;LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(TRANSFORM arg_DEPENDS PREPEND lanescope_)
  add_library(lanescope_${name} STATIC ${sources})
  target_link_libraries(lanescope_${name} PUBLIC lanescope_options ${arg_DEPENDS} PRIVATE lanescope_fmt ${arg_LINK})
  lanescope_precompiled(lanescope_${name} lanescope_base ${LANESCOPE_HEADERS})
  if(LANESCOPE_TESTS AND tests)
    lanescope_test(${name}_test ${tests} LINK lanescope_${name} ${arg_LINK})
    gtest_discover_tests(${name}_test TEST_PREFIX ${name}. DISCOVERY_TIMEOUT 60)
  endif()
endfunction()

# lanescope_archives(TARGET VARIABLE): the archives of a library of ours and of all that it depends on.
function(lanescope_archives target variable)
  set(open ${target})
  set(seen)
  while(open)
    list(POP_FRONT open next)
    if(next MATCHES "^lanescope_" AND NOT next STREQUAL "lanescope_options" AND NOT next IN_LIST seen)
      list(APPEND seen ${next})
      get_target_property(depends ${next} INTERFACE_LINK_LIBRARIES)
      list(APPEND open ${depends})
    endif()
  endwhile()
  list(TRANSFORM seen REPLACE "(.+)" "$<TARGET_FILE:\\1>")
  set(${variable} ${seen} PARENT_SCOPE)
endfunction()
