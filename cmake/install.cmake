# What `cmake --install` puts where: the program, its manual pages and completions (made by the program itself, from
# the tree that --help prints), the installed headers and the documents.
include(GNUInstallDirs)

install(TARGETS rubato RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET rubato-exporter)
  install(TARGETS rubato-exporter RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT exporter)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/integrations/prometheus ${PROJECT_SOURCE_DIR}/integrations/grafana
    DESTINATION share/rubato COMPONENT exporter)
  # Its paths are those of the package, which alone it is for.
  install(FILES ${PROJECT_SOURCE_DIR}/integrations/systemd/rubato-exporter.service DESTINATION lib/systemd/system
    COMPONENT exporter EXCLUDE_FROM_ALL)
endif()

# A sanitized or foreign binary cannot always run at build time; its words are those of any other build.
if(NOT CMAKE_CROSSCOMPILING)
  set(words ${CMAKE_BINARY_DIR}/share)
  set(made ${words}/man/man1/rubato.1 ${words}/bash/rubato ${words}/zsh/_rubato ${words}/fish/rubato.fish)
  add_custom_command(OUTPUT ${made}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${words}/man/man1 ${words}/bash ${words}/zsh ${words}/fish
    COMMAND rubato help --man-pages ${words}/man/man1
    COMMAND rubato completion bash > ${words}/bash/rubato
    COMMAND rubato completion zsh > ${words}/zsh/_rubato
    COMMAND rubato completion fish > ${words}/fish/rubato.fish
    DEPENDS rubato VERBATIM)
  add_custom_target(rubato_words ALL DEPENDS ${made})
  install(DIRECTORY ${words}/man/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
  install(FILES ${words}/bash/rubato DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${words}/zsh/_rubato DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${words}/fish/rubato.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/rubato DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.png")
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Meters whose libraries are heavy: rubato looks for them in ../lib/rubato from its own folder.
get_property(meter_modules GLOBAL PROPERTY RUBATO_METER_MODULES)
if(meter_modules)
  install(TARGETS ${meter_modules} LIBRARY DESTINATION lib/rubato COMPONENT meters)
endif()

# The Python package and what `rubato run` puts into PYTHONPATH: rubato looks for it in ../share/rubato from its own folder.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/inject ${PROJECT_SOURCE_DIR}/python/rubato DESTINATION share/rubato/python
  FILES_MATCHING PATTERN "*.py" PATTERN __pycache__ EXCLUDE)
