// Keeps out of a file that is meant for others what tells who and where it was made.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace rubato::experiment {

/// `text` with UUIDs, PCI addresses, absolute paths and every word in `names` replaced by "...". Names are
/// matched as whole words.
[[nodiscard]] std::string scrubbed(std::string_view text, const std::vector<std::string>& names);

/// The same in every text of a document; keys stay.
void scrub(nlohmann::ordered_json& document, const std::vector<std::string>& names);

}  // namespace rubato::experiment
