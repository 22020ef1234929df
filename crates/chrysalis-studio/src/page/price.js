// Step: what the promise costs, found by a trial that is made and thrown away; and what other ways would cost.

import { follow, post, run } from './api.js';
import { body, el, fill, picture, table, tell, trouble } from './dom.js';
import { remember } from './keep.js';
import { explainAt } from './promise.js';
import { asked, choices, having, showsExactly } from './draft.js';
import { attackWords, count, counted, givenAway, percent, plain, shown } from './words.js';

/** Questions of a trial. */
const QUESTIONS = 200;

let figures;
let waiting;
let method;
let others;
let changed;
let trial;
let comparison;
/** A comparison that is under way: what shows it, what it is about, and what stops it. */
let comparing;

export function show(then) {
  // What is under way is about the table of before.
  trial?.abort();
  comparing?.stopping.abort();
  [trial, comparing] = [null, null];
  changed = then;
  figures = el('div', {});
  waiting = el('div', {});
  method = el('div', {});
  others = el('div', {});
  fill(body('price'), waiting, figures, method, others);
}

/** Stops a trial that nobody wants any more. */
export function stop() {
  trial?.abort();
  trial = null;
  fill(waiting);
  figures.classList.add('stale');
}

/** Finds the price of the choices: of some rows at once, of all when asked for. */
export async function ask(isWhole = false) {
  stop();
  const own = new AbortController();
  trial = own;
  ways();
  if (!figures.hasChildNodes()) fill(figures, el('p', { class: 'soft' }, 'Making a trial …'));
  const since = Date.now();
  try {
    const found = await run(`tables/${choices.table.table}/price`, asked({ all_rows: isWhole }), (told) => {
      // What is done soon needs no bar.
      if (!own.signal.aborted && Date.now() - since > 1500) patient(told);
    }, own.signal);
    if (own.signal.aborted) return;
    fill(waiting);
    figures.classList.remove('stale');
    draw(found);
  } catch (error) {
    if (own.signal.aborted || error.fault === 'stopped') return;
    fill(waiting);
    // What a trial finds that cannot be kept is said where it is set, too.
    if (error.fault === 'infeasible' && explainAt(error)) {
      fill(figures, el('p', {}, 'A trial could not keep this promise. Why, and what helps, is said beside its slider.'));
    } else fill(figures, trouble(error));
    figures.classList.remove('stale');
    tell(error.message);
  }
}

/** How far a long trial is. */
function patient({ about, done, total }) {
  const bar = waiting.querySelector('progress') || el('progress', { 'aria-label': 'Making a trial' });
  if (total) [bar.max, bar.value] = [total, Math.min(done, total)];
  else bar.removeAttribute('value');
  fill(waiting, el('p', { class: 'soft small' }, about ? `Making a trial: ${about} …` : 'Making a trial …'), bar);
}

/** How often an attack is right at best. */
function share(attack) {
  return Number(/([\d.]+)\s*%/.exec(attack?.score)?.[1] ?? 0);
}

/** A name within a sentence. */
function inside(name) {
  return name.charAt(0).toLowerCase() + name.slice(1);
}

/** Who only finds the group of a person, and who knows more. Which row is whose has a figure of its own. */
function best(attacks) {
  const scored = attacks.filter(({ name, score }) => /at best$/.test(score) && !/^(row linking|presence)/.test(name));
  const order = (one, other) => share(other) - share(one);
  const [linking] = scored.filter(({ name }) => name.startsWith('linking')).sort(order);
  const [more] = scored.filter(({ name }) => !name.startsWith('linking')).sort(order);
  const words = more && share(more) > share(linking) ? `; ${share(more)} % by ${inside(attackWords(more.name))}` : '';
  return { value: linking ? `${share(linking)} %` : '–', words: `the surest guess of whoever finds a person’s group${words}` };
}

/** Whether the row of a person is found, and whether somebody is in the table at all. */
function rowFound(attacks) {
  const named = (name) => attacks.find((one) => one.name === name && one.state === 'measured');
  const [row, there] = [named('row linking'), named('presence')];
  const exact = showsExactly() ? '. Known columns are published as they are' : '';
  const certain = /certain for ([\d,]+) row/.exec(there?.score)?.[1];
  const present = certain && certain !== '0' ? `; that a person is in the table is certain for ${certain} rows` : /at best$/.test(there?.score) ? `; that a person is in the table: right in ${share(there)} % at best` : '';
  if (!row) return { value: '–', words: `not measured${present}`, tone: '' };
  return { value: `${share(row)} %`, words: `the surest for whoever knows the known columns of a person${exact}${present}`, tone: share(row) >= 50 ? 'bad' : '' };
}

function figure(title, value, words, tone = '') {
  return el('div', { class: tone }, el('dt', {}, title), el('dd', { class: 'value' }, value), el('dd', { class: 'soft' }, words));
}

function draw(found) {
  const attack = best(found.attacks);
  const row = rowFound(found.attacks);
  const isWhole = found.tried_rows === found.rows;
  const [ordinary] = found.assumptions.filter((text) => text.startsWith('What counts as disclosed'));
  const given = givenAway({ certain: found.certain_rows, disclosed: found.disclosed_rows, tried: found.tried_rows, isWhole, hasSecret: having('sensitive').length > 0 });
  fill(figures,
    el('dl', { class: 'figures' },
      figure('Detail lost', percent(found.loss), 'of what the known columns tell (0 % nothing, 100 % all)'),
      figure('Typical error', found.error === null ? '–' : percent(found.error), 'half of the answers to random questions are off by no more than this'),
      figure('Best guess of a secret', attack.value, attack.words),
      figure('A person’s row is found', row.value, row.words, row.tone),
      figure('Secrets given away', given.value, given.words, given.tone)),
    found.certain_rows > 0 && !found.disclosed_rows && ordinary ? el('p', { class: 'soft small' }, plain(ordinary)) : null,
    el('p', { class: 'soft small', id: 'tried', tabindex: '-1' }, isWhole ? `Tried on all ${counted(found.rows, 'row')}, and thrown away.${found.fell_back ? ` ${count(choices.table.sample)} rows alone could not keep the promise.` : ''}` : `Tried on ${count(found.tried_rows)} of ${counted(found.rows, 'row')}, chosen at random, and thrown away: an estimate. Detail lost and typical error are usually a little lower with all rows. `,
      isWhole ? null : el('button', { type: 'button', class: 'small', onclick: async () => { await ask(true); document.getElementById('tried')?.focus(); } }, 'Try all rows')),
    el('div', { class: 'columns' }, picture(found.chart), seen(found)));
  tell(`Detail lost: ${percent(found.loss)}. Secrets given away: ${given.value}, ${given.words}.`);
}

/** What a reader of the release would get. No row is shown, not even of a trial. */
function seen(found) {
  const rows = found.tables.map((one) => [one.table, one.columns.join(', '), count(one.rows)]);
  const groups = found.groups ? `${counted(found.groups, 'group')} of ${count(found.smallest_group)} to ${counted(found.largest_group, 'row')}. ` : '';
  const exact = found.loss_by_column.length === 0 ? 'Known columns are shown as they are. ' : '';
  return el('div', {}, el('h3', {}, 'What a reader would get'),
    el('p', {}, groups, exact, 'The release is made of these tables:'),
    table('Tables of the release', [{ title: 'table' }, { title: 'columns' }, { title: 'rows', number: true }], rows, true));
}

/** The ways of publishing. */
function ways() {
  const known = choices.methods || [];
  if (known.length < 2) { fill(method); fill(others, comparing?.node); return; }
  const used = choices.method || choices.used;
  const select = el('select', { id: 'method' }, known.map(({ name }) => el('option', { value: name, selected: name === used }, name)));
  const about = el('span', { class: 'soft' }, `${plain(known.find(({ name }) => name === used)?.about || '')}${choices.partitioner ? `, by ${choices.partitioner}` : ''}`);
  select.addEventListener('change', () => { Object.assign(choices, { method: select.value, partitioner: null }); changed(); document.getElementById('method')?.focus(); });
  fill(method, el('p', {}, el('label', { for: 'method' }, 'How groups are shown: '), select, ' ', about));
  const start = (isWhole) => el('button', { type: 'button', onclick: () => compare(isWhole) }, isWhole ? 'Compare on all rows' : 'Compare all ways');
  if (comparing) { fill(others, comparing.node); return; }
  fill(others, el('div', { class: 'row' }, start(false), choices.table.rows > choices.table.sample ? start(true) : null),
    comparison?.about === wanted() ? compared(comparison.found) : null);
}

/** Everything but the way of publishing: under another promise a comparison says nothing. */
function wanted() {
  const { draft, ...more } = asked({}, true);
  return JSON.stringify([choices.table.table, { ...draft, release: { ...draft.release, method: null, partitioner: null } }, more]);
}

/** The ways are there again; the focus was at what is gone. */
function again() {
  const isHere = document.activeElement === document.body || others.contains(document.activeElement);
  ways();
  if (isHere) others.querySelector('button')?.focus();
}

/** The comparison that was there, or under way, before the page was loaded again. */
export function resume({ comparing: before }) {
  if (before) carry(() => before.job, before.about);
}

/** Every way side by side. */
function compare(isWhole) {
  const request = asked({ all_rows: isWhole }, true);
  // As many questions as of a trial: the same way has the same error in both.
  request.draft.compare = { queries: QUESTIONS };
  return carry(async () => (await post(`tables/${choices.table.table}/compare`, request)).job, wanted(), true);
}

async function carry(begin, about, isAsked = false) {
  const stopping = new AbortController();
  const line = el('p', {}, 'Comparing …');
  const cancel = el('button', { type: 'button', onclick: () => stopping.abort() }, 'Cancel');
  const own = { about, stopping, node: el('div', {}, line, el('progress', { 'aria-label': 'Comparing' }), el('div', { class: 'row' }, cancel)) };
  comparing = own;
  fill(others, own.node);
  if (isAsked) cancel.focus();
  let problem = null;
  try {
    const job = await begin();
    remember({ comparing: { job, about } });
    const found = await follow(job, (told) => {
      if (told.about) line.textContent = `Comparing ${told.about} …`;
    }, stopping.signal);
    if (comparing !== own) return;
    comparison = { about, found };
    tell('The comparison is there.');
  } catch (error) {
    if (comparing !== own) return;
    remember({ comparing: null });
    problem = error.fault === 'stopped' ? el('p', {}, 'The comparison was cancelled.') : trouble(error);
  }
  comparing = null;
  if (isAsked) again();
  else ways();
  // After the page was loaded again, a comparison that is no longer known is no trouble.
  if (problem && !isAsked) return;
  if (problem) others.append(problem);
  else if (about !== wanted()) others.append(el('p', { class: 'soft' }, 'The comparison was about another promise and is not shown.'));
}

function compared(found) {
  const columns = [{ title: 'way' }, { title: 'detail lost', number: true }, { title: 'typical error', number: true }, { title: 'best guess', number: true }, { title: 'a person’s row is found', number: true }, { title: 'rows given away', number: true }, { title: 'choose' }];
  const isWhole = found.tried_rows === found.rows;
  const part = (value) => (value === null || value === undefined ? '–' : percent(value));
  const rows = found.runs.map((one) => {
    if (!one.made) return [one.name, '–', '–', '–', '–', '–', isWhole ? `cannot be made: ${one.reason}` : `cannot be made of so few rows: ${one.reason}. All rows may do better`];
    const isUsed = one.method === (choices.method || choices.used) && one.partitioner === (choices.partitioner || choices.usedPartitioner);
    const use = isUsed ? 'in use' : el('button', { type: 'button', class: 'small', 'aria-label': `Use ${one.name}`, onclick: () => { Object.assign(choices, { method: one.method, partitioner: one.partitioner }); changed(); document.getElementById('method')?.focus(); } }, 'Use');
    const given = having('sensitive').length === 0 ? '–' : one.disclosed_rows ? el('span', { class: 'bad-word' }, shown(one.disclosed_rows)) : shown(one.disclosed_rows);
    return [one.name, part(one.ncp), part(one.median_error), part(one.linking), one.row_linking > 0.5 ? el('span', { class: 'bad-word' }, part(one.row_linking)) : part(one.row_linking), given, use];
  });
  const advice = found.choose.map((one) => el('li', {}, el('strong', {}, one.goal), `: ${one.sentence}`));
  return el('div', {},
    table(`Ways of publishing under the same promise, tried on ${counted(found.tried_rows, 'row')}`, columns, rows, true),
    advice.length ? el('details', {}, el('summary', {}, 'Which to choose'), el('ul', {}, advice)) : null,
    el('p', {}, el('a', { href: `api/pages/${found.page}`, download: 'comparison.html' }, 'Keep the whole comparison as a page')));
}
