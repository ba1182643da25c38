# Writes one .cpp that holds every network as text.
set(rows "")
foreach(file ${NETWORKS})
  file(READ ${file} content)
  string(APPEND rows "    R\"rubato(${content})rubato\",\n")
endforeach()
file(WRITE ${OUT} "#include \"predict/layers/embedded_networks.h\"

namespace rubato::predict {
std::span<const std::string_view> embedded_networks() {
  static constexpr std::string_view kRows[] = {
${rows}  };
  return kRows;
}
}  // namespace rubato::predict
")
