// Step: the release is made and written, with its certificate and the recipe that repeats it.

import { follow, get, post } from './api.js';
import { body, copier, save as download, el, fill, notice, sentence, tell, trouble } from './dom.js';
import { asked, choices, having } from './draft.js';
import { remember } from './keep.js';
import { advised } from './promise.js';
import { count, counted, percent, plain, shown } from './words.js';

const PHASES = {
  waiting: 'Waiting', read: 'Reading the table', microdata: 'Reading the table', population: 'Reading the second table', rows: 'Forming groups', partition: 'Forming groups', classes: 'Forming groups', distances: 'Forming groups',
  publish: 'Making the release', draw: 'Making the release', write: 'Writing', audit: 'Published. Checking it from its own tables', measure: 'Measuring',
};

let settings;
let place;
let result;
/** The last release, and what was chosen for it. */
let kept;
let last;
let then;
/** The publication that is under way: what shows it, and which table it is of. */
let under = null;

export function settle(state) {
  settings = state;
}

export function show(released) {
  then = released;
  place = el('input', { type: 'text', id: 'folder', value: 'release', size: 24, 'aria-describedby': 'folder-help' });
  const zip = el('input', { type: 'radio', name: 'to', id: 'to-zip', checked: true });
  const folder = el('input', { type: 'radio', name: 'to', id: 'to-folder' });
  place.addEventListener('input', () => { folder.checked = true; });
  const seed = el('input', { type: 'number', id: 'seed', min: 0, step: 1, size: 10, value: choices.seed ?? '' });
  seed.addEventListener('change', () => { choices.seed = seed.value === '' ? null : Math.max(0, Math.floor(Number(seed.value))); });
  result = el('div', {});
  kept = el('div', {});
  last = null;
  const working = el('div', { id: 'working' }, under?.node);
  fill(body('publish'),
    el('fieldset', {}, el('legend', {}, 'Where to'),
      el('p', {}, zip, el('label', { for: 'to-zip' }, 'A file to download')),
      el('p', {}, folder, el('label', { for: 'to-folder' }, 'A new folder: '), ' ', el('span', {}, el('label', { for: 'folder', class: 'unseen' }, 'Name of the folder'), place)),
      el('p', { class: 'soft small', id: 'folder-help' }, `Relative to ${settings.home}, or in full. Certificate and recipe are written beside it, not into it.`)),
    el('details', {}, el('summary', {}, 'For experiments'),
      el('p', {}, el('label', { for: 'seed' }, 'A fixed seed: '), seed, el('span', { class: 'soft small' }, ' The same release can then be made again, and anybody who knows the seed can undo the randomness: such a release says that it is for experiments only. The recipe never has the seed in it.'))),
    el('div', { class: 'several' }),
    el('div', { class: 'row' },
      el('button', { type: 'button', class: 'main', id: 'go', disabled: under !== null, onclick: () => start(folder.checked ? place.value : null) }, 'Publish'),
      el('button', { type: 'button', onclick: save }, 'Download the recipe')),
    working, result, kept);
}

/** Goes on with what the page showed before it was loaded again: a publication that is under way, and the last release. */
export async function resume({ publishing, release }) {
  if (publishing && !under) carry(() => publishing.job, publishing);
  if (!release) return;
  try {
    const made = await get(`releases/${release.id}`);
    last = release.last;
    done(made, false);
    then(made);
  } catch (error) {
    if (error.fault === 'silence') return;
    remember({ release: null });
    fill(kept, notice('', `The release of ${release.last.at} is no longer in the memory of the studio.`, release.folder ? el('p', {}, 'It is still in ', el('code', {}, release.folder), '.') : null));
  }
}

/** Everything that a release depends on; not what was consented to. */
function wanted() {
  const { draft, ...more } = asked();
  return JSON.stringify([choices.table.table, { ...draft, release: { ...draft.release, accept: null } }, more]);
}

/** What is to be said above everything about the last release, if it is not one of the choices as they are now. */
export function aged() {
  return last && last.wanted !== wanted() ? `About the release published at ${last.at}, before your last change.` : '';
}

/** The choices changed: what was said about them is no longer true. */
export function forget() {
  choices.accept = [];
  if (result) fill(result);
}

/** The recipe of what is chosen, before or without publishing. */
async function save() {
  try {
    const told = await post(`tables/${choices.table.table}/recipe`, asked({ seed: choices.seed }));
    download('chrysalis.toml', told.recipe, 'application/toml');
    fill(result, notice('', 'The recipe was downloaded.', el('p', {}, 'Beside the table, this command repeats what you chose:'), el('pre', {}, told.command)));
  } catch (error) {
    fill(result, trouble(error, advised(error)));
  }
}

function start(folder) {
  if (having('quasi').length === 0) {
    failed({ fault: 'request', message: 'no column is marked as known to others, so nobody would be protected', remedy: 'mark at least one column as “others may know it”, such as age or sex', knobs: [] }, folder);
    return;
  }
  const request = asked({ seed: choices.seed });
  if (folder !== null) request.folder = folder;
  const path = `tables/${choices.table.table}/publish`;
  fill(result);
  carry(async () => (await post(path, request)).job, { folder, about: wanted(), table: choices.table.table, name: choices.table.name }, true);
}

/** Follows a publication to its end, whatever is chosen meanwhile. */
async function carry(begin, order, isAsked = false) {
  const stopping = new AbortController();
  const bar = el('progress', { 'aria-label': 'Publishing' });
  const line = el('p', {}, 'Publishing …');
  const cancel = el('button', { type: 'button', id: 'cancel', onclick: () => stopping.abort() }, 'Cancel');
  under = { node: el('div', {}, line, bar, el('div', { class: 'row' }, cancel)) };
  busy();
  if (isAsked) cancel.focus();
  const isHere = () => choices.table?.table === order.table;
  try {
    const job = await begin();
    remember({ publishing: { ...order, job } });
    const made = await follow(job, (told) => {
      line.textContent = `${PHASES[told.phase] || 'Publishing'} …${isHere() ? '' : ` (${order.name})`}`;
      if (told.total) [bar.max, bar.value] = [told.total, Math.min(told.done, told.total)];
      else bar.removeAttribute('value');
      if (!told.can_stop && document.activeElement === cancel) attend(line);
      cancel.hidden = !told.can_stop;
    }, stopping.signal);
    under = null;
    busy();
    if (!isHere()) { elsewhere(made); return; }
    last = { wanted: order.about, at: new Date().toLocaleTimeString('en-GB') };
    remember({ release: { id: made.release, last, folder: made.folder } });
    done(made, true);
    then(made);
  } catch (error) {
    under = null;
    busy();
    failed(error, order.folder, isHere());
  } finally {
    remember({ publishing: null });
  }
}

/** One publication at a time. */
function busy() {
  fill(document.getElementById('working'), under?.node);
  document.getElementById('go').disabled = under !== null;
}

/** Another table was opened while the release of one was made: nothing else that is shown is about it. */
function elsewhere(made) {
  kept.prepend(notice('', `The release of ${made.table}, which was open before, is ready.`, whereTo(made), downloads(made)));
  tell(`The release of ${made.table} is ready.`);
}

/** The focus goes to what is new. */
function attend(node) {
  node?.setAttribute('tabindex', '-1');
  node?.focus({ preventScroll: true });
}

function failed(error, folder, isHere = true) {
  if (error.fault === 'stopped') {
    // A key of the owner's may have been made: it is no part of a release.
    const words = `The publication was cancelled. ${asked().draft.key ? 'Nothing was published' : 'Nothing was written'}.`;
    fill(result, notice('', words));
    document.getElementById('go').focus();
    tell(words);
    return;
  }
  const accepts = !isHere ? [] : error.knobs.filter(({ knob, value }) => knob === 'accept' && value).map(({ value }) => el('button', {
    type: 'button',
    onclick: () => { choices.accept = [...choices.accept, value]; start(folder); },
  }, value === 'disclosure' ? 'Publish all the same, and say so in the release' : `Publish all the same (${value})`));
  const nothing = error.fault === 'silence' || error.isWritten ? null : el('p', {}, last ? `Nothing new was published. The release of ${last.at} is still there:` : 'Nothing was published.');
  const advice = isHere ? advised(error) : [];
  // Where every way out has a button, the buttons say it.
  const said = advice.length && accepts.length ? { message: error.message } : error;
  fill(result, trouble(said, [...advice, ...accepts]), nothing);
  attend(result.firstChild);
  tell(error.message);
}

/** Where the release is. */
function whereTo(made) {
  const { report } = made;
  return el('p', {}, made.folder
    ? [`${counted(report.rows, 'row')} in ${counted(report.groups, 'group')} were written to `, el('code', {}, made.folder), '. Beside it: ', el('code', {}, made.beside[0]), ' and ', el('code', {}, made.beside[1]), '.']
    : `${counted(report.rows, 'row')} in ${counted(report.groups, 'group')} are ready. Detail lost: ${percent(report.ncp)}. The file holds the release, in a folder of its own, and its certificate.`);
}

function downloads(made) {
  const base = `api/releases/${made.release}`;
  const file = (name, words, isMain) => el('a', { class: isMain ? 'button main' : 'button', href: `${base}/${name}`, download: name }, words);
  return el('div', { class: 'row' }, file('release.zip', 'Download the release', !made.folder), file('certificate.html', 'Certificate'), file('chrysalis.toml', 'Recipe, for you alone'));
}

function done(made, isNew) {
  const { report, told } = made;
  const tone = { holds: 'good', failed: 'bad', exposed: 'bad' }[told.verdict] || '';
  const isSeeded = / --seed \d+$/.test(made.command);
  fill(result);
  fill(kept, el('div', { class: 'kept' }, el('div', { class: 'aged' }),
    notice(tone, told.headline, told.meaning.map((text) => el('p', {}, text))),
    whereTo(made), downloads(made),
    el('p', {}, `Hand out the release and its certificate. Keep the recipe: it says how the release was made, names your files, and can list values that the release does not show.${isSeeded ? ' Tell nobody the seed, which is in the command below and nowhere else.' : ''}`),
    report.dropped_rows ? el('p', { class: 'soft' }, `${counted(report.dropped_rows, 'row')} with missing values were left out.`) : null,
    el('p', {}, `${made.folder ? 'This command repeats it' : `Beside ${made.with_population ? 'both tables' : 'the table'} and the recipe, this command repeats it`}${isSeeded ? ', and gives the same release:' : ', with new randomness:'}`),
    el('pre', { id: 'command' }, made.command), el('div', { class: 'row' }, copier(() => made.command, 'the command')),
    made.notes?.length ? el('ul', { class: 'small soft' }, made.notes.map((note) => el('li', {}, plain(sentence(note))))) : null,
    el('details', {}, el('summary', {}, 'The recipe'), el('pre', { class: 'long', tabindex: '0' }, made.recipe)),
    el('details', {}, el('summary', {}, `What was checked (${count(told.checks.length)})`), el('ul', {}, told.checks.map((check) => el('li', {}, el('span', { class: check.ok ? 'good-word' : 'bad-word' }, check.ok ? 'ok ' : 'FAILED '), `${check.name}: ${check.detail}`))))));
  if (!isNew) return;
  attend(kept.querySelector('.said'));
  tell(`${told.headline}. ${shown(report.rows)} rows were published.`);
}
