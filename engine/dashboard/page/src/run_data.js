// What a pane shows: a run's status, its history and its events, live or of a record. Pure.

/** The share of `part` in a stage's time between two statuses. */
function shares(now, before) {
  const spent = (key) => (now[key] ?? 0) - (before?.[key] ?? 0);
  const busy = spent('busy_seconds');
  const input = spent('wait_input_seconds');
  const output = spent('wait_output_seconds');
  const all = busy + input + output;
  const share = (part) => (all > 0 ? Math.min(1, Math.max(0, part / all)) : 0);
  return {busy: share(busy), input: share(input), output: share(output),
          cpu: busy > 0 ? Math.min(1, spent('cpu_seconds') / busy) : 0};
}

/** A stage's activity between two statuses; without the earlier one since the run's start. */
export function stageActivity(now, before) {
  const seconds = now.seconds - (before?.seconds ?? 0);
  return (now.stages ?? []).map((stage, i) => {
    const then = before?.stages?.[i];
    const per = (key) => (seconds > 0 ? ((stage[key] ?? 0) - (then?.[key] ?? 0)) / seconds : 0);
    return {...stage, ...shares(stage, then), splitsPerSecond: per('splits'), bytesPerSecond: per('bytes')};
  });
}

/** Rates of the whole run between two statuses. */
export function runActivity(now, before) {
  const seconds = now.seconds - (before?.seconds ?? 0);
  const per = (key) => (seconds > 0 ? ((now[key] ?? 0) - (before?.[key] ?? 0)) / seconds : undefined);
  return {rowsPerSecond: per('rows'), starved: per('waited_seconds'), cpusBusy: per('cpu_seconds'),
          bytesPerSecond: per('bytes_read')};
}

/** The parts of the memory in use, in bytes, which add up to it; then what is free below the limit. */
export function memoryParts(status) {
  const used = status.memory_bytes ?? 0;
  const before = Math.min(used, status.memory_before_bytes ?? 0);
  const buffers = Math.min(used - before, status.buffer_bytes ?? 0);
  const ready = Math.min(buffers, status.prefetch_bytes ?? 0);
  const way = Math.min(buffers - ready, status.window_bytes ?? 0);
  const parts = [
    {name: 'program and model, before the start', bytes: before},
    {name: 'splits on their way', bytes: way, limit: status.window_capacity_bytes},
    {name: 'batches ready for the trainer', bytes: ready, limit: status.prefetch_capacity_bytes},
    {name: 'buffers kept for reuse', bytes: buffers - way - ready},
    {name: 'stacks, libraries, file pages', bytes: used - before - buffers},
  ];
  return {used, limit: status.memory_limit_bytes ?? 0, parts};
}

const METHODS = {rapl: 'counted by RAPL', estimate: 'estimated from CPU seconds', nvml: 'GPUs counted by NVML'};

/** The energy of a run: what it comes to a million rows, and how it is known; undefined if it is not. */
export function energyOf({energy, rows}) {
  if (!energy || energy.method === 'none' || !(rows > 0)) return undefined;
  const how = METHODS[energy.cpu_method ?? energy.method] + (energy.gpu_joules === undefined ? '' : ', ' + METHODS.nvml);
  const workers = energy.worker_method === undefined ? '' : METHODS[energy.worker_method];
  return {joules: energy.joules, perMillion: 1e6 * energy.joules / rows, how, workerJoules: energy.worker_joules, workers};
}

/** A model's tables with the rows that are nowhere yet, and a line of all of them together. */
export function tablesOf(learning) {
  const whole = (table) => ({...table, rows_new: Math.max(0, table.rows - table.rows_in_memory - table.rows_on_disk)});
  const tables = (learning?.tables ?? []).map(whole);
  const sum = {name: 'all tables', row_bytes: tables[0]?.row_bytes ?? 0};
  for (const key of ['rows', 'rows_in_memory', 'rows_on_disk', 'rows_new', 'lookups', 'lookups_found']) {
    sum[key] = tables.reduce((before, table) => before + table[key], 0);
  }
  return {tables, sum};
}

/** Decisions with the rate that was measured after each of them, which the next one reports. */
export function decisionsOf(events) {
  const all = events.filter((each) => each.event === 'decision').map((each) => ({...each.data}));
  all.forEach((decision, i) => {
    const next = all[i + 1];
    decision.measuredAfter = next && next.number === decision.number + 1 ? next.measured : undefined;
  });
  return all;
}

/** Adds later samples to earlier ones; those of the last `seconds` stay. */
export function joined(samples, more, seconds = 3600) {
  const last = samples.length ? samples[samples.length - 1].time : -Infinity;
  const all = samples.concat(more.filter((sample) => sample.time > last + 1e-3));
  const since = all.length ? all[all.length - 1].time - seconds : 0;
  const first = all.findIndex((sample) => sample.time >= since);
  return first > 0 ? all.slice(first) : all;
}
