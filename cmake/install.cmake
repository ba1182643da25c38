# What `cmake --install` puts where, by component: rubato (the program, its manual pages and completions, made by the
# program itself from the tree that --help prints; headers and documents), daemon, exporter, meters. cmake/packages.cmake
# makes Debian packages of them. What is EXCLUDE_FROM_ALL has the paths of a package, which alone it is for.
include(GNUInstallDirs)

install(TARGETS rubato RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS rubatod RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT daemon)
install(FILES ${PROJECT_SOURCE_DIR}/docs/man/rubatod.8 DESTINATION ${CMAKE_INSTALL_MANDIR}/man8 COMPONENT daemon)
if(TARGET rubato-exporter)
  install(TARGETS rubato-exporter RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT exporter)
  install(FILES ${PROJECT_SOURCE_DIR}/docs/man/rubato-exporter.8 DESTINATION ${CMAKE_INSTALL_MANDIR}/man8
    COMPONENT exporter)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/integrations/prometheus ${PROJECT_SOURCE_DIR}/integrations/grafana
    DESTINATION share/rubato COMPONENT exporter)
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
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.png"
  PATTERN man EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
# A package names the licence in its file `copyright`.
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT by_hand)
# To read, and to correct: what the program has inside.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/gpus ${PROJECT_SOURCE_DIR}/priors DESTINATION share/rubato FILES_MATCHING PATTERN "*.json")

# The NVML stand-in, where no loader looks by itself.
install(TARGETS rubato_simgpu_nvml LIBRARY DESTINATION lib/rubato NAMELINK_SKIP)

# Meters whose libraries are heavy: rubato looks for them in ../lib/rubato from its own folder.
get_property(meter_modules GLOBAL PROPERTY RUBATO_METER_MODULES)
if(meter_modules)
  install(TARGETS ${meter_modules} LIBRARY DESTINATION lib/rubato COMPONENT meters)
endif()

# The Python package and what `rubato run` puts into PYTHONPATH: rubato looks for it in ../share/rubato from its own folder.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/inject ${PROJECT_SOURCE_DIR}/python/rubato DESTINATION share/rubato/python
  FILES_MATCHING PATTERN "*.py" PATTERN __pycache__ EXCLUDE)

# Services: in a package where systemd looks, else beside the rest, to be put there by hand (docs/daemon.md).
set(services ${PROJECT_SOURCE_DIR}/integrations/systemd)
install(DIRECTORY ${services} DESTINATION share/rubato COMPONENT by_hand)
install(FILES ${services}/rubatod.service DESTINATION lib/systemd/system COMPONENT daemon EXCLUDE_FROM_ALL)
install(FILES ${services}/rubato.conf DESTINATION lib/tmpfiles.d COMPONENT daemon EXCLUDE_FROM_ALL)
# Beside the prefix /usr, as an absolute path would leave the folder that a package is made of.
install(FILES ${services}/rubatod.toml DESTINATION ../etc/rubato COMPONENT daemon EXCLUDE_FROM_ALL)
install(FILES ${services}/rubatod.logrotate DESTINATION ../etc/logrotate.d RENAME rubatod COMPONENT daemon EXCLUDE_FROM_ALL)
install(FILES ${services}/rubato-exporter.service DESTINATION lib/systemd/system COMPONENT exporter EXCLUDE_FROM_ALL)
