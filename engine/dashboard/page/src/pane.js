// One run on the page: its sections, and what stands in them.
import {Charts} from './charts.js';
import {el, put} from './dom.js';
import * as format from './format.js';
import * as sections from './sections.js';

const PARTS = [
  ['history', 'History'], ['stages', 'Stages'], ['memory', 'Memory'], ['tuner', 'Tuner'], ['nodes', 'Nodes'],
  ['training', 'Training'], ['warnings', 'Warnings'],
];
const SPANS = [['5 min', 300], ['15 min', 900], ['1 hour', 3600]];

/** A run's sections below `place`; ids get `suffix`, so that a second run has its own. */
export class Pane {
  constructor(place, suffix = '') {
    this.suffix = suffix;
    this.state = el('span', {class: 'state', role: 'status'});
    this.title = el('span', {class: 'job'});
    this.when = el('span', {class: 'when'});
    this.verdict = el('div', {class: 'body', 'aria-live': 'polite'});
    this.tiles = el('dl', {class: 'tiles'});
    this.failure = el('p', {class: 'failure', role: 'alert', hidden: true});
    place.append(
      el('p', {class: 'run'}, this.title, this.state, this.when), this.failure,
      el('section', {id: 'verdict' + suffix, 'aria-labelledby': 'verdict-name' + suffix},
        el('h2', {id: 'verdict-name' + suffix}, 'Verdict'), this.verdict),
      this.tiles);
    this.bodies = {};
    for (const [id, name] of PARTS) {
      this.bodies[id] = el('div', {class: 'body'});
      place.append(el('section', {id: id + suffix, 'aria-labelledby': `${id}-name${suffix}`},
        el('h2', {id: `${id}-name${suffix}`}, name), this.bodies[id]));
    }
    this.span = 3600;
    this.spans = el('div', {class: 'spans', role: 'group', 'aria-label': 'Time shown'});
    this.figures = el('div', {class: 'charts'});
    this.bodies.history.append(this.spans, this.figures);
    this.charts = new Charts(this.figures, 'time' + suffix);
    this.samples = [];
  }

  /** Offers shorter times than all that is known; for a live run. */
  offerSpans() {
    this.buttons = SPANS.map(([name, seconds]) => {
      const button = el('button', {type: 'button', 'aria-pressed': String(seconds === this.span)}, name);
      button.addEventListener('click', () => {
        this.span = seconds;
        this.buttons.forEach((each) => each.setAttribute('aria-pressed', String(each === button)));
        this.showHistory(this.samples);
      });
      return button;
    });
    this.spans.replaceChildren(...this.buttons);
  }

  showTitle(command, job, when) {
    put(this.title, el('b', {}, command ?? ''), job ? ' ' + job : '');
    put(this.when, when);
  }

  /** `kind` is a class: running, done, stopped, failed, lost. */
  showState(text, kind, failure = '') {
    this.state.className = 'state ' + kind;
    if (this.state.textContent !== text) this.state.textContent = text;
    this.failure.hidden = !failure;
    if (this.failure.textContent !== failure) this.failure.textContent = failure;
  }

  showVerdict(verdict, waiting) {
    put(this.verdict, ...sections.verdict(verdict, waiting));
  }

  showStatus(status, before, events) {
    put(this.tiles, ...sections.tiles(status, before));
    put(this.bodies.stages, ...sections.stages(status, before));
    put(this.bodies.memory, ...sections.memory(status));
    put(this.bodies.nodes, ...sections.nodes(status, events));
    put(this.bodies.training, ...sections.training(status));
  }

  showEvents(events) {
    put(this.bodies.tuner, ...sections.tuner(events));
    put(this.bodies.warnings, ...sections.warnings(events));
  }

  showHistory(samples) {
    this.samples = samples;
    const since = samples.length ? samples[samples.length - 1].time - this.span : 0;
    this.charts.show(samples.filter((sample) => sample.time >= since));
  }

  /** Shows a finished run. */
  showRecord(record) {
    const ended = record.ended || record.history[record.history.length - 1]?.time;
    this.span = Infinity;
    this.showTitle(record.command, record.job, `${format.date(record.began)} to ${format.date(ended)}, ` +
      format.duration(record.status.seconds));
    const how = record.how || 'unknown';
    this.showState({done: 'done', stopped: 'stopped', failed: 'failed', refused: 'refused'}[how] ?? 'no end recorded', how,
      record.error || (how === 'unknown' ? 'The run was killed, or runs still: its record ends without a result.' : ''));
    this.showVerdict(record.verdict ?? record.status.verdict, 'The run was too short for a verdict.');
    const status = {...record.status, learning: record.learning};
    this.showStatus(status, undefined, record.events);
    this.showEvents(record.events);
    this.showHistory(record.history);
  }
}
