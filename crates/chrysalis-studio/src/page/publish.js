// Step: the release is made and written, with its certificate and the recipe that repeats it.

import { post, run } from './api.js';
import { body, copier, save as download, el, fill, notice, sentence, tell, trouble } from './dom.js';
import { asked, choices, having } from './draft.js';
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

export function settle(state) {
  settings = state;
}

export function show(released) {
  then = released;
  place = el('input', { type: 'text', id: 'folder', value: 'release', size: 24, 'aria-describedby': 'folder-help' });
  const zip = el('input', { type: 'radio', name: 'to', id: 'to-zip', checked: true });
  const folder = el('input', { type: 'radio', name: 'to', id: 'to-folder' });
  place.addEventListener('input', () => { folder.checked = true; });
  const seed = el('input', { type: 'number', id: 'seed', min: 0, step: 1, size: 10 });
  seed.addEventListener('change', () => { choices.seed = seed.value === '' ? null : Math.max(0, Math.floor(Number(seed.value))); });
  result = el('div', {});
  kept = el('div', {});
  last = null;
  fill(body('publish'),
    el('fieldset', {}, el('legend', {}, 'Where to'),
      el('p', {}, zip, el('label', { for: 'to-zip' }, 'A file to download')),
      el('p', {}, folder, el('label', { for: 'to-folder' }, 'A new folder: '), ' ', el('span', {}, el('label', { for: 'folder', class: 'unseen' }, 'Name of the folder'), place)),
      el('p', { class: 'soft small', id: 'folder-help' }, `Relative to ${settings.home}, or in full. Certificate and recipe are written beside it.`)),
    el('details', {}, el('summary', {}, 'For experiments'),
      el('p', {}, el('label', { for: 'seed' }, 'A fixed seed: '), seed, el('span', { class: 'soft small' }, ' The same release can then be made again, and anybody who knows the seed can undo the randomness.'))),
    el('div', { class: 'several' }),
    el('div', { class: 'row' },
      el('button', { type: 'button', class: 'main', id: 'go', onclick: () => start(folder.checked ? place.value : null) }, 'Publish'),
      el('button', { type: 'button', onclick: save }, 'Download the recipe')),
    result, kept);
}

/** Everything that a release depends on; not what was consented to. */
function wanted() {
  const { draft, ...more } = asked();
  return JSON.stringify([{ ...draft, release: { ...draft.release, accept: null } }, more]);
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

async function start(folder) {
  const go = document.getElementById('go');
  if (having('quasi').length === 0) {
    failed({ fault: 'request', message: 'no column is marked as known to others, so nobody would be protected', remedy: 'mark at least one column as “others may know it”, such as age or sex', knobs: [] }, folder);
    return;
  }
  const stopping = new AbortController();
  const bar = el('progress', { 'aria-label': 'Publishing' });
  const line = el('p', {}, 'Publishing …');
  const cancel = el('button', { type: 'button', id: 'cancel', onclick: () => stopping.abort() }, 'Cancel');
  const request = asked({ seed: choices.seed });
  const about = wanted();
  fill(result, line, bar, el('div', { class: 'row' }, cancel));
  cancel.focus();
  go.disabled = true;
  try {
    if (folder !== null) request.folder = folder;
    const made = await run(`tables/${choices.table.table}/publish`, request, (told) => {
      line.textContent = `${PHASES[told.phase] || 'Publishing'} …`;
      if (told.total) [bar.max, bar.value] = [told.total, Math.min(told.done, told.total)];
      else bar.removeAttribute('value');
      if (!told.can_stop && document.activeElement === cancel) attend(line);
      cancel.hidden = !told.can_stop;
    }, stopping.signal);
    last = { wanted: about, at: new Date().toLocaleTimeString('en-GB') };
    go.disabled = false;
    done(made);
    then(made);
  } catch (error) {
    go.disabled = false;
    failed(error, folder);
  }
}

/** The focus goes to what is new. */
function attend(node) {
  node?.setAttribute('tabindex', '-1');
  node?.focus({ preventScroll: true });
}

function failed(error, folder) {
  if (error.fault === 'stopped') {
    // A key of the owner's may have been made: it is no part of a release.
    const words = `The publication was cancelled. ${asked().draft.key ? 'Nothing was published' : 'Nothing was written'}.`;
    fill(result, notice('', words));
    document.getElementById('go').focus();
    tell(words);
    return;
  }
  const accepts = error.knobs.filter(({ knob, value }) => knob === 'accept' && value).map(({ value }) => el('button', {
    type: 'button',
    onclick: () => { choices.accept = [...choices.accept, value]; start(folder); },
  }, value === 'disclosure' ? 'Publish all the same, and say so in the release' : `Publish all the same (${value})`));
  const nothing = error.fault === 'silence' || error.isWritten ? null : el('p', {}, last ? `Nothing new was published. The release of ${last.at} is still there:` : 'Nothing was published.');
  fill(result, trouble(error, [...advised(error), ...accepts]), nothing);
  attend(result.firstChild);
  tell(error.message);
}

function done(made) {
  const { report, told } = made;
  const base = `api/releases/${made.release}`;
  const file = (name, words, isMain) => el('a', { class: isMain ? 'button main' : 'button', href: `${base}/${name}`, download: name }, words);
  const tone = { holds: 'good', failed: 'bad', exposed: 'bad' }[told.verdict] || '';
  fill(result);
  fill(kept, el('div', { class: 'kept' }, el('div', { class: 'aged' }),
    notice(tone, told.headline, told.meaning.map((text) => el('p', {}, text))),
    el('p', {}, made.folder
      ? [`${counted(report.rows, 'row')} in ${counted(report.groups, 'group')} were written to `, el('code', {}, made.folder), '. Beside it: ', el('code', {}, made.beside[0]), ' and ', el('code', {}, made.beside[1]), '.']
      : `${counted(report.rows, 'row')} in ${counted(report.groups, 'group')} are ready. Detail lost: ${percent(report.ncp)}. The file holds the release in a folder of its own, its certificate and its recipe.`),
    el('div', { class: 'row' }, file('release.zip', 'Download the release', !made.folder), file('certificate.html', 'Certificate'), file('chrysalis.toml', 'Recipe')),
    report.dropped_rows ? el('p', { class: 'soft' }, `${counted(report.dropped_rows, 'row')} with missing values were left out.`) : null,
    el('p', {}, made.folder ? 'This command repeats it:' : `Beside ${asked().population ? 'both tables' : 'the table'} and the recipe, this command repeats it:`),
    el('pre', { id: 'command' }, made.command), el('div', { class: 'row' }, copier(() => made.command, 'the command')),
    made.notes?.length ? el('ul', { class: 'small soft' }, made.notes.map((note) => el('li', {}, plain(sentence(note))))) : null,
    el('details', {}, el('summary', {}, 'The recipe'), el('pre', { class: 'long', tabindex: '0' }, made.recipe)),
    el('details', {}, el('summary', {}, `What was checked (${count(told.checks.length)})`), el('ul', {}, told.checks.map((check) => el('li', {}, el('span', { class: check.ok ? 'good-word' : 'bad-word' }, check.ok ? 'ok ' : 'FAILED '), `${check.name}: ${check.detail}`))))));
  attend(kept.querySelector('.said'));
  tell(`${told.headline}. ${shown(report.rows)} rows were published.`);
}
