// Numbers and promises in words.

const whole = new Intl.NumberFormat('en');

/** `1,234,567`. */
export function count(n) {
  return whole.format(n);
}

/** `1 row`, `2 rows`. */
export function counted(n, thing) {
  return `${count(n)} ${thing}${n === 1 ? '' : 's'}`;
}

/** A share in percent; one that is there is never written as nothing. */
export function percent(share) {
  const value = 100 * share;
  if (value > 0 && value < 0.1) return 'below 0.1 %';
  if (value > 99.9 && value < 100) return 'above 99.9 %';
  return `${value >= 10 || value === 0 ? Math.round(value * 10) / 10 : Math.round(value * 100) / 100} %`;
}

/** What attackers do, for people who know none of the papers. */
const ATTACKS = {
  linking: 'Guessing the secret from a person’s group',
  'row linking': 'Finding the row of a person',
  presence: 'Finding out who is in the table at all',
  joining: 'Putting the tables of the release together',
  similarity: 'Learning what kind of secret it is',
  background: 'Ruling out secrets that a person cannot have',
  learned: 'Learning from all groups at once',
  insider: 'Knowing one secret, and guessing another',
  minimality: 'Reasoning from how groups were cut',
  replay: 'Making the groups again for other secrets',
  republishing: 'Collecting releases of the same table',
  subtraction: 'Comparing before and after somebody leaves',
  extremes: 'Knowing who has the smallest or largest value',
  bystander: 'Knowing also the columns that are kept as they are',
  together: 'Knowing one of the columns that are shown together',
  intersection: 'Putting two releases together',
  series: 'Following people through a series of releases',
  pooling: 'Users putting together what they know',
};

/** The name of an attack in plain words, with the column that it is about where there are several. */
export function attackWords(name) {
  const [, own, column] = /^(.*?)(?: \((`.*`)\))?$/.exec(name);
  const words = ATTACKS[own] || own;
  return column ? `${words} (${plain(column)})` : words;
}

/** Enough digits, and no more. */
export function shown(value) {
  if (value === null || value === undefined) return '–';
  if (Number.isInteger(value)) return count(value);
  return Math.abs(value) >= 1000 ? count(Math.round(value)) : String(Number(value.toPrecision(4)));
}

/** A long fraction as a number; anything else as it is. */
export function readable(level) {
  const [, above, below] = /^(\d+)\/(\d+)$/.exec(level ?? '') || [];
  return below?.length > 4 ? `about ${shown(Number(above) / Number(below))}` : level;
}

/** Names in quotation marks, as people write them, and the words of the page for those of the papers. */
export function plain(text) {
  return text.replaceAll(/`([^`]+)`/g, '“$1”').replaceAll(/\bquasi (value|column|attribute)/g, 'known $1').replaceAll('of the microdata', 'of the table');
}

/** Names of columns in a sentence. */
export function named(names) {
  return listed(names.map((name) => `“${name}”`));
}

/** `a, b and c`. */
export function listed(names) {
  if (names.length < 2) return names.join('');
  return `${names.slice(0, -1).join(', ')} and ${names[names.length - 1]}`;
}

/** What a trial of some rows (`tried`) or of all (`isWhole`) gives away: `certain` rows are left a single value, and of these `disclosed` ones are no ordinary value. */
export function givenAway({ certain, disclosed, tried, isWhole, hasSecret }) {
  const where = isWhole ? '' : ', in this trial';
  if (!hasSecret || disclosed === null || disclosed === undefined) return { value: '–', words: hasSecret ? 'not measured' : 'no column is secret, so nothing is kept from anybody', tone: '' };
  if (disclosed > 0 && !isWhole) return { value: percent(disclosed / tried), words: `of the rows that were tried (${count(disclosed)} of ${count(tried)}): their group gives the secret away. Of all rows there may be more or fewer`, tone: 'bad' };
  if (disclosed > 0) return { value: counted(disclosed, 'row'), words: 'their group gives the secret away', tone: 'bad' };
  if (certain > 0) return { value: counted(0, 'row'), words: `${counted(certain, 'row')} ${certain === 1 ? 'is' : 'are'} left a single value, but an ordinary one${where}`, tone: '' };
  return { value: counted(0, 'row'), words: `nobody’s group leaves a single value${where}`, tone: 'good' };
}

/** One requirement, such as `disease:l=4`, in its parts. `only` is the column it is about when none is named. */
export function parsed(text, only) {
  const at = text.lastIndexOf(':');
  const column = at > 0 ? text.slice(0, at) : only;
  const [name, value] = (at > 0 ? text.slice(at + 1) : text).split('=');
  return { text, column: ['k', 'k-map', 'delta-presence'].includes(name) ? null : column, name, value, numbers: (value || '').split(',').map(Number) };
}

/** What a requirement means, as the rest of a sentence about everybody. Rows may be found (`isExact`), and may be no people (`isOfRows`); other columns may be kept as they are (`isKept`). */
export function meaning(one, { isExact = false, isOfRows = false, isKept = false } = {}) {
  const column = one.column ? `“${one.column}”` : 'secret';
  const [first, second] = one.numbers;
  switch (one.name) {
    case 'k':
      if (isExact) return `every group has at least ${counted(first, isOfRows ? 'row' : 'person').replace('persons', 'people')} (${isOfRows ? 'which' : 'whose rows'} can still be found)`;
      return `every ${isOfRows ? 'row' : 'person'} stands among at least ${count(first)}${isKept ? ' (by what others may know: columns that are kept as they are can tell them apart)' : ''}`;
    case 'k-map': return `at least ${count(first)} people of the second table fit what is shown of every group`;
    case 'l': return `no ${column} is surer than 1 in ${shown(first)}`;
    case 'others-l': return `no ${column}, except ordinary ones, is surer than 1 in ${shown(first)}`;
    case 'beta': return `no ${column} is more than ${shown(1 + first)} times as likely as in the whole table`;
    case 't': return `${column} is spread in every group much like in the whole table (at most ${shown(first)} away)`;
    case 'ke': return `the numbers of ${column} in every group lie at least ${shown(second)} apart`;
    case 'distinct-l': return `every group has at least ${shown(first)} different values of ${column}`;
    default: return `${one.text} holds in every group`;
  }
}

/** An error of the studio without the signs of a recipe. */
export function worded(message) {
  const [, promise, reason] = /^cannot reach (\S.*?=[\d.,]+): (.*)$/s.exec(message ?? '') || [];
  return promise ? `this table cannot promise that ${meaning(parsed(promise))}: ${reason}` : message ?? '';
}

/** The promise as one sentence. */
export function promised(require, only, how = {}) {
  if (require.length === 0) return 'Nothing is promised yet.';
  const parts = require.map((text) => meaning(parsed(text, only), how));
  const joined = listed(parts);
  return `${joined.charAt(0).toUpperCase()}${joined.slice(1)}.`;
}
