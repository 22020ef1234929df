// Step: questions to the release, in SQL, with bounds that are certain to hold.

import { post } from './api.js';
import { body, copier, el, fill, picture, table, tell, trouble } from './dom.js';
import { completing } from './complete.js';
import { choices } from './draft.js';
import { counted, shown } from './words.js';

const FUNCTIONS = [
  ['COUNT', 'how many', 'COUNT(*)'], ['SUM', 'the total', 'SUM('], ['AVG', 'the mean', 'AVG('], ['MIN', 'the smallest', 'MIN('], ['MAX', 'the largest', 'MAX('],
  ['MEDIAN', 'the middle', 'MEDIAN('], ['STDDEV', 'the spread', 'STDDEV('], ['VARIANCE', 'the spread, squared', 'VARIANCE('],
  ['SELECT', 'word', 'SELECT '], ['FROM', 'word', 'FROM microdata'], ['WHERE', 'word', 'WHERE '], ['GROUP', 'word', 'GROUP BY '], ['ORDER', 'word', 'ORDER BY '],
  ['BETWEEN', 'word', 'BETWEEN '], ['microdata', 'the table', 'microdata'],
];

let made;
let box;
let answer;

export function show(release) {
  made = release;
  asked += 1;
  const columns = made.about.columns;
  box = el('textarea', { id: 'sql', rows: 3, spellcheck: 'false', autocomplete: 'off', 'aria-describedby': 'sql-help' });
  box.value = templates()[0][1];
  box.addEventListener('keydown', (event) => { if (event.key === 'Enter' && event.ctrlKey) ask(); });
  const words = [...columns.map(({ name, role }) => ({ text: name, about: role === 'sensitive' ? 'secret' : role === 'quasi' ? 'known' : 'kept', insert: quoted(name) })),
    ...FUNCTIONS.map(([text, about, insert]) => ({ text, about, insert }))];
  answer = el('div', { 'aria-live': 'polite' });
  fill(body('questions'), el('div', { class: 'aged' }),
    el('p', {}, 'The release answers from what was published alone. Every number comes with bounds between which the truth lies for certain.'),
    el('div', { class: 'row' }, templates().map(([title, sql]) => el('button', { type: 'button', class: 'small', onclick: () => { box.value = sql; ask(); } }, title))),
    el('label', { for: 'sql' }, 'A question in SQL'), completing(box, words),
    el('p', { class: 'soft small', id: 'sql-help' }, `Columns: ${columns.map(({ name }) => name).join(', ')}. Ctrl+Enter asks.`),
    el('div', { class: 'row' }, el('button', { type: 'button', class: 'main', id: 'ask', onclick: ask }, 'Ask')), answer);
}

/** A column as SQL writes it. */
function quoted(name) {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}

/** Questions to begin with, made from the columns that there are. */
function templates() {
  const { columns } = made.about;
  const quasi = columns.filter(({ role }) => role === 'quasi');
  const secret = columns.filter(({ role }) => role === 'sensitive');
  const isNumber = ({ kind }) => ['integer', 'real'].includes(kind);
  // Every day a row of its own would be no answer.
  const distinct = ({ name }) => choices.table.columns.find((column) => column.name === name)?.distinct ?? Infinity;
  const words = quasi.filter(({ kind }) => ['category', 'ordinal'].includes(kind));
  const word = words.find((column) => distinct(column) <= 30) || words[0];
  const found = [];
  const by = word || quasi.find(isNumber) || quasi[0];
  if (by) found.push([`How many by ${by.name}`, `SELECT ${quoted(by.name)}, COUNT(*) FROM microdata GROUP BY ${quoted(by.name)}`]);
  const number = secret.find(isNumber) || quasi.find(isNumber);
  if (number && by && number !== by) found.push([`Mean ${number.name} by ${by.name}`, `SELECT ${quoted(by.name)}, AVG(${quoted(number.name)}) FROM microdata GROUP BY ${quoted(by.name)}`]);
  const private_ = secret.find((column) => !isNumber(column));
  if (private_) found.push([`How many by ${private_.name}`, `SELECT ${quoted(private_.name)}, COUNT(*) FROM microdata GROUP BY ${quoted(private_.name)}`]);
  found.push(['How many', 'SELECT COUNT(*) FROM microdata']);
  return found;
}

/** Counts questions: the answer to an older one is not drawn. */
let asked = 0;

async function ask() {
  asked += 1;
  const own = asked;
  answer.classList.add('stale');
  try {
    const told = await post(`releases/${made.release}/ask`, { sql: box.value });
    if (own !== asked) return;
    draw(told);
    tell(`The answer has ${counted(told.rows.length, 'row')}.`);
  } catch (error) {
    if (own !== asked) return;
    fill(answer, trouble(error));
  }
  answer.classList.remove('stale');
}

function draw(told) {
  const names = told.rows[0]?.aggregates.map(({ name }) => name) || [];
  const columns = [...told.keys.map((title) => ({ title })), ...names.flatMap((name) => [{ title: name, number: true }, { title: 'at least', number: true }, { title: 'at most', number: true }, { title: 'std. error', number: true }])];
  const row = (one) => [...told.keys.map((key) => one.group[key] ?? 'missing'), ...one.aggregates.flatMap((found) => [found.estimate, found.lower, found.upper, found.std_error].map(shown))];
  const rows = told.rows.map((one) => row(one).map(String));
  fill(answer,
    (told.notes || []).map((note) => el('p', { class: 'soft' }, note)),
    columns.length ? table('The answer', columns, rows) : el('p', {}, 'The answer has no row.'), picture(told.chart),
    el('details', {}, el('summary', {}, 'Where these numbers come from'), el('ul', {}, told.explanation.map((text) => el('li', {}, text)))),
    rewritten(told.rewritten));
}

/** The same question for a database that holds the release's tables. */
function rewritten(statements) {
  const dialects = Object.keys(statements);
  if (dialects.length === 0) return null;
  const text = el('pre', { class: 'long', tabindex: '0' });
  const select = el('select', { id: 'dialect' }, dialects.map((name) => el('option', { value: name }, name)));
  const choose = () => { text.textContent = statements[select.value]; };
  select.addEventListener('change', choose);
  choose();
  return el('details', {}, el('summary', {}, 'The same question for a database'),
    el('div', { class: 'row' }, el('label', { for: 'dialect' }, 'Database: '), select, copier(() => text.textContent, 'the statement')), text);
}
