# Writes one .cpp that holds the page of the dashboard as text: cmake -DPAGE=web/dist/dashboard.html -DOUT=... -P.
file(READ ${PAGE} page)
file(WRITE ${OUT} "#include \"exporter/dashboard_page.h\"\n\nnamespace rubato::exporter {\n
std::string_view dashboard_page() {\n  return R\"rubato_page(${page})rubato_page\";\n}\n\n}  // namespace rubato::exporter\n")
