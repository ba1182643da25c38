# Run at every build: writes ${OUT} with the commit of ${SOURCE}, only where it changed, so that nothing is built
# anew for it otherwise. Without git, or in an unpacked release, the commit is empty.
set(commit "")
if(EXISTS ${SOURCE}/.git)
  # Never takes the index lock: somebody may be committing.
  set(ENV{GIT_OPTIONAL_LOCKS} 0)
  execute_process(COMMAND git rev-parse --short=12 HEAD WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE commit
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    set(commit "")
  else()
    execute_process(COMMAND git diff-index --quiet HEAD -- WORKING_DIRECTORY ${SOURCE} ERROR_QUIET RESULT_VARIABLE changed)
    if(changed)
      string(APPEND commit " (changed)")
    endif()
  endif()
endif()
set(text "#pragma once\n\n#include <string_view>\n\nnamespace rubato::cli {\ninline constexpr std::string_view kCommit = \"${commit}\";\n}\n")
if(EXISTS ${OUT})
  file(READ ${OUT} before)
endif()
if(NOT "${before}" STREQUAL "${text}")
  file(WRITE ${OUT} "${text}")
endif()
