// Starts the page: each step is a module, and a change in one of them calls those that follow.

import { get } from './api.js';
import { body, conceal, el, fill, reveal, tell, trouble } from './dom.js';
import { begin, restore, settle, snapshot } from './draft.js';
import { recall, remember } from './keep.js';
import * as data from './data.js';
import * as roles from './roles.js';
import * as groups from './groups.js';
import * as prepare from './prepare.js';
import * as promise from './promise.js';
import * as price from './price.js';
import * as publish from './publish.js';
import * as attacks from './attacks.js';
import * as questions from './questions.js';
import { counted } from './words.js';

/** What this tab chose before it was loaded again, until a table is open. */
let kept = null;

/** A table was opened: propose everything, and show what it would cost. */
function opened(table) {
  begin(table);
  const before = kept;
  kept = null;
  const isBack = restore(before);
  conceal('attacks', 'questions');
  reveal('roles', 'promise', 'price', 'publish');
  publish.show(released);
  if (isBack) publish.resume(before, table);
  else remember({ release: null });
  price.show(() => { promise.show(chosen); chosen(); });
  promise.show(chosen);
  roles.show(changed);
  groups.forget();
  changed();
  if (isBack) price.resume(before);
  tell(`${table.name} is open: ${counted(table.rows, 'row')}. ${isBack ? 'Your choices are as they were' : 'Roles and a promise are proposed below'}.`);
}

/** Another role: the exposure and the promise are drawn again. */
function changed() {
  roles.warn();
  roles.draw();
  prepare.show((name) => { groups.again(name); chosen(); });
  groups.show(chosen);
  promise.show(chosen);
  chosen();
}

/** Another promise: the price is found again. */
async function chosen() {
  publish.forget();
  remember({ reading: null, ...snapshot() });
  age();
  groups.say();
  if (await promise.check()) price.ask();
  else price.stop();
}

/** What is said about a release is about what was chosen then. */
function age() {
  const old = publish.aged();
  for (const place of document.querySelectorAll('.aged')) fill(place, old ? el('p', { class: 'said' }, old) : null);
}

function released(made) {
  reveal('attacks', 'questions');
  attacks.show(made);
  questions.show(made);
  age();
}

async function start() {
  try {
    const state = await get('state');
    document.getElementById('version').textContent = `Chrysalis ${state.version} · this page is served by this machine to this machine; nothing is sent anywhere else.`;
    publish.settle(state);
    settle(state);
    kept = await recall();
    await data.show(state, opened, kept);
  } catch (error) {
    fill(body('data'), trouble(error, el('button', { type: 'button', onclick: start }, 'Try again')));
  }
}

start();
