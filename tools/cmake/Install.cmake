# Installs the package for other projects: `find_package(Forebay)` defines Forebay::udf, the header of
# user functions, which depends on no library, and Forebay::loader, the batches of a job, if the
# libraries that it links are found. `find_package(Forebay COMPONENTS loader)` fails if they are not.
#   cmake --install build/release --prefix DIR [--component udf|loader]
include(CMakePackageConfigHelpers)
include(Merge)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Forebay)

install(TARGETS forebay_udf EXPORT ForebayUdf)
install(FILES ${PROJECT_SOURCE_DIR}/include/forebay/udf.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/forebay COMPONENT udf)
install(EXPORT ForebayUdf NAMESPACE Forebay:: DESTINATION ${package_dir} COMPONENT udf)

forebay_merged_library(forebay_loader FROM engine_loader OTHERS linked)
set_target_properties(forebay_loader PROPERTIES EXPORT_NAME loader OUTPUT_NAME forebay)
target_include_directories(forebay_loader INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
install(TARGETS forebay_loader EXPORT ForebayLoader
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT loader)
install(FILES ${PROJECT_SOURCE_DIR}/include/forebay/loader.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/forebay COMPONENT loader)
install(EXPORT ForebayLoader NAMESPACE Forebay:: DESTINATION ${package_dir} COMPONENT loader)

# The package's config finds the libraries that the archive links by the same names as this build.
set(loader_packages)
set(loader_modules)
foreach(library IN LISTS linked)
  if(library MATCHES "^PkgConfig::(.*)$")
    list(APPEND loader_modules ${CMAKE_MATCH_1}=${${CMAKE_MATCH_1}_MODULE_NAME})
  elseif(library MATCHES "^(.*)::")
    list(APPEND loader_packages ${CMAKE_MATCH_1})
  endif()
endforeach()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/ForebayConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/ForebayConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ForebayConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
foreach(component udf loader)
  install(FILES ${PROJECT_BINARY_DIR}/ForebayConfig.cmake
                ${PROJECT_BINARY_DIR}/ForebayConfigVersion.cmake
          DESTINATION ${package_dir} COMPONENT ${component})
endforeach()

# The script with which `forebay tune compare --report` draws plots; python3 runs it.
install(FILES ${PROJECT_SOURCE_DIR}/tools/report/plot.py
        DESTINATION ${CMAKE_INSTALL_DATADIR}/forebay)
