// Step: the promise, as sliders and as a sentence.

import { post, put } from './api.js';
import { body, el, fill, sentence, tell, trouble } from './dom.js';
import { asked as request, choices, having, requirements, require, sayings, severalRows, showsExactly } from './draft.js';
import { count, named, parsed, promised, shown, worded } from './words.js';

const SIZES = [2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100, 200];
const KINDS = {
  l: { words: 'Nobody’s value is surer than 1 in …', steps: [2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20], said: (value) => `1 in ${shown(value)}`, usual: 2 },
  beta: { words: 'No value gets much likelier', steps: [0.25, 0.5, 1, 1.5, 2, 3, 4], said: (value) => `at most ${shown(1 + value)} times as likely`, usual: 1 },
  t: { words: 'Groups look like the whole table', steps: [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5], said: (value) => `at most ${shown(value)} away (0 is the same, 1 is nothing alike)`, usual: 0.3 },
};

let line;
let refusal;
let places;
let crowd;
let crowdPlace;
let peoplePlace;
let again;
let asked = 0;

/** Of people with several rows, a release does not show what these principles are about: nobody could check them. */
const UNCHECKED = ['beta', 't'];

function isChecked(kind) {
  return having('person').length === 0 || !UNCHECKED.includes(kind);
}

export function show(changed) {
  again = changed;
  const secret = having('sensitive');
  line = el('p', { class: 'sentence', id: 'promised', tabindex: '-1' });
  refusal = el('div', { role: 'alert' });
  places = new Map();
  fill(body('promise'), line, refusal,
    el('div', { class: 'columns' }, group(), secret.map(column)),
    choices.also.length ? also() : null, people());
  say();
}

/** Another table, with the people who could be in this one. */
function people() {
  const known = choices.people;
  const input = el('input', { type: 'file', id: 'people', accept: '.csv,.tsv,.txt,.gz,.zst,.parquet' });
  const said = el('div', {});
  peoplePlace = el('div', {});
  input.addEventListener('change', async () => {
    const [file] = input.files;
    if (!file) return;
    const { table } = choices;
    fill(said, el('p', {}, `Receiving ${file.name} …`));
    try {
      const found = await put(`populations/${encodeURIComponent(file.name)}`, file);
      // Another table may have been opened since.
      if (choices.table !== table) return;
      choices.people = found;
      choices.kMap = Math.max(choices.kMap, 5);
      show(again);
      again();
      document.querySelector('#people-step summary').focus();
    } catch (error) {
      // The same file can be chosen again.
      input.value = '';
      fill(said, trouble(error));
      tell(error.message);
    }
  });
  const words = (k) => (k < 2 ? 'not promised' : `at least ${count(k)}`);
  const forget = () => { Object.assign(choices, { people: null, kMap: 0 }); show(again); again(); };
  return el('details', { id: 'people-step', open: known !== null }, el('summary', {}, 'Compare with everybody who could be in the table'),
    el('p', { class: 'small soft' }, 'With a second table, such as a register of residents that has the same known columns, a promise can be about them: so many of them fit what is shown of every group.'),
    known ? el('p', {}, el('strong', {}, known.name), ' ', el('button', { type: 'button', class: 'small', onclick: forget }, 'Leave it out')) : null,
    known ? slider('People of that table who fit', choices.kMap < 2 ? [1, ...SIZES] : SIZES, choices.kMap, words, (value) => { choices.kMap = value; }) : null, peoplePlace,
    el('p', {}, el('label', { for: 'people' }, known ? 'Another one: ' : 'The second table: '), input), said);
}

/** Other principles of a recipe, which have no slider. */
function also() {
  const each = choices.also.map((text) => el('li', {}, el('code', {}, text), ' ',
    el('button', { type: 'button', class: 'small', onclick: () => { choices.also = choices.also.filter((other) => other !== text); show(again); again(); } }, 'Leave out')));
  return el('div', {}, el('h3', {}, 'Also promised'), el('ul', {}, each));
}

/** A slider over steps. A change is told when the slider rests. */
function slider(label, steps, value, said, set, id = `slider-${label.replace(/[^a-z0-9]+/gi, '-')}`) {
  const all = steps.includes(value) ? steps : [...steps, value].sort((a, b) => a - b);
  const input = el('input', { type: 'range', id, min: 0, max: all.length - 1, step: 1, value: all.indexOf(value) });
  const output = el('output', { for: id }, said(value));
  input.setAttribute('aria-valuetext', said(value));
  let resting;
  input.addEventListener('input', () => {
    const now = all[Number(input.value)];
    output.textContent = said(now);
    input.setAttribute('aria-valuetext', said(now));
    set(now);
    say();
    clearTimeout(resting);
    resting = setTimeout(again, 200);
  });
  return el('div', {}, el('label', { for: id }, label, ': ', el('strong', {}, output)), input);
}

function group() {
  const words = (k) => (k < 2 ? 'not promised' : `at least ${count(k)}`);
  crowd = { title: el('span', {}), about: el('p', { class: 'soft small' }) };
  crowdPlace = el('div', {});
  return el('fieldset', {}, el('legend', {}, 'Groups'),
    slider(crowd.title, choices.k < 2 ? [1, ...SIZES] : SIZES, choices.k, words, (value) => { choices.k = value; }, 'slider-k'),
    crowd.about, crowdPlace);
}

/** What groups do depends on how they are shown. */
function explainGroups() {
  const whom = severalRows() ? ['Rows', 'row'] : ['People', 'person'];
  crowd.title.textContent = showsExactly() ? `${whom[0]} of a group` : `${whom[0]} who look alike`.replace('Rows who', 'Rows that');
  crowd.about.textContent = showsExactly()
    ? `Every ${whom[1]} is in a group of at least so many. The way of publishing that is chosen below shows the known columns as they are: whoever knows them finds the right row. What is secret is shown for the group.`
    : `Every ${whom[1]} is published in a group of at least so many.`;
}

function column(name) {
  const said = sayings(name);
  if (!said.kind) Object.assign(said, { kind: 'l', value: KINDS.l.usual });
  const id = `kind-${name.replace(/[^a-z0-9]+/gi, '-')}`;
  const offered = Object.entries(KINDS).filter(([kind]) => isChecked(kind) || kind === said.kind);
  const select = el('select', { id }, [...offered.map(([kind, { words }]) => [kind, words]), ['nothing', 'nothing about its values']]
    .map(([kind, words]) => el('option', { value: kind, selected: kind === said.kind }, words)));
  select.addEventListener('change', () => {
    Object.assign(said, { kind: select.value, value: KINDS[select.value]?.usual ?? 0 });
    show(again);
    document.getElementById(id).focus();
    again();
  });
  const chosen = KINDS[said.kind];
  const place = el('div', {});
  places.set(name, place);
  return el('fieldset', {}, el('legend', {}, name),
    el('p', {}, el('label', { for: id }, 'What is promised: '), select),
    chosen ? slider(`How sure anybody can be of ${name}`, chosen.steps, said.value, chosen.said, (value) => { said.value = value; }) : null,
    isChecked(said.kind) ? null : el('p', { class: 'said bad' }, 'Where people have several rows, a release does not show enough for anybody to check this.'),
    isNumeric(name) ? apart(name, said) : null, place);
}

function isNumeric(name) {
  return ['integer', 'real'].includes(choices.table.columns.find((column) => column.name === name).kind);
}

/** Numbers that lie close together amount to one value. */
function apart(name, said) {
  const id = `apart-${name.replace(/[^a-z0-9]+/gi, '-')}`;
  const box = el('input', { type: 'checkbox', id, checked: said.apart !== null });
  const width = el('input', { type: 'number', min: 0, step: 'any', size: 8, value: said.apart ?? '', 'aria-label': `how far the numbers of ${name} lie apart` });
  const set = () => {
    const value = Number(width.value);
    said.apart = box.checked && value > 0 ? value : null;
    say();
    again();
  };
  box.addEventListener('change', () => { if (box.checked && !(Number(width.value) > 0)) width.value = usual(name); set(); });
  width.addEventListener('change', () => { box.checked = true; set(); });
  return el('p', {}, box, el('label', { for: id }, 'Numbers of a group lie at least so far apart: '), width);
}

function usual(name) {
  const { range } = choices.table.columns.find((column) => column.name === name);
  const width = range ? (Number(range[1]) - Number(range[0])) / 100 : 1;
  return Number(Math.max(width, 1).toPrecision(2));
}

/** The sentence, at once. */
function say() {
  const known = having('quasi');
  const secret = having('sensitive');
  explainGroups();
  fill(line, promised(requirements(), secret[0], { isExact: showsExactly(), isOfRows: severalRows() !== null, isKept: having('other').length > 0 }), known.length
    ? el('span', { class: 'soft small' }, `That is against whoever knows ${named(known)} of a person and finds the person’s group, and knows nothing else.`) : null);
}

function clear() {
  for (const place of [refusal, crowdPlace, peoplePlace, ...places.values()]) fill(place);
}

/** Where a requirement is set: at its slider. */
function placeOf(text) {
  const one = parsed(text, having('sensitive')[0]);
  if (one.name === 'k') return crowdPlace;
  if (['k-map', 'delta-presence'].includes(one.name) && choices.people) {
    peoplePlace.closest('details').open = true;
    return peoplePlace;
  }
  return places.get(one.column) || refusal;
}

/** Asks whether the table can keep it. What it cannot keep is explained where it is set. */
export async function check() {
  const own = ++asked;
  if (having('quasi').length === 0) {
    clear();
    fill(refusal, trouble({ message: 'no column is marked as known to others', remedy: 'mark at least one column as “others may know it”, such as age or sex' }));
    return false;
  }
  try {
    const found = await post(`tables/${choices.table.table}/check`, request());
    if (own !== asked) return false;
    clear();
    choices.methods = found.methods;
    Object.assign(choices, { used: found.method, usedPartitioner: found.partitioner });
    say();
    if (!found.refusal) return true;
    explain(found);
    return false;
  } catch (error) {
    if (own !== asked) return false;
    clear();
    explainAt(error);
    return false;
  }
}

/** The sentence of a promise that cannot be kept says so. */
function unkept() {
  if (!line.querySelector('.bad-word')) line.prepend(el('span', { class: 'bad-word' }, 'This table cannot keep it: '));
}

/** What cannot be kept is said at its slider, if it is known which one that is. Says whether it is. */
export function explainAt(error) {
  const [, refused] = /cannot reach (\S.*?=[\d.,]+): /.exec(error.message) || [];
  const place = refused ? placeOf(refused) : refusal;
  if (refused) unkept();
  fill(place, trouble(error, [...advised(error), ...(refused ? lowered(refused) : [])]));
  tell(error.message);
  return place !== refusal;
}

/** Buttons for what the studio advises. */
export function advised(error, then = again) {
  const only = having('sensitive')[0];
  const wanted = error.knobs.filter(({ knob, value }) => knob === 'require' && value && isChecked(parsed(value, only).name));
  return wanted.map(({ value }) => el('button', { type: 'button', onclick: () => { require(value); remedied(then); } }, `Promise this as well: ${promised([value], only)}`));
}

/** A remedy was taken: the sentence is another one, and has the focus. */
function remedied(then = again) {
  show(again);
  line.focus();
  then();
}

function explain(found) {
  const of = found.columns.find(({ column, most_l: most }) => {
    const said = sayings(column);
    return said.kind === 'l' && (most === null || said.value > most);
  });
  const [refused] = found.refused;
  const place = (of && places.get(of.column)) || (refused ? placeOf(refused) : refusal);
  const buttons = of ? [] : lowered(refused);
  if (of?.most_l) buttons.push(el('button', { type: 'button', onclick: () => { sayings(of.column).value = of.most_l; remedied(); } }, `Promise 1 in ${of.most_l}, the most this table can keep`));
  else if (of && isChecked('beta')) buttons.push(el('button', { type: 'button', onclick: () => { Object.assign(sayings(of.column), { kind: 'beta', value: 1 }); remedied(); } }, 'Promise that no value gets more than twice as likely'));
  else if (of) buttons.push(el('button', { type: 'button', onclick: () => { Object.assign(sayings(of.column), { kind: 'nothing', value: 0 }); remedied(); } }, `Promise nothing about the values of “${of.column}”`));
  const why = of ? `This table cannot keep that: a value of “${of.column}” is too frequent. ${sentence(found.refusal.message.replace(/^cannot reach \S.*?=[\d.,]+: /, ''))}` : found.refusal.message;
  unkept();
  fill(place, trouble({ message: why, remedy: buttons.length ? '' : found.refusal.remedy }, buttons));
  tell(worded(why));
}

/** A way out where numbers of a group cannot lie so far apart: without that. Numbers that are closer count as one value. */
function lowered(text) {
  const one = text && parsed(text, having('sensitive')[0]);
  if (!one?.column || !having('sensitive').includes(one.column) || sayings(one.column).apart === null) return [];
  return [el('button', { type: 'button', onclick: () => { sayings(one.column).apart = null; remedied(); } }, `Promise nothing about how far the numbers of “${one.column}” lie apart`)];
}
