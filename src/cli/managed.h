// Where rubatod manages the GPUs of a run, it is asked, by root too.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "conduct/lease_holder.h"
#include "core/setting.h"
#include "wire/connect.h"

namespace rubato::cli {

/// Where a rubatod that could manage these GPUs would listen: $RUBATO_SOCKET alone, where that is set.
[[nodiscard]] std::vector<std::filesystem::path> manager_sockets(std::string_view gpu_list);

/// The first that answers; absent where none listens. Errors: one listens and cannot be talked to.
[[nodiscard]] Result<std::optional<wire::Greeted>> greet_manager(std::string_view gpu_list);

/// rubatod where it manages every GPU of the list; absent where it manages none of them, or there is none.
/// Errors: it manages some, or it does not answer: then nothing may be set. Before any driver call of ours.
[[nodiscard]] Result<std::optional<wire::Greeted>> manager_of(std::string_view gpu_list);

/// Whether rubatod manages these GPUs and lets an experiment move `knobs`: it is asked for that lease, which
/// is given back at once, so that what rules, other users or other managers refuse is known in rubatod's own
/// words before anything runs. False: it manages none of them. Errors: the refusal; it only observes;
/// manager_of()'s.
[[nodiscard]] Result<bool> manager_grants(std::string_view gpu_list, const std::vector<Knob>& knobs);

/// How many of `uuids` it manages.
[[nodiscard]] std::size_t managed_among(const wire::StatusReply& status,
                                        const std::vector<std::string>& uuids);

/// After the death of rubatod: what its own restoration, or its next start, has put back. `otherwise`: a
/// guard of ours, where this process has the right.
[[nodiscard]] conduct::Rescue rescue_by_manager(std::string_view gpu_list, conduct::Rescue otherwise);

}  // namespace rubato::cli
