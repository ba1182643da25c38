# Writes one .cpp that holds the page of HTML reports as text: cmake -DPAGE=web/dist/report.html -DOUT=... -P.
file(READ ${PAGE} page)
file(WRITE ${OUT} "#include \"report/page_shell.h\"\n\nnamespace rubato::report {\n
std::string_view page_shell() {\n  return R\"rubato_page(${page})rubato_page\";\n}\n\n}  // namespace rubato::report\n")
