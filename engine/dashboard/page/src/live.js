// A running job: asks its server once a second and listens to its events.
import * as format from './format.js';
import {joined} from './run_data.js';

const PERIOD = 1000;
const AFTER_A_FAILURE = 3000;
const KINDS = ['decision', 'node', 'warning', 'end'];
const MOST_EVENTS = 1000;

export class Live {
  constructor(pane) {
    this.pane = pane;
    this.statuses = [];
    this.samples = [];
    this.events = [];
    pane.offerSpans();
    pane.showState('connecting', 'lost');
    pane.showVerdict(undefined, 'The first verdict comes some seconds after the start.');
    this.listen();
    this.tick();
    document.addEventListener('visibilitychange', () => document.hidden || this.wake?.());
  }

  listen() {
    const source = new EventSource('api/events');
    for (const kind of KINDS) {
      source.addEventListener(kind, (message) => {
        const number = Number(message.lastEventId);
        if (this.events.some((each) => each.number === number)) return;
        this.events.push({number, event: kind, data: JSON.parse(message.data)});
        if (this.events.length > MOST_EVENTS) this.events.shift();
        if (kind === 'end') {
          this.end = this.events[this.events.length - 1].data;
          source.close();
        }
        this.stale = true;
      });
    }
    // A browser gives up after a refusal, such as too many viewers.
    source.addEventListener('error', () => {
      if (source.readyState === EventSource.CLOSED && !this.end) setTimeout(() => this.listen(), AFTER_A_FAILURE);
    });
  }

  async tick() {
    let pause = PERIOD;
    try {
      if (!document.hidden) await this.ask();
    } catch (error) {
      pause = AFTER_A_FAILURE;
      if (!this.end) {
        this.pane.showState('no connection', 'lost', 'The run does not answer; it may have ended. Asking again every 3 s.');
      }
    }
    this.showEvents();
    if (this.end) return this.showEnd();
    await new Promise((resolve) => {
      this.wake = resolve;
      setTimeout(resolve, pause);
    });
    this.tick();
  }

  async ask() {
    const get = async (path) => {
      const answer = await fetch(path, {cache: 'no-store'});
      if (!answer.ok) throw new Error(await answer.text());
      return answer.json();
    };
    // A difference of this browser's own clock, which need not be the server's.
    const asked = Date.now();
    const since = this.asked === undefined ? 3600 : Math.max(0, Math.ceil((asked - this.asked) / 1000));
    const missing = Math.min(3600, since + 3);
    const [status, more] = await Promise.all([get('api/status'), get('api/history?seconds=' + missing)]);
    this.asked = asked;
    this.samples = joined(this.samples, more);
    this.show(status);
  }

  show(status) {
    this.status = status;
    this.pane.showTitle(status.command, undefined,
      status.seconds === undefined ? '' : 'for ' + format.duration(Math.round(status.seconds)));
    if (status.state === 'starting') return this.pane.showState('starting', 'running');
    this.pane.showState('running', 'running');
    // Rates are of two seconds or more: a single one may fall between two batches.
    this.statuses.push(status);
    while (this.statuses.length > 2 && status.seconds - this.statuses[1].seconds >= 2) this.statuses.shift();
    const before = this.statuses[0] === status ? undefined : this.statuses[0];
    this.pane.showVerdict(status.verdict, 'The first verdict comes some seconds after the start.');
    this.pane.showStatus(status, before, this.events);
    this.pane.showHistory(this.samples);
  }

  showEvents() {
    if (this.stale === false) return;
    this.stale = false;
    this.pane.showEvents(this.events);
  }

  showEnd() {
    const {how, error, time} = this.end;
    this.pane.showState(how, how, error);
    this.pane.showTitle(this.status?.command, undefined, `ended at ${format.clock(time)}`);
  }
}
