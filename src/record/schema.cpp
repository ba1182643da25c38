#include "record/schema.h"

#include <array>

#include "base/text.h"
#include "record/types.h"

namespace rubato::record {

std::string setting_columns(std::string_view prefix, std::string_view suffix) {
  constexpr std::array<std::string_view, kSettingColumns> kNames = {
      "power_limit_w",        "sm_clock_min_mhz",       "sm_clock_max_mhz",  "memory_clock_min_mhz",
      "memory_clock_max_mhz", "application_memory_mhz", "application_sm_mhz"};
  std::string out;
  for (const std::string_view name : kNames) out += cat(out.empty() ? "" : ",", prefix, name, suffix);
  return out;
}

std::string insert_into(std::string_view table, int columns) {
  std::string out = cat("INSERT INTO ", table, " VALUES (?");
  for (int i = 1; i < columns; ++i) out += ",?";
  return out + ")";
}

std::string create_statements() {
  constexpr std::string_view kEnergy =
      "energy_begin_ns INTEGER, energy_end_ns INTEGER, energy_j REAL, band_sampling_j REAL, "
      "band_calibration_j REAL,"
      "source_id INTEGER REFERENCES source(id)";
  return cat(
      "PRAGMA application_id=", kApplicationId, ";BEGIN;",
      "CREATE TABLE schema_version(version INTEGER NOT NULL);", "INSERT INTO schema_version VALUES(",
      kSchemaVersion, ");",
      "CREATE TABLE run(run_id TEXT, mode TEXT, command BLOB, working_directory TEXT, host TEXT, "
      "rubato_version TEXT,"
      "boot_id TEXT, started_at TEXT, begin_ns INTEGER, clock_rate REAL);",
      "CREATE TABLE run_end(end_ns INTEGER, exit_code INTEGER, exit_signal INTEGER, driver_calls INTEGER,"
      "driver_inside_s REAL, cpu_s REAL, bytes_written INTEGER, ticks INTEGER);",
      "CREATE TABLE device(id INTEGER PRIMARY KEY, uuid TEXT UNIQUE, name TEXT, driver_index INTEGER, "
      "pci_bus_id TEXT,"
      "kind TEXT, backend TEXT, driver_version TEXT, sensor_update_period_s REAL, sensor_averaging_window_s "
      "REAL,"
      "sensor_counter_period_s REAL, sensor_calibration_band_fraction REAL, sensor_source TEXT, limit_min_w "
      "REAL,"
      "limit_max_w REAL, limit_default_w REAL, limit_requested_w REAL, limit_enforced_w REAL, sensor_gain "
      "REAL,"
      "sensor_offset_w REAL, sensor_calibrated_by TEXT, sensor_lag_s REAL, sensor_calibration_floor_w REAL,"
      "sensor_counter_sees_all INTEGER);",
      "CREATE TABLE device_end(device_id INTEGER REFERENCES device(id),", kEnergy, ",found_known INTEGER,",
      setting_columns("found_", " REAL"), ",requested_known INTEGER,", setting_columns("requested_", " REAL"),
      ",restoration TEXT, restoration_detail TEXT, used_by_job INTEGER);",
      "CREATE TABLE device_energy(device_id INTEGER REFERENCES device(id),", kEnergy, ");",
      "CREATE TABLE source(id INTEGER PRIMARY KEY, device_id INTEGER REFERENCES device(id), name TEXT, unit "
      "TEXT,"
      "scope TEXT, kind TEXT, quality TEXT, channel_id INTEGER REFERENCES channel(id));",
      "CREATE TABLE channel(id INTEGER PRIMARY KEY, meter TEXT, name TEXT, scope TEXT, inside TEXT, place "
      "TEXT,"
      "has_energy INTEGER, has_power INTEGER, sensor_update_period_s REAL, sensor_averaging_window_s REAL,"
      "sensor_counter_period_s REAL, sensor_calibration_band_fraction REAL, sensor_source TEXT);",
      "CREATE TABLE channel_chunk(channel_id INTEGER REFERENCES channel(id), kind TEXT, layout INTEGER,"
      "begin_ns INTEGER, end_ns INTEGER, samples INTEGER, data BLOB);",
      "CREATE TABLE channel_end(channel_id INTEGER REFERENCES channel(id),", kEnergy,
      ",lag_s REAL, lag_quality TEXT);",
      "CREATE TABLE setting_change(at_ns INTEGER, device_id INTEGER REFERENCES device(id), who TEXT,",
      setting_columns("asked_", " REAL"), ",", setting_columns("requested_", " REAL"),
      ",enforced_w REAL, reached_sm_clock_mhz REAL, outcome TEXT);",
      "CREATE TABLE sample_chunk(device_id INTEGER REFERENCES device(id), kind TEXT, layout INTEGER, "
      "begin_ns INTEGER,"
      "end_ns INTEGER, samples INTEGER, data BLOB);",
      "CREATE TABLE counter_edge(at_ns INTEGER, device_id INTEGER REFERENCES device(id), counter_j REAL,"
      "was_reset INTEGER);",
      "CREATE TABLE window(role TEXT, device_id INTEGER REFERENCES device(id),", setting_columns("", " REAL"),
      ",begin_ns INTEGER, end_ns INTEGER, iterations INTEGER,", kEnergy, ");",
      "CREATE TABLE mark(at_ns INTEGER, kind INTEGER, flags INTEGER, mark_id INTEGER, pid INTEGER, tid "
      "INTEGER,"
      "rank INTEGER, detail_0 INTEGER, detail_1 INTEGER, detail_2 INTEGER, detail_3 INTEGER);",
      "CREATE TABLE name(id INTEGER PRIMARY KEY, text TEXT);",
      "CREATE TABLE kernel_chunk(layout INTEGER, begin_ns INTEGER, end_ns INTEGER, kernels INTEGER, data "
      "BLOB);",
      "CREATE TABLE kernel_cycle(begin_ns INTEGER, end_ns INTEGER, pid INTEGER, lost INTEGER);",
      "CREATE TABLE iteration(iteration INTEGER, begin_ns INTEGER, end_ns INTEGER, source TEXT);",
      "CREATE TABLE iteration_statement(at_ns INTEGER, device_id INTEGER REFERENCES device(id), source TEXT,"
      "periodic INTEGER, period_s REAL, relation TEXT, confidence REAL, half_width_fraction REAL,"
      "drift_per_minute_fraction REAL, launches INTEGER, why TEXT, used INTEGER, checks TEXT);",
      "CREATE TABLE progress_rate(begin_ns INTEGER, end_ns INTEGER, device_id INTEGER REFERENCES device(id),"
      "kind TEXT, per_second REAL, half_width_fraction REAL, confidence REAL, why TEXT);",
      "CREATE TABLE shift(at_ns INTEGER, noticed_ns INTEGER, device_id INTEGER REFERENCES device(id),"
      "what TEXT, from_value REAL, to_value REAL, unit TEXT, why TEXT);",
      "CREATE TABLE feature_window(id INTEGER PRIMARY KEY, device_id INTEGER REFERENCES device(id),"
      "provider TEXT, begin_ns INTEGER, end_ns INTEGER,",
      setting_columns("", " REAL"), ",why TEXT);",
      "CREATE TABLE feature(window_id INTEGER REFERENCES feature_window(id), name TEXT, value REAL);",
      "CREATE TABLE decision(at_ns INTEGER, action TEXT,", setting_columns("", " REAL"), ",why TEXT);",
      "CREATE TABLE gap(begin_ns INTEGER, end_ns INTEGER, device_id INTEGER REFERENCES device(id), why TEXT,"
      "channel_id INTEGER REFERENCES channel(id));",
      "CREATE TABLE goal(at_ns INTEGER, strategy TEXT, objective TEXT, max_slowdown_fraction REAL, host_w "
      "REAL, second_w REAL, idle_w REAL, power_budget_w REAL);",
      "CREATE TABLE expectation(id INTEGER PRIMARY KEY, at_ns INTEGER);",
      "CREATE TABLE expected_setting(expectation_id INTEGER REFERENCES expectation(id),",
      setting_columns("", " REAL"),
      ",time_ratio REAL, time_ratio_low REAL, time_ratio_high REAL, energy_ratio REAL, energy_ratio_low REAL,"
      "energy_ratio_high REAL, holds_probability REAL, measured INTEGER, on_curve INTEGER);",
      "COMMIT;");
}

}  // namespace rubato::record
