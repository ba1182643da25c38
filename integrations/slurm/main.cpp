// rubato-slurm: what Slurm's prolog, epilog and health check run on a node, and srun at the end of a step.
#include <CLI/CLI.hpp>

#include "base/log.h"
#include "node.h"
#include "report.h"
#include "wire/connect.h"

int main(int argc, char** argv) {
  using namespace rubato::slurm;
  NodeOptions options{.socket = rubato::wire::kSystemSocket, .journals = {}, .energy_file = {}};
  std::string step;
  int status = 0;
  CLI::App app("for Slurm: nothing of rubato's is in force between two jobs (docs/slurm.md)", "rubato-slurm");
  app.set_version_flag("--version", "rubato-slurm " RUBATO_VERSION);
  app.require_subcommand(1);
  const auto add = [&](const char* name, const char* what, Moment moment) {
    CLI::App* command = app.add_subcommand(name, what);
    command->add_option("--socket", options.socket, "where rubatod listens")->capture_default_str();
    command->add_flag("!--no-drain", options.drain, "say it, and leave the node as it is");
    if (moment != Moment::clear)
      command->add_flag("--whole-node", options.whole_node,
                        "jobs have whole nodes, and Slurm counts no GPUs");
    if (moment == Moment::epilog)
      command->add_option("--energy-file", options.energy_file, "append a line of JSON with the job's energy")
          ->type_name("FILE");
    command->callback([&options, &status, moment] {
      options.journals = options.socket.parent_path();
      status = at(moment, options);
    });
  };
  add("prolog", "the job's GPUs are its own from now on, and as found", Moment::prolog);
  add("epilog", "the job is over: its GPUs are as found, or the node is drained", Moment::epilog);
  add("clear", "end every lease on this node, before a health check", Moment::clear);
  CLI::App* report = app.add_subcommand("report", "put the reports of a step's tasks together");
  report->add_option("STEP", step, "JOB.STEP")->required();
  report->callback([&] { status = report_step(step); });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return status;
}
