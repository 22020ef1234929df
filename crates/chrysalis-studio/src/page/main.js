// Starts the page: each step is a module, and a change in one of them calls those that follow.

import { get } from './api.js';
import { body, conceal, el, fill, reveal, tell, trouble } from './dom.js';
import { begin, settle } from './draft.js';
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

/** A table was opened: propose everything, and show what it would cost. */
function opened(table) {
  begin(table);
  conceal('attacks', 'questions');
  reveal('roles', 'promise', 'price', 'publish');
  publish.show(released);
  price.show(() => { promise.show(chosen); chosen(); });
  promise.show(chosen);
  roles.show(changed);
  groups.forget();
  changed();
  tell(`${table.name} is open: ${counted(table.rows, 'row')}. Roles and a promise are proposed below.`);
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
    await data.show(state, opened);
  } catch (error) {
    fill(body('data'), trouble(error, el('button', { type: 'button', onclick: start }, 'Try again')));
  }
}

start();
