# What other projects find. `find_package(Forebay)` gives Forebay::udf, the header of user
# functions, and needs nothing else; `find_package(Forebay COMPONENTS libraries)` gives core and
# actors too, as Forebay::core_data, Forebay::actors_transform and so on, to build stages with.
#   cmake --install build/release --prefix DIR [--component udf|libraries]
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Forebay)

# The libraries that the folder and those below it define.
function(forebay_libraries_below folder result)
  set(found)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(type MATCHES "STATIC_LIBRARY|INTERFACE_LIBRARY")
      list(APPEND found ${target})
    endif()
  endforeach()
  get_property(below DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(subfolder IN LISTS below)
    forebay_libraries_below(${subfolder} more)
    list(APPEND found ${more})
  endforeach()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

install(TARGETS forebay_udf EXPORT ForebayUdf)
install(FILES ${PROJECT_SOURCE_DIR}/include/forebay/udf.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/forebay COMPONENT udf)
install(EXPORT ForebayUdf NAMESPACE Forebay:: DESTINATION ${package_dir} COMPONENT udf)

forebay_libraries_below(${PROJECT_SOURCE_DIR}/core libraries)
forebay_libraries_below(${PROJECT_SOURCE_DIR}/actors actors_libraries)
list(APPEND libraries ${actors_libraries})
list(REMOVE_ITEM libraries forebay_udf)
install(TARGETS ${libraries} EXPORT ForebayLibraries
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/forebay COMPONENT libraries
        FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/forebay COMPONENT libraries
        FILE_SET alone DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/forebay COMPONENT libraries)
install(EXPORT ForebayLibraries NAMESPACE Forebay:: DESTINATION ${package_dir}
        COMPONENT libraries)

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/ForebayConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/ForebayConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ForebayConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ForebayConfig.cmake
              ${PROJECT_BINARY_DIR}/ForebayConfigVersion.cmake
        DESTINATION ${package_dir} COMPONENT udf)

# What `forebay tune compare --report` draws plots with; python3 runs it.
install(FILES ${PROJECT_SOURCE_DIR}/tools/report/plot.py
        DESTINATION ${CMAKE_INSTALL_DATADIR}/forebay)
