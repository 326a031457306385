# Use the packed library of 1.15.5-cpu-macos-lite: include(.../tensorflow.cmake), then
#   target_link_libraries(your_program PRIVATE tfenv::tensorflow)
add_library(tfenv_tensorflow INTERFACE)
add_library(tfenv::tensorflow ALIAS tfenv_tensorflow)
target_include_directories(tfenv_tensorflow INTERFACE "${CMAKE_CURRENT_LIST_DIR}/include")
file(GLOB tfenv_libraries "${CMAKE_CURRENT_LIST_DIR}/lib/libtensorflowlite.so")
target_link_libraries(tfenv_tensorflow INTERFACE ${tfenv_libraries})
target_compile_features(tfenv_tensorflow INTERFACE cxx_std_11)
if(APPLE)
  # `Undefined symbols: _CFRelease` at the link of your program: code inside TensorFlow (libcurl, time
  # zones of Abseil) calls Apple's frameworks. Bazel names them when it links; whoever links
  # TensorFlow's objects again has to name them again.
  target_link_libraries(tfenv_tensorflow INTERFACE "-framework CoreFoundation" "-framework Security")
  set_target_properties(tfenv_tensorflow PROPERTIES INTERFACE_LINK_OPTIONS "-Wl,-rpath,${CMAKE_CURRENT_LIST_DIR}/lib")
endif()
