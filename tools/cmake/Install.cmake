# Installs the package for other projects: `find_package(Forebay)` defines Forebay::udf, the header of
# user functions, which depends on no library, and Forebay::loader, the batches of a job, and
# Forebay::actors, actors, if the libraries that they link are found. `find_package(Forebay COMPONENTS
# loader)` fails if they are not.
#   cmake --install build/release --prefix DIR [--component udf|loader|actors]
include(CMakePackageConfigHelpers)
include(Merge)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Forebay)

install(TARGETS forebay_udf EXPORT ForebayUdf)
install(FILES ${PROJECT_SOURCE_DIR}/include/forebay/udf.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/forebay COMPONENT udf)
install(EXPORT ForebayUdf NAMESPACE Forebay:: DESTINATION ${package_dir} COMPONENT udf)

# forebay_install_archive(loader FROM engine_loader EXPORT ForebayLoader OUTPUT forebay HEADERS loader.h):
# installs one archive as Forebay::loader. Sets loader_packages and loader_modules to what the package's
# config must find: the libraries that the archive links, by the same names as in this build.
function(forebay_install_archive part)
  cmake_parse_arguments(ARG "" "FROM;EXPORT;OUTPUT" "HEADERS" ${ARGN})
  forebay_merged_library(forebay_${part} FROM ${ARG_FROM} OTHERS linked)
  set_target_properties(forebay_${part} PROPERTIES EXPORT_NAME ${part} OUTPUT_NAME ${ARG_OUTPUT})
  target_include_directories(forebay_${part}
                             INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  install(TARGETS forebay_${part} EXPORT ${ARG_EXPORT}
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${part})
  list(TRANSFORM ARG_HEADERS PREPEND ${PROJECT_SOURCE_DIR}/include/forebay/)
  install(FILES ${ARG_HEADERS} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/forebay COMPONENT ${part})
  install(EXPORT ${ARG_EXPORT} NAMESPACE Forebay:: DESTINATION ${package_dir} COMPONENT ${part})
  set(packages)
  set(modules)
  foreach(library IN LISTS linked)
    if(library MATCHES "^PkgConfig::(.*)$")
      list(APPEND modules ${CMAKE_MATCH_1}=${${CMAKE_MATCH_1}_MODULE_NAME})
    elseif(library MATCHES "^(.*)::")
      list(APPEND packages ${CMAKE_MATCH_1})
    endif()
  endforeach()
  set(${part}_packages ${packages} PARENT_SCOPE)
  set(${part}_modules ${modules} PARENT_SCOPE)
endfunction()

forebay_install_archive(loader FROM engine_loader EXPORT ForebayLoader OUTPUT forebay
                        HEADERS loader.h)
forebay_install_archive(actors FROM engine_actors EXPORT ForebayActors OUTPUT forebay_actors
                        HEADERS actor.h context.h field.h future.h message.h object.h ref.h result.h
                                testing.h value.h)

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/ForebayConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/ForebayConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ForebayConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
foreach(component udf loader actors)
  install(FILES ${PROJECT_BINARY_DIR}/ForebayConfig.cmake
                ${PROJECT_BINARY_DIR}/ForebayConfigVersion.cmake
          DESTINATION ${package_dir} COMPONENT ${component})
endforeach()

# The script with which `forebay tune compare --report` draws plots; python3 runs it.
install(FILES ${PROJECT_SOURCE_DIR}/tools/report/plot.py
        DESTINATION ${CMAKE_INSTALL_DATADIR}/forebay)
