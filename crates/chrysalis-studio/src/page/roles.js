// Step: what each column is, and how exposed people are through what others may know.

import { post } from './api.js';
import { body, el, fill, notice, picture, table, tell, trouble } from './dom.js';
import { ROLES, assign, choices, countsRows, having, severalRows } from './draft.js';
import { count, counted, named, percent } from './words.js';

let exposure;
let asked = 0;
let again;

export function show(changed) {
  again = changed;
  const rows = choices.table.columns.map((column) => {
    const select = el('select', { 'aria-label': `What ${column.name} is` },
      ROLES.map(([role, words]) => el('option', { value: role, selected: role === choices.roles.get(column.name) }, words)));
    select.addEventListener('change', () => {
      assign(column.name, select.value);
      same();
      changed();
    });
    return [column.name, select, looks(column), why(column)];
  });
  exposure = el('div', { class: 'exposure' });
  const columns = [{ title: 'column' }, { title: 'what it is' }, { title: 'its values' }, { title: 'why this was proposed' }];
  fill(body('roles'),
    el('p', {}, 'What somebody may know about a person makes the person easy to find. What is secret is what they must not learn. Check what was proposed for each column.'),
    el('div', { class: 'several' }), exposure, table('Columns and their roles', columns, rows, true), el('div', { id: 'prepare' }), el('div', { id: 'groups' }));
}

/** The lists show the roles that columns have now. */
function same() {
  for (const [name, role] of choices.roles) document.querySelector(`#roles select[aria-label="${CSS.escape(`What ${name} is`)}"]`).value = role;
}

/** Where people have several rows and nobody said so, every promise is one about rows. Said wherever `.several` stands. */
export function warn() {
  const found = severalRows();
  for (const place of document.querySelectorAll('.several')) {
    fill(place, found ? notice('bad', `${found.rows ? counted(found.rows, 'row') : 'Some rows'} belong to people with several rows.`,
      el('p', {}, `The column “${found.name}” seems to number people. As it is now, promises count rows: somebody with several rows may be a crowd of one.`),
      el('div', { class: 'row' }, el('button', { type: 'button', class: 'protect', onclick: () => protect(found.name, place) }, 'Protect people, not rows'))) : null);
  }
}

function protect(name, place) {
  assign(name, 'person');
  same();
  again();
  const step = place.closest('section');
  (step.id === 'publish' ? document.getElementById('go') : step.querySelector(`select[aria-label="${CSS.escape(`What ${name} is`)}"]`)).focus();
  tell(`Promises are about the people that “${name}” numbers.`);
}

/** The reason for a guess, and what is to be done where it was not followed. */
function why({ name, guess, reason }) {
  const isLeftOut = choices.roles.get(name) === 'none';
  if (isLeftOut && guess === 'sensitive') return `${reason}; make it secret to protect it as well`;
  if (isLeftOut && guess === 'quasi') return `${reason}; change it if others may know it`;
  if (isLeftOut && guess === 'none') return `${reason}: better not published`;
  return reason;
}

function looks({ kind, distinct, missing, range }) {
  const parts = [kind === 'category' ? counted(distinct, 'word') : `${counted(distinct, 'value')} (${kind})`];
  if (range) parts.push(`${range[0]} to ${range[1]}`);
  if (missing) parts.push(`${counted(missing, 'row')} without a value`);
  return parts.join(', ');
}

/** Draws again how exposed people are. */
export async function draw() {
  const known = having('quasi');
  const own = ++asked;
  exposure.classList.add('stale');
  try {
    const found = await post(`tables/${choices.table.table}/exposure`, { columns: known });
    if (own !== asked) return;
    exposure.classList.remove('stale');
    const words = known.length ? named(known) : 'nothing';
    // Of people with several rows, none may be alone though all their rows are.
    const whom = countsRows() ? counted(found.rows, 'row') : counted(found.rows, 'person').replace('persons', 'people');
    const alone = `${count(found.unique_rows)} of ${whom} (${percent(found.unique_rows / found.rows)})`;
    fill(exposure, el('div', { class: 'columns' },
      el('div', {},
        el('h3', {}, 'Exposure today'),
        el('p', { class: 'sentence' }, el('strong', { id: 'unique' }, alone), ' stand alone.'),
        el('p', {}, `Whoever knows ${words} of somebody in this table finds the right row in ${percent(found.found)} of all cases.`),
        el('p', { class: 'soft small' }, 'This is the table as it is, before anything is done to protect it.')),
      picture(found.chart)));
    tell(`${alone} stand alone.`);
  } catch (error) {
    if (own !== asked) return;
    exposure.classList.remove('stale');
    fill(exposure, trouble(error));
  }
}
