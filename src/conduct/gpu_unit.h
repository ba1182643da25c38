// One GPU of a session: its reader, its meter and what is known about it now.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "conduct/block_keeper.h"
#include "conduct/board_tally.h"
#include "conduct/counter_watch.h"
#include "conduct/ownership.h"
#include "conduct/shift_watch.h"
#include "core/restoration.h"
#include "core/sample.h"
#include "core/setting.h"
#include "device/gpu.h"
#include "measure/energy_meter.h"
#include "measure/sensor_finder.h"
#include "record/sensor_store.h"
#include "record/types.h"

namespace rubato::conduct {

struct GpuUnit {
  std::unique_ptr<device::Gpu> gpu;
  std::unique_ptr<measure::EnergyMeter> meter;         // GPU scope
  std::unique_ptr<measure::EnergyMeter> module_meter;  // these contain or are contained in it: never added
  std::unique_ptr<measure::EnergyMeter> memory_meter;
  SensorFacts sensor;  // as known by now
  std::optional<measure::SensorFinder> finder;
  record::FoundSensor found_sensor;      // by this run or an earlier one under the same driver
  std::vector<std::string_view> series;  // named in the record
  bool counter_doubted = false;          // and said so
  bool gap_told = false;                 // the record says already that something is missing
  std::unique_ptr<BlockKeeper> blocks;
  ShiftWatch shifts;
  std::unique_ptr<CounterWatch> counters;  // null: nothing is to be counted
  std::optional<TimePoint> counted;        // end of the latest window
  std::optional<PowerLimits> found;
  std::optional<Megahertz> highest_sm_clock;
  bool counter_seen = false;
  std::optional<SlowReading> state;
  std::optional<Watts> latest_power;
  Ownership ownership;
  bool job_seen = false;     // it held a compute context here at some look
  bool looked = false;       // at least once
  bool blind = false;        // at some look it could not be told who computes here
  int unknown_in_a_row = 0;  // one process that died between two looks is not a namespace
  bool leased = false;
  bool gave_way = false;              // somebody else computes here, and it has been said
  bool lost = false;                  // it fell off the bus
  std::unique_ptr<BoardTally> tally;  // of a run that divides a power budget; else null
  Setting in_force;                   // ours; empty: the found setting
  std::optional<Watts> seen_limit;    // requested, where nothing of it is ours
  bool their_hand_told = false;
  Setting theirs;                       // that others set meanwhile; empty: the found setting
  std::optional<Watts> expected_limit;  // as read back after our last write
  TimePoint last_write;
  std::optional<record::SettingChange> change;  // waits for the clock it reached
  std::deque<FinishedBlock> finished;           // wait for the sensor to speak after their end
  bool changed_by_someone_else = false;
  unsigned put_back_failed = 0;  // times in a row
  TimePoint put_back_next;       // not before
  std::optional<Setting> last_requested;
  RestorationReport restoration;

  /// Nothing is to be put back here any more: it is, or something else was set.
  void forget_debt() {
    put_back_failed = 0;
    put_back_next = {};
  }
  void is_as_found() {
    in_force = {};
    forget_debt();
  }
  /// What the GPU is held at, by whomever.
  [[nodiscard]] const Setting& held() const { return leased ? in_force : theirs; }
  [[nodiscard]] const GpuId& id() const { return gpu->identity().id; }
  [[nodiscard]] std::string name() const { return id().uuid + " (" + gpu->identity().name + ")"; }
};

}  // namespace rubato::conduct
