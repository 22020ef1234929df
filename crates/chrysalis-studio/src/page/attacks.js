// Step: what attackers can do with the release, alone and together with a second one.

import { post, put, run } from './api.js';
import { body, el, fill, notice, table, tell, trouble } from './dom.js';
import { dropping } from './data.js';
import { counted, plain, readable } from './words.js';

let made;
let met;

export function show(release) {
  made = release;
  met = el('div', {});
  const { told } = made;
  const promises = told.promises.map((one) => [plain(one.words), one.holds === null ? 'cannot tell' : one.holds ? el('span', { class: 'good-word' }, 'holds') : el('span', { class: 'bad-word' }, 'broken'), readable(one.worst)]);
  fill(body('attacks'), el('div', { class: 'aged' }),
    promises.length ? table('What was promised', [{ title: 'promise' }, { title: 'result' }, { title: 'worst group has' }], promises, true) : null,
    el('h3', {}, 'Attacks that were tried'),
    el('p', {}, 'An attack that works is no broken promise, unless a promise excludes it: it is a risk for you to judge.'),
    told.attacks.filter(({ state }) => state === 'measured').map(attack),
    el('details', {}, el('summary', {}, 'Attacks that do not apply, or could not be tried'),
      el('ul', {}, told.attacks.filter(({ state }) => state !== 'measured').map(({ name, sentence }) => el('li', {}, el('strong', {}, name), `: ${sentence}`)))),
    el('h3', {}, 'What is not protected'), el('ul', {}, told.not_protected.map((text) => el('li', {}, plain(text)))),
    told.assumptions.length ? [el('h3', {}, 'What the promises assume'), el('ul', {}, told.assumptions.map((text) => el('li', {}, plain(text))))] : null,
    second());
}

function attack({ name, score, sentence }) {
  const found = made.attacks.find((one) => one.attack === name);
  const groups = (found?.worst_groups || []).map((one) => [`group ${one.group}`, counted(one.rows, 'row'), readable(one.level)]);
  return el('details', {}, el('summary', {}, el('strong', {}, name), score ? ` – ${score}` : ''),
    el('p', {}, plain(sentence)),
    found?.prevention ? el('p', { class: 'soft' }, `What helps: ${found.prevention}`) : null,
    groups.length ? table('Groups where it works best', [{ title: 'group' }, { title: 'rows' }, { title: 'level' }], groups, true) : null);
}

/** A second release of the same people. */
function second() {
  const input = el('input', { type: 'file', id: 'second', webkitdirectory: true, multiple: true });
  input.addEventListener('change', () => input.files.length && send([...input.files]));
  const typed = el('input', { type: 'text', id: 'second-folder', size: 24 });
  const named = () => typed.value.trim() && meet(async () => ({ folder: typed.value.trim() }));
  typed.addEventListener('keydown', (event) => { if (event.key === 'Enter') named(); });
  const drop = el('div', { class: 'drop' },
    el('p', {}, el('label', { for: 'second' }, 'Drop the files of another release of the same people here, or choose its folder: '), input),
    el('p', {}, el('label', { for: 'second-folder' }, 'or name its folder: '), typed, ' ',
      el('button', { type: 'button', class: 'small', onclick: named }, 'Intersect')));
  dropping(drop, async (files, transfer) => send(await unfolded(transfer, files)));
  return el('div', {}, el('h3', {}, 'Together with a second release'),
    el('p', {}, 'Whoever gets two releases of the same people can intersect them.'), drop, met);
}

/** The files of a folder that was dropped. */
async function unfolded(transfer, files) {
  const entry = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).find((one) => one?.isDirectory);
  if (!entry) return files;
  const entries = await new Promise((resolve, reject) => { entry.createReader().readEntries(resolve, reject); });
  return Promise.all(entries.filter((one) => one.isFile).map((one) => new Promise((resolve, reject) => { one.file(resolve, reject); })));
}

function send(files) {
  return meet(async () => {
    const { received } = await post('received', {});
    for (const file of files) await put(`received/${received}/${encodeURIComponent(file.name)}`, file);
    return { received };
  });
}

/** What two releases tell together. That nothing was found is no reason to be at ease. */
function verdict({ narrowed, failed }) {
  if (narrowed) return { tone: 'bad', title: 'Together they tell more than each of them alone.' };
  if (failed.length) return { tone: 'bad', title: 'The audit FAILED: whatever is said about the two together cannot be relied on.' };
  return { tone: '', title: 'No promise is broken together.' };
}

async function meet(other) {
  fill(met, el('p', {}, 'Intersecting …'), el('progress', { 'aria-label': 'Intersecting' }));
  try {
    const found = await run(`releases/${made.release}/with`, await other());
    const { tone, title } = verdict(found);
    fill(met, notice(tone, title,
      found.failed.map((one) => el('p', {}, el('span', { class: 'bad-word' }, 'FAILED '), plain(`${one.name}: ${one.detail}`))),
      found.findings.map((one) => [el('p', {}, one.sentence), one.prevention ? el('p', { class: 'soft' }, `What helps: ${one.prevention}`) : null])));
    tell(found.narrowed ? found.findings.map((one) => one.sentence).join(' ') : title);
  } catch (error) {
    fill(met, trouble(error));
  }
}
