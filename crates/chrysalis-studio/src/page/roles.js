// Step: what each column is, and how exposed people are through what others may know.

import { post } from './api.js';
import { body, el, fill, picture, table, tell, trouble } from './dom.js';
import { ROLES, choices, having } from './draft.js';
import { count, counted, listed, percent } from './words.js';

let exposure;
let asked = 0;

export function show(changed) {
  const rows = choices.table.columns.map((column) => {
    const select = el('select', { 'aria-label': `What ${column.name} is` },
      ROLES.map(([role, words]) => el('option', { value: role, selected: role === choices.roles.get(column.name) }, words)));
    select.addEventListener('change', () => {
      // Only one column numbers people, and only one weighs rows.
      for (const [role, other] of [['person', 'identifier'], ['weight', 'none']]) if (select.value === role) having(role).forEach((name) => give(name, other));
      choices.roles.set(column.name, select.value);
      changed();
    });
    return [column.name, select, looks(column), why(column)];
  });
  exposure = el('div', { class: 'exposure' });
  const columns = [{ title: 'column' }, { title: 'what it is' }, { title: 'its values' }, { title: 'why this was proposed' }];
  fill(body('roles'),
    el('p', {}, 'What somebody may know about a person makes the person easy to find. What is secret is what they must not learn. Check what was proposed for each column.'),
    exposure, table('Columns and their roles', columns, rows, true), el('div', { id: 'prepare' }), el('div', { id: 'groups' }));
}

/** Another column has its role now. */
function give(name, role) {
  choices.roles.set(name, role);
  document.querySelector(`#roles select[aria-label="${CSS.escape(`What ${name} is`)}"]`).value = role;
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
    const words = known.length ? listed(known) : 'nothing';
    const alone = `${count(found.unique_rows)} of ${counted(found.rows, 'person').replace('persons', 'people')} (${percent(found.unique_rows / found.rows)})`;
    fill(exposure, el('div', { class: 'columns' },
      el('div', {},
        el('h3', {}, 'Exposure today'),
        el('p', { class: 'sentence' }, el('strong', { id: 'unique' }, alone), ' stand alone.'),
        el('p', {}, `Whoever knows ${words} of somebody in this table finds the right row in ${percent(found.found)} of all cases.`),
        el('p', { class: 'soft small' }, 'This is the table as it is, before anything is done to protect it.')),
      picture(found.chart)));
    tell(`${alone} stand alone.`);
  } catch (error) {
    if (own === asked) fill(exposure, trouble(error));
  }
}
