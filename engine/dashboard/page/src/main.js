import {el} from './dom.js';
import {Live} from './live.js';
import {Pane} from './pane.js';
import {comparison} from './sections.js';

const main = document.querySelector('main');
const inside = document.getElementById('records').textContent;

function showRecords(records) {
  document.title = records.map((record) => record.job).join(' and ') + ' – Forebay report';
  if (records.length === 2) {
    main.append(el('section', {id: 'comparison', 'aria-labelledby': 'comparison-name'},
      el('h2', {id: 'comparison-name'}, 'Two runs in figures'), comparison(records)));
    main.classList.add('two');
  }
  records.forEach((record, i) => {
    const place = el('div', {class: 'pane'});
    main.append(place);
    new Pane(place, i === 0 ? '' : '-' + (i + 1)).showRecord(record);
  });
}

if (inside) {
  showRecords(JSON.parse(inside));
} else {
  const place = el('div', {class: 'pane'});
  main.append(place);
  new Live(new Pane(place));
}
