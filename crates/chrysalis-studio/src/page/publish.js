// Step: the release is made and written, with its certificate and the recipe that repeats it.

import { post, run } from './api.js';
import { body, copier, save as download, el, fill, notice, sentence, tell, trouble } from './dom.js';
import { asked, choices } from './draft.js';
import { advised } from './promise.js';
import { count, counted, percent, shown } from './words.js';

const PHASES = { waiting: 'Waiting', read: 'Reading the table', cut: 'Forming groups', write: 'Writing', audit: 'Published. Checking it from its own tables', measure: 'Measuring', search: 'Searching' };

let settings;
let place;
let result;
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
  fill(body('publish'),
    el('fieldset', {}, el('legend', {}, 'Where to'),
      el('p', {}, zip, el('label', { for: 'to-zip' }, 'A file to download')),
      el('p', {}, folder, el('label', { for: 'to-folder' }, 'A new folder: '), ' ', el('span', {}, el('label', { for: 'folder', class: 'unseen' }, 'Name of the folder'), place)),
      el('p', { class: 'soft small', id: 'folder-help' }, `Relative to ${settings.home}, or in full. Certificate and recipe are written beside it.`)),
    el('details', {}, el('summary', {}, 'For experiments'),
      el('p', {}, el('label', { for: 'seed' }, 'A fixed seed: '), seed, el('span', { class: 'soft small' }, ' The same release can then be made again, and anybody who knows the seed can undo the randomness.'))),
    el('div', { class: 'row' },
      el('button', { type: 'button', class: 'main', id: 'go', onclick: () => start(folder.checked ? place.value : null) }, 'Publish'),
      el('button', { type: 'button', onclick: save }, 'Download the recipe')),
    result);
}

/** The choices changed: what was said about them is no longer true. */
export function forget() {
  choices.accept = [];
  if (result && !result.querySelector('.kept')) fill(result);
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
  const stopping = new AbortController();
  const bar = el('progress', { 'aria-label': 'Publishing' });
  const line = el('p', {}, 'Publishing …');
  const cancel = el('button', { type: 'button', id: 'cancel', onclick: () => stopping.abort() }, 'Cancel');
  go.disabled = true;
  fill(result, line, bar, el('div', { class: 'row' }, cancel));
  try {
    const request = asked({ seed: choices.seed });
    if (folder !== null) request.folder = folder;
    const made = await run(`tables/${choices.table.table}/publish`, request, (told) => {
      line.textContent = `${PHASES[told.phase] || `Publishing: ${told.phase}`} …`;
      if (told.total) [bar.max, bar.value] = [told.total, Math.min(told.done, told.total)];
      else bar.removeAttribute('value');
      cancel.hidden = !told.can_stop;
    }, stopping.signal);
    done(made);
    then(made);
  } catch (error) {
    failed(error, folder);
  }
  go.disabled = false;
}

function failed(error, folder) {
  if (error.fault === 'stopped') {
    // A key of the owner's may have been made: it is no part of a release.
    const words = `The publication was cancelled. ${asked().draft.key ? 'Nothing was published' : 'Nothing was written'}.`;
    fill(result, notice('', words));
    tell(words);
    return;
  }
  const accepts = error.knobs.filter(({ knob, value }) => knob === 'accept' && value).map(({ value }) => el('button', {
    type: 'button',
    onclick: () => { choices.accept = [...choices.accept, value]; start(folder); },
  }, value === 'disclosure' ? 'Publish all the same, and say so in the release' : `Publish all the same (${value})`));
  const kept = error.fault === 'silence' || error.isWritten ? null : el('p', {}, 'Nothing was published.');
  fill(result, trouble(error, [...advised(error), ...accepts]), kept);
  tell(error.message);
}

function done(made) {
  const { report, told } = made;
  const base = `api/releases/${made.release}`;
  const file = (name, words, isMain) => el('a', { class: isMain ? 'button main' : 'button', href: `${base}/${name}`, download: name }, words);
  const tone = { holds: 'good', failed: 'bad', exposed: 'bad' }[told.verdict] || '';
  fill(result, el('div', { class: 'kept' },
    notice(tone, told.headline, told.meaning.map((text) => el('p', {}, text))),
    el('p', {}, made.folder
      ? [`${counted(report.rows, 'row')} in ${counted(report.groups, 'group')} were written to `, el('code', {}, made.folder), '. Beside it: ', el('code', {}, made.beside[0]), ' and ', el('code', {}, made.beside[1]), '.']
      : `${counted(report.rows, 'row')} in ${counted(report.groups, 'group')} are ready. Detail lost: ${percent(report.ncp)}. The file holds the release in a folder of its own, its certificate and its recipe.`),
    el('div', { class: 'row' }, file('release.zip', 'Download the release', !made.folder), file('certificate.html', 'Certificate'), file('chrysalis.toml', 'Recipe')),
    report.dropped_rows ? el('p', { class: 'soft' }, `${counted(report.dropped_rows, 'row')} with missing values were left out.`) : null,
    el('p', {}, made.folder ? 'This command repeats it:' : `Beside ${asked().population ? 'both tables' : 'the table'} and the recipe, this command repeats it:`),
    el('pre', { id: 'command' }, made.command), el('div', { class: 'row' }, copier(() => made.command, 'the command')),
    made.notes?.length ? el('ul', { class: 'small soft' }, made.notes.map((note) => el('li', {}, sentence(note)))) : null,
    el('details', {}, el('summary', {}, 'The recipe'), el('pre', { class: 'long', tabindex: '0' }, made.recipe)),
    el('details', {}, el('summary', {}, `What was checked (${count(told.checks.length)})`), el('ul', {}, told.checks.map((check) => el('li', {}, el('span', { class: check.ok ? 'good-word' : 'bad-word' }, check.ok ? 'ok ' : 'FAILED '), `${check.name}: ${check.detail}`))))));
  tell(`${told.headline}. ${shown(report.rows)} rows were published.`);
}
