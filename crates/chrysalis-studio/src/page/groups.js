// Values that belong together (taxonomies): proposed, edited as a tree, kept with the recipe or saved as a file.

import { run } from './api.js';
import { el, fill, save, tell, trouble } from './dom.js';
import { asked, choices, having, looksAtGroups } from './draft.js';
import { tree } from './tree.js';
import { count, counted } from './words.js';

let changed;
let idle;
let editors = new Map();
let resting;

/** Another table is open. */
export function forget() {
  editors = new Map();
}

/** The values of a column are others now: its groups are compared with them again. */
export function again(name) {
  const editor = editors.get(name);
  if (!editor) return;
  editor.made = null;
  if (editor.isOpen) editor.redraw();
}

export function show(then) {
  changed = then;
  const place = document.getElementById('groups');
  const known = having('quasi');
  idle = el('div', {});
  if (known.length === 0) { fill(place); return; }
  fill(place, el('h3', {}, 'Values that belong together'),
    el('p', {}, 'Where people are shown in groups, a group shows a range of numbers, and lists the words that occur in it. If you say which values belong together, it shows a name for them instead: a region in place of several postal codes.'),
    idle, known.map(column));
  say();
}

/** Whether groups have an effect on the way of publishing that is chosen now. */
export function say() {
  if (!idle) return;
  const isIdle = having('quasi').some((name) => choices.groups.has(name)) && !looksAtGroups();
  fill(idle, isIdle ? el('p', { class: 'said' }, 'The way of publishing that is chosen below shows these columns as they are and looks at no groups. They are kept for the other ways.') : null);
}

function summary(name) {
  const lines = choices.groups.get(name);
  const said = choices.base.attributes?.[name] || {};
  if (lines) return `${count(new Set(lines.flatMap((line) => line.slice(1, -1).filter((label) => label !== line[0]))).size)} groups of ${counted(lines.length, 'value')}`;
  if (said.prefix) return 'by first letters, as the recipe says';
  if (said.intervals) return 'by ranges, as the recipe says';
  return 'no groups';
}

/** One column; what is inside is made when it is opened. */
function column(name) {
  const about = el('span', { class: 'soft' }, summary(name));
  const place = el('div', {});
  const node = el('details', { class: 'grouped', 'data-column': name }, el('summary', {}, el('strong', {}, name), ': ', about), place);
  const editor = editors.get(name) || { isOpen: false, made: null };
  editors.set(name, editor);
  const redraw = () => {
    about.textContent = summary(name);
    if (!choices.groups.has(name)) { editor.made = null; fill(place, offers(name, place, redraw)); return; }
    if (editor.made) { fill(place, editor.made.node, keeping(name, redraw)); return; }
    ask(name, choices.groups.get(name), place, redraw);
  };
  editor.redraw = redraw;
  node.open = editor.isOpen;
  if (editor.isOpen) redraw();
  node.addEventListener('toggle', () => {
    if (node.open && !editor.isOpen) redraw();
    editor.isOpen = node.open;
  });
  return node;
}

function button(words, action) {
  return el('button', { type: 'button', class: 'small', onclick: action }, words);
}

/** What can be done for a column without groups. */
function offers(name, place, redraw) {
  const file = el('input', { type: 'file', accept: '.csv,.txt', id: `groups-file-${name}` });
  file.addEventListener('change', async () => {
    if (!file.files[0]) return;
    const text = (await file.files[0].text()).replace(/^\ufeff/, '');
    ask(name, text.split(/\r?\n/).filter((line) => line.trim()).map((line) => line.split(';').map((label) => label.trim())), place, redraw);
  });
  return el('div', { class: 'row' }, button('Propose groups', () => ask(name, null, place, redraw)),
    el('span', {}, el('label', { for: file.id }, 'or open a file (value;group;…;*): '), file));
}

/** Asks the studio to propose lines, or to compare these with the column. */
async function ask(name, lines, place, redraw) {
  const { table } = choices;
  fill(place, el('p', {}, 'Looking at the values …'), el('progress', { 'aria-label': `Looking at the values of ${name}` }));
  try {
    const request = asked({ column: name }, true);
    // The lines that are to be looked at replace those of before.
    delete request.draft.attributes[name].taxonomy;
    if (lines) request.lines = lines;
    const found = await run(`tables/${table.table}/groups`, request);
    // Another table may have been opened since.
    if (choices.table !== table) return;
    const editor = editors.get(name);
    if (found.problem) throw { message: found.problem, remedy: 'correct the file, or begin with a proposal' };
    editor.made = tree(name, found, (now) => keep(name, now));
    const now = editor.made.lines();
    if (JSON.stringify(now) !== JSON.stringify(choices.groups.get(name))) keep(name, now, 0);
    redraw();
    editor.made.node.querySelector('[role=treeitem][tabindex="0"]')?.focus();
    const without = found.without_line.length;
    tell(without ? `${counted(without, 'value')} had no group and stand alone.` : `${summary(name)}.`);
  } catch (error) {
    if (choices.table !== table) return;
    if (choices.groups.has(name)) fill(place, trouble(error, button('Leave the groups out', () => { leave(name, redraw); })));
    else fill(place, trouble(error), offers(name, place, redraw));
    tell(error.message);
  }
}

/** The groups changed: told once nothing changes any more. */
function keep(name, lines, wait = 200) {
  choices.groups.set(name, lines);
  document.querySelector(`#groups details[data-column="${CSS.escape(name)}"] summary span`).textContent = summary(name);
  clearTimeout(resting);
  resting = setTimeout(() => changed(), wait);
}

function leave(name, redraw) {
  choices.groups.delete(name);
  redraw();
  changed();
  document.querySelector(`#groups details[data-column="${CSS.escape(name)}"] summary`).focus();
}

/** What can be done with the groups of a column as a whole. */
function keeping(name, redraw) {
  const text = () => choices.groups.get(name).map((line) => line.join(';')).join('\n');
  return el('div', { class: 'row' },
    button('Save as a file', () => save(`${name}.csv`, `${text()}\n`, 'text/csv')),
    button('Leave the groups out', () => leave(name, redraw)),
    el('span', { class: 'soft small' }, 'They are part of the recipe.'));
}
