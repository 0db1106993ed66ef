# libfabric: headers to compile the wire with, and the library that libsparkgap.so finds beside itself. Nothing links it.
set(SPARKGAP_FABRIC_FOLDER "${CMAKE_BINARY_DIR}/fabric" CACHE PATH "Where headers and library are unpacked")

file(STRINGS ${PROJECT_SOURCE_DIR}/../pom.xml pinned REGEX "<fabric.wheel>")
string(REGEX REPLACE " *</?fabric.wheel> *" "" SPARKGAP_FABRIC_WHEEL "${pinned}")
if(NOT SPARKGAP_FABRIC_WHEEL)
  message(FATAL_ERROR "The root pom.xml has no <fabric.wheel>: which wheel of PyPI has libfabric?")
endif()
find_package(Python3 REQUIRED COMPONENTS Interpreter)
execute_process(
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/../tools/fabric.py
          --install-into ${SPARKGAP_FABRIC_FOLDER} --wheel ${SPARKGAP_FABRIC_WHEEL}
  OUTPUT_VARIABLE found COMMAND_ERROR_IS_FATAL ANY)
foreach(name FABRIC_INCLUDE FABRIC_LIBRARY FABRIC_LICENSE)
  string(REGEX MATCH "(^|\n)${name}=([^\n]*)" line "${found}")
  set(SPARKGAP_${name} "${CMAKE_MATCH_2}")
endforeach()
file(COPY ${SPARKGAP_FABRIC_LIBRARY} DESTINATION ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
set(SPARKGAP_LICENSES "" CACHE PATH "Where licences go of what is packed along; nowhere if empty")
if(SPARKGAP_LICENSES)
  configure_file(${SPARKGAP_FABRIC_LICENSE} ${SPARKGAP_LICENSES}/libfabric.txt COPYONLY)
endif()
