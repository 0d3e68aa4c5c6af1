# With FOREBAY_UNITY, several files of a target are compiled as one: their headers are read once. So
# names in unnamed namespaces have to differ within a target, as clang-tidy wants them to, too.
function(forebay_unity name)
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${FOREBAY_UNITY} UNITY_BUILD_BATCH_SIZE 8)
endfunction()

# With FOREBAY_PCH, the headers of the standard library, and for tests those of Catch2, are read once for all targets.
function(forebay_precompiled name owner)
  if(FOREBAY_PCH)
    target_precompile_headers(${name} REUSE_FROM ${owner})
  endif()
endfunction()

# The code of tests compiles in four fifths of the time by -O1 instead of -O3; the libraries keep -O3.
function(forebay_test_options name)
  target_compile_options(${name} PRIVATE $<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Release>>:-O1>)
endfunction()

# A target that does nothing but own precompiled headers: a library's and a program's code differ in -fPIC.
function(forebay_precompiled_owner name)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "int main() { return 0; }\n")
  if(name MATCHES "test")
    add_executable(${name} EXCLUDE_FROM_ALL ${source})
    forebay_test_options(${name})
  else()
    add_library(${name} OBJECT EXCLUDE_FROM_ALL ${source})
  endif()
  target_link_libraries(${name} PRIVATE forebay_warnings)
  target_precompile_headers(${name} PRIVATE
    <algorithm> <array> <atomic> <bit> <charconv> <chrono> <cmath> <condition_variable> <cstdint> <cstring> <deque>
    <filesystem> <fstream> <functional> <future> <limits> <map> <memory> <mutex> <numeric> <optional> <set> <span>
    <string> <string_view> <thread> <tuple> <unordered_map> <utility> <variant> <vector>
    <tl/expected.hpp> <nlohmann/json.hpp> ${ARGN})
endfunction()

# forebay_library(core_data SOURCES batch.h buffer_pool.cpp DEPENDS core_base HIDDEN xxhash)
# DEPENDS is also linked by targets that link this one; HIDDEN is used only in its .cpp files.
function(forebay_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;HIDDEN" ${ARGN})
  set(headers ${ARG_SOURCES})
  set(units ${ARG_SOURCES})
  list(FILTER headers INCLUDE REGEX "\\.h$")
  list(FILTER units INCLUDE REGEX "\\.cpp$")
  if(units)
    add_library(${name} STATIC ${units})
    target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:forebay_warnings> ${ARG_HIDDEN})
    forebay_unity(${name})
    forebay_precompiled(${name} forebay_precompiled_headers)
    set(scope PUBLIC)
  else()
    add_library(${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_sources(${name} ${scope} FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${headers})
  target_link_libraries(${name} ${scope} ${ARG_DEPENDS})
endfunction()

# forebay_test(core_test SOURCES core/base/random_test.cpp … DEPENDS core_base …)
function(forebay_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  forebay_unity(${name})
  forebay_precompiled(${name} forebay_precompiled_test_headers)
  forebay_test_options(${name})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE forebay_warnings ${ARG_DEPENDS} Catch2::Catch2WithMain)
  add_dependencies(test_programs ${name})
  # The label is the folder under tests/: `ctest -L core` runs only the tests of core.
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/tests
             OUTPUT_VARIABLE folder)
  string(REGEX REPLACE "/.*" "" folder "${folder}")
  catch_discover_tests(${name} PROPERTIES TIMEOUT 240 LABELS ${folder}
                       ENVIRONMENT "TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/tsan.supp")
endfunction()

# forebay_fuzz(csv_fuzz SOURCES csv_fuzz.cpp DEPENDS actors_format): a libFuzzer program (preset `dev`);
# its first inputs are the files of tests/fuzz/corpus/csv, if there are any. Only its SOURCES and
# DEPENDS are instrumented for coverage, so that all other code stays fast.
function(forebay_fuzz name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE forebay_warnings ${ARG_DEPENDS})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  add_dependencies(fuzz_programs ${name})
  foreach(watched IN LISTS ARG_DEPENDS ITEMS ${name})
    target_compile_options(${watched} PRIVATE -fsanitize=fuzzer-no-link)
    set_target_properties(${watched} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
  endforeach()
endfunction()

# forebay_file_bytes(intune.weights "0x" "," bytes): the bytes of a file as hexadecimal digits, each between the two
# texts, for a source that configure_file makes. The build is configured again when the file changes.
function(forebay_file_bytes file before after variable)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  file(READ ${file} hex HEX)
  string(REPLACE "\\" "\\\\" before "${before}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "${before}\\1${after}" digits "${hex}")
  set(${variable} "${digits}" PARENT_SCOPE)
endfunction()
