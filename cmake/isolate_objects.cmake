# tribo_isolate_objects(OUT LIBRARY KEEP)
#
# Links the objects of an object library into one relocatable file in which only the symbols matching KEEP stay global.
# Code compiled for AVX-512 contains inline functions of the standard library compiled for AVX-512; were they left
# global, the linker might pick these copies for the whole program, which then dies on a machine without AVX-512.
function(tribo_isolate_objects out library keep)
  set(file "${CMAKE_CURRENT_BINARY_DIR}/${library}_isolated.o")
  # CMake counts a precompiled header among the objects.
  set(objects "$<FILTER:$<TARGET_OBJECTS:${library}>,EXCLUDE,[.]gch$>")
  add_custom_command(
    OUTPUT "${file}"
    COMMAND ${CMAKE_LINKER} -r --force-group-allocation -o "${file}" "${objects}"
    COMMAND ${CMAKE_OBJCOPY} --wildcard "--keep-global-symbol=${keep}" "${file}"
    DEPENDS ${library} "${objects}"
    COMMAND_EXPAND_LISTS VERBATIM
    COMMENT "Isolating ${library}")
  set_source_files_properties("${file}" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  set(${out} "${file}" PARENT_SCOPE)
endfunction()
