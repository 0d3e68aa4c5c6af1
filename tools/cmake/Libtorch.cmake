# Defines the target `torch` and Torch_VERSION: libtorch out of FOREBAY_LIBTORCH, or the installed one that CMake finds.
#
# The CMake package of a PyTorch built for CUDA demands the whole CUDA toolkit, which programs without kernels of their
# own do not need: of such a PyTorch this file takes headers and libraries only.
if(NOT FOREBAY_LIBTORCH)
  find_package(Torch REQUIRED)
  return()
endif()

foreach(needed include/torch/csrc/api/include/torch/torch.h version.py lib/libtorch.so
               lib/libtorch_cpu.so lib/libc10.so)
  if(NOT EXISTS ${FOREBAY_LIBTORCH}/${needed})
    message(FATAL_ERROR "FOREBAY_LIBTORCH is ${FOREBAY_LIBTORCH}, which has no ${needed}; give the folder `torch` of "
                        "an installed PyTorch: python3 -c 'import torch; print(torch.__path__[0])'")
  endif()
endforeach()

file(STRINGS ${FOREBAY_LIBTORCH}/version.py Torch_VERSION REGEX "^__version__")
string(REGEX REPLACE ".*'(.*)'.*" "\\1" Torch_VERSION "${Torch_VERSION}")
if(TARGET torch)
  return()
endif()
add_library(torch INTERFACE IMPORTED GLOBAL)
target_include_directories(torch INTERFACE ${FOREBAY_LIBTORCH}/include
                                           ${FOREBAY_LIBTORCH}/include/torch/csrc/api/include)
target_compile_definitions(torch INTERFACE USE_DISTRIBUTED USE_C10D_GLOO)
# No symbol of libtorch.so is used, but it loads the devices' libraries, so the linker must not drop it. PyTorch's wheels
# export a broken part of std::filesystem from it, which the standard library's must precede.
target_link_libraries(torch INTERFACE -Wl,--push-state,--no-as-needed stdc++ ${FOREBAY_LIBTORCH}/lib/libtorch.so
                                      -Wl,--pop-state ${FOREBAY_LIBTORCH}/lib/libtorch_cpu.so
                                      ${FOREBAY_LIBTORCH}/lib/libc10.so)
