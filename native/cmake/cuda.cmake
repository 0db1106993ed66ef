# The CUDA compiler, what libsparkgap_cuda.so is built with, and the kernels of examples/. Without SPARKGAP_CUDA the build
# has the whole host product and no GPUs; sparkgap_device_open says so.
option(SPARKGAP_CUDA "Build the GPU code" OFF)
set(SPARKGAP_CUDA_WHEELS "" CACHE STRING "Wheels of PyPI (NAME==VERSION;...) with CUDA's compiler and the headers of NVSHMEM and NCCL; the root pom has them")
set(SPARKGAP_CUDA_TOOLCHAIN "${CMAKE_BINARY_DIR}/cuda-toolchain" CACHE PATH "Where those wheels are installed")

if(NOT SPARKGAP_CUDA)
  # One of an earlier build would be packed along, and not fit.
  file(REMOVE ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libsparkgap_cuda.so)
  message(STATUS "No GPU code in this build (SPARKGAP_CUDA is OFF; with Maven: -Pcuda)")
  return()
endif()
if(NOT SPARKGAP_CUDA_WHEELS)
  message(FATAL_ERROR "SPARKGAP_CUDA needs SPARKGAP_CUDA_WHEELS: build with Maven (-Pcuda), or give the list of the root pom")
endif()

find_package(Python3 REQUIRED COMPONENTS Interpreter)
execute_process(
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/../tools/cuda_toolchain.py
          --install-into ${SPARKGAP_CUDA_TOOLCHAIN} ${SPARKGAP_CUDA_WHEELS}
  OUTPUT_VARIABLE found COMMAND_ERROR_IS_FATAL ANY)
foreach(name NVCC NVCC_VERSION CUDA_HOME CUDA_LIBRARIES NVSHMEM_INCLUDE NCCL_INCLUDE)
  string(REGEX MATCH "(^|\n)${name}=([^\n]*)" line "${found}")
  set(SPARKGAP_${name} "${CMAKE_MATCH_2}")
endforeach()

# Code for these, and PTX of the last for what comes after, unless CMake's own CUDAARCHS says otherwise. CMake's test
# program needs the libraries as well.
set(CMAKE_CUDA_COMPILER "${SPARKGAP_NVCC}")
if(NOT CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
  set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real 100)
endif()
set(CMAKE_CUDA_FLAGS_INIT "-L${SPARKGAP_CUDA_LIBRARIES}")
set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
set(CMAKE_CUDA_STANDARD 17)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)
set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
enable_language(CUDA)
# The code of all architectures in half the space; drivers that CUDA's runtime of this version needs can unpack it.
add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:--compress-mode=size>")
message(STATUS "GPU code by nvcc ${SPARKGAP_NVCC_VERSION} (${SPARKGAP_NVCC})")
