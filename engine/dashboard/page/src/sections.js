// The sections of a run, each a function from data to elements.
import {bar, el, note, table} from './dom.js';
import * as format from './format.js';
import {decisionsOf, energyOf, memoryParts, runActivity, stageActivity, tablesOf} from './run_data.js';

const LIMITS = {
  trainer: 'Trainer-bound', cpus: 'CPU-bound', stage: 'Input-bound', input: 'Input-bound', batch: 'Input-bound',
  memory: 'Memory-bound', link: 'Link-bound', unknown: 'No limit stands out',
};
const MOST_ROWS = 100;
const UNBOUNDED = 2 ** 60; // bytes of a queue that has no limit of its own

/** The verdict: what limits the run, why, what its end would bring. */
export function verdict(verdict, waiting) {
  if (!verdict) return [note(waiting)];
  const sentence = verdict.sentence.charAt(0).toUpperCase() + verdict.sentence.slice(1) + '.';
  const won = format.gain(verdict.gain);
  return [
    el('p', {class: 'chip by-' + verdict.limit}, LIMITS[verdict.limit] ?? verdict.limit),
    el('p', {class: 'sentence'}, sentence),
    won ? note('Estimate: ' + won + '.') : '',
  ];
}

function tile(name, value, more) {
  return el('div', {class: 'tile'}, el('dt', {}, name), el('dd', {}, value, more ? el('small', {}, more) : ''));
}

function energyTile(energy) {
  if (!energy) return [];
  const workers = energy.workers && `; of it workers ${format.joules(energy.workerJoules)}, ${energy.workers}`;
  return [tile('Energy', format.joules(energy.perMillion),
    `per million rows; ${format.joules(energy.joules)} in all, ${energy.how}${workers}`)];
}

/** The figures of now, or of the whole run. */
export function tiles(status, before) {
  const now = runActivity(status, before);
  const learning = status.learning;
  const last = learning?.evaluations?.[learning.evaluations.length - 1];
  return [
    tile('Rows per second', format.rate(now.rowsPerSecond, 'rows/s'), format.count(status.rows) + ' rows in all'),
    tile('Trainer waits', format.percent(now.starved), 'of the time'),
    tile('Memory', format.bytes(status.memory_bytes), 'of ' + format.bytes(status.memory_limit_bytes)),
    tile('CPUs busy', format.rate(now.cpusBusy, '').trim(), 'of ' + format.count(status.cpus) + ' CPUs'),
    tile('Read', format.rate(now.bytesPerSecond / 1048576, 'MiB/s'),
      `${format.bytes(status.bytes_read)} in ${format.count(status.requests)} requests`),
    ...(learning?.loss === undefined ? [] : [
      tile('Loss', format.metric(learning.loss), `step ${format.count(learning.step)}`)]),
    ...(last ? [tile('AUC', format.metric(last.auc),
      `log loss ${format.metric(last.log_loss)}, after step ${format.count(last.step)}`)] : []),
    ...energyTile(energyOf(status)),
    tile('Damaged rows', format.count(status.bad_rows) + ' rows', `of ${format.count(status.bad_rows_allowed)} tolerated`),
  ];
}

/** Stages: actors, what they do, the bytes that wait before them against the credits. */
export function stages(status, before) {
  const rows = stageActivity(status, before).map((stage) => [
    stage.name, format.count(stage.actors),
    bar(`${stage.name} works ${format.percent(stage.busy)} of the time, waits for input ` +
      `${format.percent(stage.input)}, for output ${format.percent(stage.output)}`, [
      {share: stage.busy, kind: 'busy'}, {share: stage.output, kind: 'output'}, {share: stage.input, kind: 'input'}]),
    format.percent(stage.busy), format.percent(stage.input), format.percent(stage.output),
    format.percent(stage.cpu),
    `${format.splits(stage.queued_splits)}, ${format.bytes(stage.queued_bytes)}` +
      (stage.queue_capacity_bytes < UNBOUNDED ? ' of ' + format.bytes(stage.queue_capacity_bytes) : ''),
    format.rate(stage.splitsPerSecond, 'splits/s'), format.bytes(stage.bytesPerSecond) + '/s',
  ]);
  return [
    el('p', {class: 'key'}, el('i', {class: 'busy'}), 'works', el('i', {class: 'output'}), 'waits for output',
      el('i', {class: 'input'}), 'waits for input'),
    table('Stages of the pipeline', [['Stage', ''], ['Actors', 'n'], ['Activity', 'wide'], ['Works', 'n'],
      ['No input', 'n'], ['No room', 'n'], ['On a CPU', 'n'], ['Queue of its credits', 'n'], ['Splits', 'n'],
      ['Bytes', 'n']], rows),
  ];
}

/** Memory by kind, against the limit. */
export function memory(status) {
  const {used, limit, parts} = memoryParts(status);
  const free = Math.max(0, limit - used);
  const whole = Math.max(limit, used, 1);
  return [
    bar(`${format.bytes(used)} of ${format.bytes(limit)} in use`,
      parts.map((part, i) => ({share: part.bytes / whole, kind: 'm' + i}))),
    table('Memory by kind', [['Kind', ''], ['In use', 'n'], ['May take', 'n'], ['Share of the limit', 'n']], [
      ...parts.map((part, i) => [el('span', {}, el('i', {class: 'dot m' + i}), part.name), format.bytes(part.bytes),
        part.limit === undefined ? '' : format.bytes(part.limit), format.percent(part.bytes / whole)]),
      ['in use, of the limit', format.bytes(used), format.bytes(limit), format.percent(used / whole)],
      ['free below the limit', format.bytes(free), '', format.percent(free / whole)],
    ]),
  ];
}

/** The tuner's decisions, newest first. */
export function tuner(events) {
  const all = decisionsOf(events).reverse();
  if (!all.length) return [note('The tuner has decided nothing so far.')];
  const rows = all.slice(0, MOST_ROWS).map((each) => [
    '#' + each.number, format.clock(each.time), format.changes(each.what),
    format.changes([each.why, ...(each.guarded ?? []), each.fault].filter(Boolean).join('; ')) || '–',
    each.predicted > 0 ? format.rate(each.predicted, 'splits/s') : '–',
    each.measuredAfter === undefined ? '–' : format.rate(each.measuredAfter, 'splits/s')]);
  return [
    note(`${format.count(all.length)} decisions kept` + (all.length > rows.length ? `, the last ${rows.length} shown` : '') +
      '. Measured: in the period after the decision.'),
    table('Decisions of the tuner', [['No.', ''], ['Time', ''], ['What', 'text'], ['Why', 'text'], ['Predicted', 'n'],
      ['Measured', 'n']], rows),
  ];
}

/** Nodes of the cluster, their leases and links. */
export function nodes(status, events) {
  if (!status.nodes) return [note('This job runs on one machine; with cluster.listen others could join.')];
  const rows = status.nodes.map((node) => [
    node.name, node.host, node.trouble ? `${node.state}: ${node.trouble}` : node.state,
    `${format.count(node.leases)} of ${format.count(node.capacity)} splits`, format.rate(node.splits_per_second, 'splits/s'),
    node.could_make_per_second > 0 ? format.rate(node.could_make_per_second, 'splits/s') : '–',
    `${format.rate(node.busy_cpus, '').trim()} of ${format.count(node.cpus)} CPUs`,
    `${format.bytes(node.memory_bytes)} of ${format.bytes(node.memory_limit_bytes)}`,
    node.joules > 0 ? (node.joules_counted ? '' : '≈\u00a0') + format.joules(node.joules) : '–',
    format.duration(node.silent_seconds) + ' ago']);
  const changes = events.filter((each) => each.event === 'node').slice(-MOST_ROWS).reverse();
  return [
    note(`${format.count(status.splits_finished)} of ${format.count(status.splits)} splits done, ` +
      `${format.count(status.splits_leased)} leased, ${format.count(status.splits_waiting)} waiting, ` +
      `${format.count(status.splits_issued_again)} issued again. Energy with ≈ is estimated.`),
    ...(status.problems ?? []).map((problem) => el('p', {class: 'warning'}, problem)),
    table('Nodes of the cluster', [['Node', ''], ['Host', ''], ['State', 'text'], ['Leases', 'n'], ['Makes', 'n'],
      ['Could make', 'n'], ['CPUs', 'n'], ['Memory', 'n'], ['Energy', 'n'], ['Heard', 'n']],
    rows),
    changes.length ? el('details', {}, el('summary', {}, `${changes.length} changes`),
      el('ul', {class: 'log'}, ...changes.map(({data}) => el('li', {}, el('time', {}, format.clock(data.time)),
        `${data.node} ${data.change}` + (data.trouble ? `: ${data.trouble}` : ''))))) : '',
  ];
}

/** Rows of the model's tables by tier. */
function tiers(learning) {
  const {tables, sum} = tablesOf(learning);
  if (!tables.length) return [];
  const share = (part, all) => (all > 0 ? format.percent(part / all) : '–');
  const rows = [...(tables.length > 1 ? [sum] : []), ...tables].map((each) => [
    each.name, format.count(each.rows) + ' rows', format.bytes(each.rows * each.row_bytes),
    bar(`${each.name}: ${share(each.rows_in_memory, each.rows)} of the rows in memory, ` +
      `${share(each.rows_on_disk, each.rows)} on the disk, ${share(each.rows_new, each.rows)} not used yet`, [
      {share: each.rows_in_memory / each.rows, kind: 'm1'}, {share: each.rows_on_disk / each.rows, kind: 'm2'}]),
    format.count(each.rows_in_memory) + ' rows', format.count(each.rows_on_disk) + ' rows',
    format.count(each.rows_new) + ' rows', share(each.lookups_found, each.lookups)]);
  return [table('Tables by tier', [['Table', ''], ['Size', 'n'], ['Bytes', 'n'], ['Where', 'wide'], ['In memory', 'n'],
    ['On the disk', 'n'], ['Not used yet', 'n'], ['Lookups found in memory', 'n']], rows)];
}

/** What the model has learned, and where its tables lie. */
export function training(status) {
  const learning = status.learning;
  const tables = status.tables;
  if (!tables) return [note('Nobody trains in this run.')];
  const lines = [el('p', {}, tables.memory_bytes > 0
    ? `Tables lie in two tiers: ${format.bytes(tables.memory_bytes)} of memory, the rest on the disk.`
    : `Tables lie in memory (storage: ${tables.storage}).`)];
  if (learning?.lookups > 0) {
    lines.push(el('p', {}, `${format.percent(learning.lookups_ready / learning.lookups)} of ` +
      `${format.count(learning.lookups)} lookups were in memory in time.`));
  }
  lines.push(...tiers(learning));
  const found = (learning?.evaluations ?? []).slice().reverse();
  lines.push(found.length
    ? table('Evaluations', [['After step', 'n'], ['AUC', 'n'], ['Log loss', 'n']],
      found.map((each) => [format.count(each.step), format.metric(each.auc), format.metric(each.log_loss)]))
    : note('The model has not been evaluated so far.'));
  return lines;
}

/** Warnings, newest first. */
export function warnings(events) {
  const all = events.filter((each) => each.event === 'warning').slice(-MOST_ROWS).reverse();
  if (!all.length) return [note('None so far.')];
  return [el('ul', {class: 'log'}, ...all.map(({data}) =>
    el('li', {}, el('time', {}, format.clock(data.time)), data.text)))];
}

/** Two finished runs side by side in figures. */
export function comparison([one, other]) {
  const of = (record) => {
    const whole = runActivity(record.status);
    const last = record.learning?.evaluations?.[record.learning.evaluations.length - 1];
    const peak = Math.max(...record.history.map((sample) => sample.memory_bytes), 0);
    return {joules: energyOf(record.status)?.perMillion, rows: record.status.rows, seconds: record.status.seconds, rate: whole.rowsPerSecond, starved: whole.starved,
            cpus: whole.cpusBusy, peak, loss: record.learning?.loss, auc: last?.auc, bad: record.status.bad_rows};
  };
  const a = of(one), b = of(other);
  const row = (name, key, text) => [name, text(a[key]), text(b[key]),
    a[key] > 0 && b[key] > 0 ? `${(b[key] / a[key]).toFixed(2)} ×` : '–'];
  return table('Two runs in figures', [['Figure', ''], ['First run', 'n'], ['Second run', 'n'], ['Second to first', 'n']], [
    row('Rows per second', 'rate', (v) => format.rate(v, 'rows/s')), row('Trainer waits', 'starved', format.percent),
    row('Time', 'seconds', format.duration), row('Rows', 'rows', (v) => format.count(v) + ' rows'),
    row('CPUs busy', 'cpus', (v) => format.rate(v, 'CPUs')), row('Memory at most', 'peak', format.bytes),
    row('Energy per million rows', 'joules', format.joules), row('Loss', 'loss', format.metric), row('AUC', 'auc', format.metric),
    row('Damaged rows', 'bad', (v) => format.count(v) + ' rows')]);
}
