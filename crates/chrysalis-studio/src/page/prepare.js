// Values that are rounded, shortened or replaced before anything else, and the owner's key, which some of that needs.

import { el, fill } from './dom.js';
import { choices, having, isKeyed, steps } from './draft.js';
import { listed } from './words.js';

/** What can be done with which kinds of values: its name in the recipe, the words, and an argument with its usual value. */
const STEPS = [
  ['round', 'rounded to multiples of', ['integer', 'real'], '10'],
  ['top', 'not above', ['integer', 'real'], ''],
  ['bottom', 'not below', ['integer', 'real'], ''],
  ['date:year', 'only the year', ['date', 'datetime'], null],
  ['date:quarter', 'only year and quarter', ['date', 'datetime'], null],
  ['date:month', 'only year and month', ['date', 'datetime'], null],
  ['date:week', 'only year and week', ['date', 'datetime'], null],
  ['shift', 'moved, for each person by another number of days', ['date', 'datetime'], null],
  ['prefix', 'only the first letters, how many:', ['category'], '3'],
  ['pseudonym', 'replaced by pseudonyms', ['category', 'integer'], null],
];

let changed;
let key;

export function show(then) {
  changed = then;
  const place = document.getElementById('prepare');
  const columns = choices.table.columns.filter(({ name }) => ['quasi', 'sensitive', 'other', 'weight'].includes(choices.roles.get(name)));
  if (columns.length === 0) { fill(place); return; }
  const wasOpen = place.querySelector('details')?.open;
  key = el('div', {});
  const node = el('details', { open: wasOpen || choices.steps.size > 0 }, el('summary', {}, 'Round, shorten or replace values first'),
    el('p', { class: 'small soft' }, 'Everything that follows sees the values as they are then. How exposed people are is always shown for the table as it is.'),
    el('div', { class: 'pairs' }, columns.map(column)), key);
  fill(place, node);
  ask();
}

function column({ name, kind, range }) {
  const now = steps(name);
  const [first] = now;
  const known = STEPS.filter(([, , kinds]) => kinds.includes(kind));
  const found = first === undefined ? null : STEPS.find(([step]) => first === step || first.startsWith(`${step}:`));
  const isListed = now.length === 1 && found && known.includes(found);
  const id = `prepare-${name.replace(/[^a-z0-9]+/gi, '-')}`;
  const options = [['', 'as they are'], ...known.map(([step, words]) => [step, words])];
  if (now.length && !isListed) options.push(['kept', `as the recipe says: ${now.join(', ')}`]);
  const select = el('select', { id }, options.map(([step, words]) => el('option', { value: step, selected: step === (isListed ? found[0] : now.length ? 'kept' : '') }, words)));
  const number = el('input', { type: 'number', step: 'any', size: 8, 'aria-label': `the number for ${name}`, hidden: true });
  const usual = (step) => ({ top: range?.[1], bottom: range?.[0] })[step] ?? STEPS.find(([known_]) => known_ === step)?.[3];
  const shown = () => { number.hidden = [null, undefined].includes(STEPS.find(([step]) => step === select.value)?.[3]); };
  if (isListed && found[3] !== null) number.value = first.slice(found[0].length + 1);
  const set = () => {
    if (select.value === 'kept') choices.steps.set(name, now);
    else if (select.value === '') choices.steps.delete(name);
    else choices.steps.set(name, [number.hidden ? select.value : `${select.value}:${number.value}`]);
    ask();
    changed(name);
  };
  select.addEventListener('change', () => { shown(); if (!number.hidden) number.value = usual(select.value); set(); });
  number.addEventListener('change', () => { if (number.value === '') number.value = usual(select.value); set(); });
  shown();
  return [el('label', { for: id }, name), el('span', {}, select, ' ', number)];
}

/** The place of the owner's key, where one is needed. */
function ask() {
  const names = having('quasi').concat(having('sensitive'), having('other')).filter((name) => isKeyed(steps(name)));
  if (names.length === 0) { fill(key); return; }
  if (key.querySelector('input')) return;
  const input = el('input', { type: 'text', id: 'key', size: 28, value: choices.key, 'aria-describedby': 'key-help' });
  input.addEventListener('change', () => { choices.key = input.value.trim(); changed(null); });
  fill(key, el('p', {}, el('label', { for: 'key' }, `The file with your key, for ${listed(names)}: `), input),
    el('p', { class: 'small soft', id: 'key-help' }, 'It is made when you publish, if it is not there, and only you can read it. Whoever has it can undo pseudonyms and moved dates; with the same key they are the same next time. It is never part of a release.'));
}
