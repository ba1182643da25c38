# Debian packages, one for each component (cmake/install.cmake): tools/make-packages, or `cpack` in the build folder.
set(CPACK_GENERATOR DEB)
# What goes into a package is built by name; tests need not be built for it.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)
set(CPACK_PACKAGE_NAME rubato)
set(CPACK_PACKAGE_VENDOR "the rubato project")
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
# As Debian's own tools take it from whoever builds (debchange(1)).
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "rubato maintainers <maintainers@rubato.invalid>")
if(DEFINED ENV{DEBEMAIL} AND DEFINED ENV{DEBFULLNAME})
  set(CPACK_DEBIAN_PACKAGE_MAINTAINER "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/finish_packages.cmake)
set(packaging ${PROJECT_SOURCE_DIR}/integrations/debian)

# rubato_package(COMPONENT NAME SECTION TEXT [FIELD VALUE]...): fields as in CPACK_DEBIAN_<COMPONENT>_PACKAGE_<FIELD>.
# Maintainer scripts and the list of conffiles lie in integrations/debian/NAME; cpack indents the text.
macro(rubato_package component name section text)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${text}")
  file(GLOB CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA CONFIGURE_DEPENDS
    ${packaging}/${name}/postinst ${packaging}/${name}/prerm ${packaging}/${name}/postrm ${packaging}/${name}/conffiles)
  set(fields ${ARGN})
  while(fields)
    list(POP_FRONT fields field value)
    set(CPACK_DEBIAN_${upper}_PACKAGE_${field} "${value}")
  endwhile()
  # finish_packages.cmake makes the rest of /usr/share/doc/NAME.
  install(FILES ${packaging}/copyright DESTINATION share/doc/${name} COMPONENT ${component} EXCLUDE_FROM_ALL)
  install(FILES ${packaging}/lintian-overrides DESTINATION share/lintian/overrides RENAME ${name}
    COMPONENT ${component} EXCLUDE_FROM_ALL)
endmacro()

set(CPACK_COMPONENTS_ALL "")
rubato_package(rubato rubato science "lowers the energy of GPU training within a slowdown bound
Put it before a training command: it measures what the GPUs draw, finds the
iteration, predicts what other power limits and clocks would cost, holds the
best setting that the bound allows, and puts everything back.

GPUs can be simulated: no hardware and no right is needed to try it."
  SUGGESTS "rubato-meters, rubatod, libxgboost0")
rubato_package(daemon rubatod admin "daemon that sets GPUs for the users of a machine
rubatod holds the right to set power limits and clocks of NVIDIA GPUs and lends
it to rubato's runs within an administrator's rules. What was found comes back
whatever happens to the run or to rubatod.

As installed it observes: it writes down what it would set, and sets nothing."
  # The unit's ExecReload is kill(1).
  DEPENDS procps RECOMMENDS "rubato, logrotate")
if(TARGET rubato-exporter)
  rubato_package(exporter rubato-exporter net "GPU energy and rubato's runs as metrics for Prometheus
Serves energy, power, limits, clocks and limiter times of NVIDIA GPUs, and what
rubato's runs used and saved, with alert rules and a Grafana dashboard. It
needs no right and sets nothing."
    SUGGESTS "prometheus, rubato")
endif()
if(meter_modules)
  rubato_package(meters rubato-meters science "power meters on the network for rubato
Modules for rubato that read power strips by SNMP, plugs by MQTT and the
board management controller by IPMI DCMI."
    DEPENDS "rubato (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
endif()
if(TARGET rubato_spank)
  rubato_package(slurm rubato-slurm admin "rubato's plugin for Slurm
srun --rubato=max-slowdown=5% holds the best setting of a job's GPUs inside
that bound, and prolog and epilog see to it that every job finds the GPUs as
they were."
    RECOMMENDS "rubato, rubatod, slurmd")
endif()
include(CPack)
