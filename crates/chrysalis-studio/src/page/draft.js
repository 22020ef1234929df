// What the owner chose: roles, promise, way of publishing. It becomes one draft, as the recipe has it.

import { parsed } from './words.js';

/** What a column may be. The words are those of people, the names those of the recipe. */
export const ROLES = [
  ['quasi', 'others may know it'],
  ['sensitive', 'secret'],
  ['identifier', 'names somebody: left out'],
  ['none', 'left out'],
  ['person', 'numbers people with several rows: left out'],
  ['other', 'kept as it is (nothing is promised)'],
  ['weight', 'how many people a row stands for: kept as it is'],
];

/** The table that is open, and everything that was chosen about it. */
export const choices = { table: null, roles: new Map(), base: {}, k: 10, columns: new Map(), also: [], method: null, partitioner: null, accept: [], seed: null, groups: new Map(), steps: new Map(), key: '', people: null, kMap: 0 };

/** Which ways of publishing look at groups of values: what the studio says about them. */
let ways = { methods: [], partitioners: [], usual: null };

export function settle(state) {
  ways = state.ways;
}

/** Takes a table and the choices that the studio proposes for it. */
export function begin(table) {
  const draft = table.draft;
  const lists = { quasi: flat(draft.quasi), sensitive: flat(draft.sensitive), other: draft.other || [] };
  choices.table = table;
  choices.base = aboutColumns(draft, lists.sensitive);
  choices.roles = new Map(table.columns.map(({ name }) => {
    const listed = Object.keys(lists).find((role) => lists[role].includes(name));
    const role = name === draft.person ? 'person' : name === draft.weight ? 'weight' : listed || draft.attributes?.[name]?.role || 'none';
    return [name, role];
  }));
  choices.groups = new Map(table.columns.filter(({ name }) => Array.isArray(draft.attributes?.[name]?.taxonomy)).map(({ name }) => [name, draft.attributes[name].taxonomy]));
  choices.steps = new Map(table.columns.map(({ name }) => [name, [draft.attributes?.[name]?.prepare || []].flat()]).filter(([, steps]) => steps.length));
  choices.key = draft.key || 'chrysalis.key';
  choices.people = draft.release?.population_table ? { name: draft.release.population_table } : null;
  choices.method = draft.release?.method || null;
  Object.assign(choices, { partitioner: null, used: null, usedPartitioner: null });
  choices.accept = draft.release?.accept || [];
  choices.seed = null;
  read(draft.release?.require || []);
}

const MAPS = ['roles', 'columns', 'groups', 'steps'];

/** Everything that was chosen, as JSON; the table by its number. */
export function snapshot() {
  const { table, ...rest } = choices;
  return { table: table.table, name: table.name, header: table.columns.map(({ name }) => name), choices: { ...rest, ...Object.fromEntries(MAPS.map((part) => [part, [...choices[part]]])) } };
}

/** Takes what was chosen before the page was loaded again, if it is about this table. Says whether it is. */
export function restore(kept) {
  const { table } = choices;
  if (kept?.name !== table.name || JSON.stringify(kept.header) !== JSON.stringify(table.columns.map(({ name }) => name))) return false;
  Object.assign(choices, kept.choices, Object.fromEntries(MAPS.map((part) => [part, new Map(kept.choices[part])])));
  return true;
}

/** What a recipe says of its only secret column, without naming it, is said of the column. */
function aboutColumns(draft, listed) {
  const secret = listed[0] || Object.keys(draft.attributes || {}).find((name) => draft.attributes[name].role === 'sensitive');
  const said = {};
  for (const knob of ['ordinary', 'weights']) if (draft[knob] && secret) said[knob] = draft[knob];
  return { ...draft, attributes: { ...draft.attributes, ...(secret ? { [secret]: { ...draft.attributes?.[secret], ...said } } : {}) } };
}

function flat(names) {
  if (!names) return [];
  return Array.isArray(names) ? names.flat() : [names];
}

/** Takes a list of requirements apart: what has a slider, and what is kept as it is. */
function read(require) {
  const only = having('sensitive')[0] || null;
  choices.columns = new Map();
  choices.also = [];
  [choices.k, choices.kMap] = [1, 0];
  for (const text of require) {
    const one = parsed(text, only);
    const said = one.column === null ? null : sayings(one.column);
    if (one.name === 'k') choices.k = one.numbers[0];
    else if (one.name === 'k-map') choices.kMap = one.numbers[0];
    else if (said && ['l', 'beta', 't'].includes(one.name) && !said.kind) Object.assign(said, { kind: one.name, value: one.numbers[0] });
    else if (said && one.name === 'ke' && one.numbers[0] === 2 && said.apart === null) said.apart = one.numbers[1];
    else choices.also.push(text);
  }
  // A list of promises says all: what it does not mention is not promised.
  if (require.length) having('sensitive').forEach(sayings);
  for (const said of choices.columns.values()) said.kind = said.kind || 'nothing';
}

/** What is promised about a column. */
export function sayings(column) {
  if (!choices.columns.has(column)) choices.columns.set(column, { kind: '', value: 0, apart: null });
  return choices.columns.get(column);
}

/** Columns with a role, in the order of the table. */
export function having(role) {
  return choices.table.columns.map(({ name }) => name).filter((name) => choices.roles.get(name) === role);
}

/** Requirements as the recipe writes them. */
export function requirements() {
  const secret = having('sensitive');
  const about = (column, text) => (secret.length > 1 ? `${column}:${text}` : text);
  const require = choices.k > 1 ? [`k=${choices.k}`] : [];
  for (const column of secret) {
    const said = sayings(column);
    if (!said.kind) Object.assign(said, { kind: 'l', value: 2 });
    if (said.kind !== 'nothing') require.push(about(column, `${said.kind}=${said.value}`));
    if (said.apart !== null) require.push(about(column, `ke=2,${said.apart}`));
  }
  if (choices.people && choices.kMap > 1) require.push(`k-map=${choices.kMap}`);
  const isMeant = (text) => {
    const { column, name } = parsed(text, secret[0]);
    return name === 'k-map' || name === 'delta-presence' || column === null || secret.includes(column);
  };
  return require.concat(choices.also.filter(isMeant));
}

/** Adds a requirement that the studio advises. */
export function require(text) {
  const one = parsed(text, having('sensitive')[0]);
  if (one.column && one.name === 'ke' && one.numbers[0] === 2) sayings(one.column).apart = one.numbers[1];
  else if (one.column && ['l', 'beta', 't'].includes(one.name)) Object.assign(sayings(one.column), { kind: one.name, value: one.numbers[0] });
  else if (one.name === 'k') choices.k = one.numbers[0];
  else if (one.name === 'k-map') choices.kMap = one.numbers[0];
  else if (!choices.also.includes(text)) choices.also.push(text);
}

/** Whether the chosen way of publishing looks at groups of values. */
export function looksAtGroups() {
  const release = choices.base.release || {};
  const method = choices.method || release.method || ways.usual;
  const [, looks, usual] = ways.methods.find(([name]) => name === method) || [method, true, null];
  const own = choices.partitioner || (method === (release.method || ways.usual) ? release.partitioner : null) || usual;
  return looks || ways.partitioners.some(([name, does]) => name === own && does);
}

/** The way of publishing that is used. */
export function wayUsed() {
  return choices.method || choices.used || choices.base.release?.method || ways.usual;
}

/** Whether it publishes the known columns as they are, so that the row of a person can be found by them. */
export function showsExactly() {
  const method = wayUsed();
  const [, looks] = ways.methods.find(([name]) => name === method) || [method, true];
  // Permuted columns are shown as they are, but not in the order of the rows.
  return !looks && method !== 'permute';
}

/** The column that seems to number people with several rows, and is not chosen: `{name, rows}`, with their rows if they were counted. */
export function severalRows() {
  if (having('person').length) return null;
  const { rows, columns } = choices.table;
  const found = columns.find(({ guess, distinct, missing }) => guess === 'person' && rows - missing > distinct);
  return found ? { name: found.name, rows: found.repeated } : null;
}

/** Whether rows are no people: some people have several of them. */
export function countsRows() {
  return having('person').length > 0 || severalRows() !== null;
}

/** The role of a column is this now. Only one column numbers people, and only one weighs rows. */
export function assign(column, role) {
  for (const [one, other] of [['person', 'identifier'], ['weight', 'none']]) if (role === one) having(one).forEach((name) => choices.roles.set(name, other));
  choices.roles.set(column, role);
}

/** What is done with the values of a column before anything else. */
export function steps(name) {
  return choices.steps.get(name) || [];
}

/** Whether steps need the owner's key. */
export function isKeyed(some) {
  return some.some((step) => /^(pseudonym|shift)/.test(step));
}

/** How a column is prepared. Its kind is then what comes out, unless a recipe says what that is. */
function prepared(name, said, kind) {
  const now = steps(name);
  const before = JSON.stringify([choices.base.attributes?.[name]?.prepare || []].flat());
  delete said.prepare;
  if (now.length === 0) return said.kind || kind;
  said.prepare = now;
  if (before !== JSON.stringify(now)) delete said.kind;
  return said.kind;
}

/** The groups of a known column: what the owner made, or what a recipe says. */
function grouped(name, said) {
  const lines = choices.groups.get(name);
  if (lines) {
    for (const knob of ['intervals', 'prefix']) delete said[knob];
    said.taxonomy = lines;
  } else if (Array.isArray(said.taxonomy)) delete said.taxonomy;
}

/** The choices as a draft. Groups without effect are left out, unless they are for every way (`isForAll`). */
export function draft(isForAll = false) {
  const { base } = choices;
  const attributes = {};
  for (const { name, kind } of choices.table.columns) {
    const role = choices.roles.get(name);
    const said = { ...(base.attributes?.[name] || {}) };
    delete said.role;
    if (role === 'quasi') grouped(name, said);
    if (role === 'quasi' && !isForAll && !looksAtGroups()) for (const knob of ['intervals', 'prefix', 'taxonomy']) delete said[knob];
    // A taxonomy has no effect on a role that shows values as they are.
    if (role !== 'quasi') for (const knob of ['intervals', 'prefix', 'taxonomy']) if (!(role === 'sensitive' && knob === 'taxonomy')) delete said[knob];
    if (role !== 'sensitive') for (const knob of ['categories', 'weights', 'ordinary', 'near']) delete said[knob];
    if (['quasi', 'sensitive', 'other'].includes(role)) {
      const now = prepared(name, said, kind);
      attributes[name] = { role, ...said };
      if (now) attributes[name].kind = now;
      if (attributes[name].kind === 'ordinal' && !attributes[name].order) delete attributes[name].kind;
    } else if (role === 'identifier') attributes[name] = { role };
    else if (role === 'weight' && steps(name).length) attributes[name] = { prepare: steps(name) };
  }
  const release = { ...(base.release || {}), require: requirements() };
  if (choices.partitioner || (choices.method && choices.method !== release.method)) {
    for (const knob of ['partitioner', 'relaxed', 'transparent', 'suppress', 'metric', 'levels', 'time_limit', 'marginals', 'bucket_columns', 'group_column']) delete release[knob];
    release.method = choices.method;
    if (choices.partitioner) release.partitioner = choices.partitioner;
  }
  const isAboutPeople = release.require.some((text) => /^(k-map|delta-presence)=/.test(text));
  if (isAboutPeople && choices.people) release.population_table = choices.people.name;
  else delete release.population_table;
  if (choices.accept.length) release.accept = choices.accept;
  else delete release.accept;
  const made = { attributes, release };
  for (const knob of ['missing', 'rows_known', 'rows_per_person']) if (base[knob] !== undefined) made[knob] = base[knob];
  const person = having('person')[0];
  const [weight] = having('weight');
  if (weight) made.weight = weight;
  if (Object.values(attributes).some(({ prepare }) => isKeyed(prepare || []))) made.key = choices.key;
  if (person) made.person = person;
  else for (const knob of ['rows_known', 'rows_per_person']) delete made[knob];
  return made;
}

/** A request about the choices. */
export function asked(more = {}, isForAll = false) {
  const request = { draft: draft(isForAll), ...more };
  if (request.draft.release.population_table && choices.people.population) request.population = choices.people.population;
  return request;
}
