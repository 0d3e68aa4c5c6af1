// Numbers as people read them, each with its unit. Pure functions; what is no number becomes "–".

const known = (value) => typeof value === 'number' && Number.isFinite(value);

/** Three significant digits, without an exponent. */
function digits(value) {
  if (value !== 0 && Math.abs(value) < 0.001) return value.toExponential(1);
  return Math.abs(value) >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}

function scaled(value, units, step) {
  let scale = 0;
  while (Math.abs(value) >= step && scale + 1 < units.length) {
    value /= step;
    ++scale;
  }
  return digits(value) + units[scale];
}

/** 1234567 → "1,234,567". */
export function count(value) {
  return known(value) ? Math.round(value).toLocaleString('en-US') : '–';
}

/** 1 → "1 split". */
export function splits(value) {
  return count(value) + (value === 1 ? ' split' : ' splits');
}

/** 1234567 → "1.23 M rows/s". */
export function rate(value, unit) {
  return known(value) ? scaled(value, [' ', ' k ', ' M ', ' G '], 1000) + unit : '–';
}

/** 1572864 → "1.5 MiB". */
export function bytes(value) {
  return known(value) ? scaled(value, [' B', ' KiB', ' MiB', ' GiB', ' TiB', ' PiB'], 1024) : '–';
}

/** 1234.5 → "1.23 kJ". */
export function joules(value) {
  return known(value) ? scaled(value, [' J', ' kJ', ' MJ', ' GJ'], 1000) : '–';
}

/** 0.123 → "12 %"; a digit more where that would be nothing or all. */
export function percent(share) {
  if (!known(share)) return '–';
  const value = 100 * share;
  const fine = (value > 0 && value < 1) || (value > 99 && value < 100);
  return (fine ? Math.trunc(10 * value) / 10 : Math.round(value)) + ' %';
}

/** 3725 → "1 h 2 min"; 12.3 → "12.3 s"; 0.0042 → "4.2 ms". */
export function duration(seconds) {
  if (!known(seconds)) return '–';
  if (seconds < 1) return digits(1000 * seconds) + ' ms';
  if (seconds < 60) return digits(seconds) + ' s';
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Seconds since 1970 → "14:03:59". */
export function clock(time) {
  return known(time) ? new Date(1000 * time).toLocaleTimeString('en-GB') : '–';
}

/** Seconds since 1970 → "2026-11-25 14:03:59". */
export function date(time) {
  return known(time) && time > 0 ? new Date(1000 * time).toLocaleString('sv-SE') : '–';
}

/** "load 1 -> 2" → "load 1 → 2", whose numbers stay on one line. */
export function changes(text) {
  return text.replaceAll(' -> ', '\u00a0→\u00a0');
}

/** Metrics of a model: four decimals. */
export function metric(value) {
  return known(value) ? value.toFixed(4) : '–';
}

/** How much more there could be: 1.25 → "up to 25 % more rows/s". */
export function gain(factor) {
  if (!known(factor) || factor <= 0) return '';
  if (factor < 1.01) return 'nothing would be won elsewhere';
  if (factor < 2) return `up to ${Math.round(100 * (factor - 1))} % more rows/s without this limit`;
  return `up to ${digits(Math.min(factor, 100))} × the rows/s without this limit`;
}
