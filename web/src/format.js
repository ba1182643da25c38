// Numbers as people read them, as src/report/format.cpp writes them: a unit, and no more digits than mean something.

const known = (value) => typeof value === "number" && Number.isFinite(value);
// A true minus sign lines up with digits.
const minus = (text) => text.replace(/^-/, "−");

export const fixed = (value, digits) => (known(value) ? minus(value.toFixed(digits)) : null);
export const count = (value) => (known(value) ? minus(Math.round(value).toLocaleString("en").replaceAll(",", " ")) : null);

/// Two places from 1 on, below two digits that mean something.
export const about = (value) => (Math.abs(value) >= 1 ? fixed(value, value >= 100 ? 0 : 2) : minus(value.toPrecision(2)));

export function joules(value) {
  if (!known(value)) return null;
  const size = Math.abs(value);
  if (size >= 3.6e6) return `${fixed(value / 3.6e6, 3)} kWh`;
  if (size >= 1e6) return `${fixed(value / 1e6, 3)} MJ`;
  if (size >= 1e4) return `${fixed(value / 1e3, 2)} kJ`;
  return `${fixed(value, size >= 100 ? 0 : 2)} J`;
}

export function seconds(value) {
  if (!known(value)) return null;
  const size = Math.abs(value);
  const sign = value < 0 ? "−" : "";
  if (size < 1) return `${sign}${(size * 1e3).toFixed(1)} ms`;
  if (size < 60) return `${sign}${size.toFixed(2)} s`;
  const whole = Math.round(size);
  if (whole < 3600) return `${sign}${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${sign}${Math.floor(whole / 3600)} h ${String(Math.floor((whole % 3600) / 60)).padStart(2, "0")} min`;
}

/// A moment of the run, as exact as `step` asks for: "1:02:03", "2:03.450", "12.30 s".
export function moment(value, step = 0.001) {
  if (!known(value)) return null;
  const digits = step >= 1 ? 0 : Math.min(3, Math.ceil(-Math.log10(step)));
  const size = Math.abs(value);
  const sign = value < 0 ? "−" : "";
  if (size < 60) return `${sign}${size.toFixed(digits)} s`;
  const whole = Math.floor(size + 1e-9);
  const rest = digits ? (size - whole).toFixed(digits).slice(1).replace(/^1.*/, "") : "";
  const two = (n) => String(n).padStart(2, "0");
  const minutes = Math.floor(whole / 60) % 60;
  const hours = Math.floor(whole / 3600);
  return hours ? `${sign}${hours}:${two(minutes)}:${two(whole % 60)}${rest}` : `${sign}${minutes}:${two(whole % 60)}${rest}`;
}

export const watts = (value) => (known(value) ? `${fixed(value, 1)} W` : null);
export const megahertz = (value) => (known(value) ? `${fixed(value, Number.isInteger(value) ? 0 : 1)} MHz` : null);
export const percent = (fraction, digits = 1) => (known(fraction) ? `${fixed(100 * fraction, digits)} %` : null);

/// "12.3 % (11.0 to 13.5 %)" of {fraction, low_90, high_90}.
export function estimate(e) {
  if (!e || !known(e.fraction)) return null;
  const digits = Math.abs(e.fraction) < 0.0095 ? 2 : 1;
  const range = known(e.low_90) ? ` (${fixed(100 * e.low_90, digits)} to ${fixed(100 * e.high_90, digits)} %)` : "";
  return percent(e.fraction, digits) + range;
}

const range = (r, what) => {
  if (!r) return null;
  return r.min === r.max ? `${what} ${megahertz(r.max)}` : `${what} ${fixed(r.min, 0)} to ${megahertz(r.max)}`;
};

/// A setting in words; "as found" where nothing is set.
export function setting(s) {
  if (!s) return null;
  const plain = (value, what) => (known(value) ? `${what} ${megahertz(value)}` : range(value, what));
  const application = s.application_clocks_mhz;
  const parts = [
    known(s.power_limit_w) ? `${fixed(s.power_limit_w, Number.isInteger(s.power_limit_w) ? 0 : 1)} W` : null,
    plain(s.sm_clock_mhz, "SM"),
    plain(s.memory_clock_mhz, "memory"),
    application ? `application clocks ${fixed(application.memory, 0)}/${megahertz(application.sm)}` : null,
  ].filter(Boolean);
  return parts.join(", ") || "as found";
}

/// An energy with its half widths: "12.3 kJ ± 0.1 % sampling ± 5.0 % calibration".
export function figure(energy, sampling, calibration) {
  if (!known(energy)) return null;
  const band = (value, what) => (known(value) && energy !== 0 ? ` ± ${fixed((100 * value) / Math.abs(energy), 2)} % ${what}` : "");
  return joules(energy) + band(sampling, "sampling") + band(calibration, "calibration");
}

export const kinds = {
  measured: "Measured on the GPU's own sensor, or a meter's.",
  apportioned: "Apportioned: split by a model, not measured.",
  replayed: "Replayed from a table of measurements.",
  interpolated: "Interpolated between measurements of a table.",
  modelled: "Modelled: this GPU is simulated.",
};
export const kindOf = (figure) =>
  figure ? (figure.apportioned && figure.kind !== "apportioned" ? `${figure.kind}, split by time` : figure.kind) : null;
