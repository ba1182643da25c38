#include "predict/trees/booster.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"

namespace rubato::predict::trees {
namespace {

/// The library's words are several lines with a stack; the first says what was wrong.
tl::unexpected<Error> refused(const XgboostLibrary& library, std::string_view doing) {
  const char* const words = library.last_error();
  const std::string all = words == nullptr ? "" : words;
  return fail(ErrorCode::internal, cat("XGBoost cannot ", doing, ": ", all.substr(0, all.find('\n'))));
}

class Matrix {
 public:
  static Result<Matrix> make(const XgboostLibrary& library, const Features& features) {
    void* handle = nullptr;
    if (library.matrix_create(features.values.data(), features.rows(), features.columns,
                              std::numeric_limits<float>::quiet_NaN(), &handle) != 0)
      return refused(library, "take the rows");
    return Matrix(library, handle);
  }
  Matrix(Matrix&& other) noexcept
      : library_(other.library_), handle_(std::exchange(other.handle_, nullptr)) {}
  Matrix& operator=(Matrix&&) = delete;
  ~Matrix() {
    if (handle_ != nullptr) library_->matrix_free(handle_);
  }
  [[nodiscard]] Status set(const char* field, std::span<const float> values) {
    if (library_->matrix_set_floats(handle_, field, values.data(), values.size()) != 0)
      return refused(*library_, cat("take the ", field));
    return {};
  }
  [[nodiscard]] void* handle() const { return handle_; }

 private:
  Matrix(const XgboostLibrary& library, void* handle) : library_(&library), handle_(handle) {}

  const XgboostLibrary* library_;
  void* handle_;
};

std::vector<std::pair<std::string, std::string>> parameters(const Boosting& boosting) {
  std::vector<std::pair<std::string, std::string>> out = {{"objective", "reg:squarederror"},
                                                          {"base_score", "0"},
                                                          {"nthread", "1"},
                                                          {"verbosity", "0"},
                                                          {"seed", "0"},
                                                          {"tree_method", boosting.tree_method},
                                                          {"eta", number(boosting.eta)},
                                                          {"max_depth", cat(boosting.max_depth)}};
  if (!boosting.monotone.empty()) {
    std::string constraints = "(";
    for (const int sign : boosting.monotone) constraints += cat(constraints.size() > 1 ? "," : "", sign);
    out.emplace_back("monotone_constraints", constraints + ")");
  }
  return out;
}

}  // namespace

Result<Booster> Booster::train(const Features& features, std::span<const float> targets,
                               std::span<const float> weights, const Boosting& boosting) {
  const auto found = xgboost_library();
  if (!found) return fail(found.error());
  const XgboostLibrary& library = **found;
  auto matrix = Matrix::make(library, features);
  if (!matrix) return fail(matrix.error());
  if (const Status set = matrix->set("label", targets); !set) return fail(set.error());
  if (!weights.empty())
    if (const Status set = matrix->set("weight", weights); !set) return fail(set.error());
  void* handle = nullptr;
  void* const handles[] = {matrix->handle()};
  if (library.booster_create(handles, 1, &handle) != 0) return refused(library, "begin to train");
  Booster booster(*found, handle);
  for (const auto& [name, value] : parameters(boosting))
    if (library.booster_set(handle, name.c_str(), value.c_str()) != 0)
      return refused(library, cat("set ", name, " to ", value));
  for (unsigned round = 0; round < boosting.rounds; ++round)
    if (library.booster_update(handle, static_cast<int>(round), matrix->handle()) != 0)
      return refused(library, "train");
  return booster;
}

Booster::Booster(Booster&& other) noexcept
    : library_(other.library_), handle_(std::exchange(other.handle_, nullptr)) {}

Booster::~Booster() {
  if (handle_ != nullptr) library_->booster_free(handle_);
}

Result<std::vector<std::vector<double>>> Booster::predict(const Features& features,
                                                          std::span<const unsigned> rounds) const {
  auto matrix = Matrix::make(*library_, features);
  if (!matrix) return fail(matrix.error());
  std::vector<std::vector<double>> out;
  for (const unsigned end : rounds) {
    const std::string config = cat(R"({"type":0,"training":false,"iteration_begin":0,"iteration_end":)", end,
                                   R"(,"strict_shape":false})");
    const XgboostLibrary::Count* shape = nullptr;
    XgboostLibrary::Count dimensions = 0;
    const float* values = nullptr;
    if (library_->booster_predict(handle_, matrix->handle(), config.c_str(), &shape, &dimensions, &values) !=
        0)
      return refused(*library_, "predict");
    out.emplace_back(values, values + features.rows());
  }
  return out;
}

Result<nlohmann::json> Booster::json() const {
  XgboostLibrary::Count length = 0;
  const char* text = nullptr;
  if (library_->booster_save(handle_, R"({"format":"json"})", &length, &text) != 0)
    return refused(*library_, "save what it trained");
  auto out = nlohmann::json::parse(text, text + length, nullptr, false);
  if (out.is_discarded()) return fail(ErrorCode::internal, "XGBoost saved a model that is no JSON");
  return out;
}

}  // namespace rubato::predict::trees
