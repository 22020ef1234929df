// Requests to the studio, and nowhere else. Addresses are relative, so that they keep the token.

/** What the studio says when it cannot do something. */
export class Trouble extends Error {
  constructor({ fault, message, remedy, knobs }) {
    super(message);
    this.fault = fault;
    this.remedy = remedy || '';
    this.knobs = knobs || [];
  }
}

const silence = {
  fault: 'silence',
  message: 'the studio does not answer any more',
  remedy: 'start it again in a terminal with `chrysalis studio` and open the address that it prints. What you chose is still shown here until you close this page. A release that was being written to a folder is there as a whole or not at all',
};

const halted = { fault: 'stopped', message: 'this was cancelled' };

async function answer(path, options) {
  let response;
  try {
    response = await fetch(`api/${path}`, options);
  } catch (error) {
    throw new Trouble(error.name === 'AbortError' ? halted : silence);
  }
  let told;
  try {
    told = await response.json();
  } catch {
    throw new Trouble(silence);
  }
  if (told.error && told.state === undefined) throw new Trouble(told.error);
  return told;
}

export function get(path) {
  return answer(path);
}

export function post(path, value) {
  return answer(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) });
}

/** Sends a file; `signal` stops it. With `isKeptAlive`, closing the page does not. */
export function put(path, bytes, signal = null, isKeptAlive = false) {
  return answer(path, { method: 'PUT', headers: { 'content-type': 'application/octet-stream' }, body: bytes, signal, keepalive: isKeptAlive });
}

/** Follows a job to its end. `progress` is told how far it is; `signal` stops it. */
export async function follow(id, progress = () => {}, signal = null) {
  const stop = () => answer(`jobs/${id}`, { method: 'DELETE' }).catch(() => {});
  if (signal?.aborted) stop();
  signal?.addEventListener('abort', stop, { once: true });
  for (;;) {
    const told = await answer(`jobs/${id}`);
    if (told.state === 'done') return { ...told.result, notes: told.notes };
    if (told.state !== 'running') throw Object.assign(new Trouble(told.error), { isWritten: !told.can_stop });
    progress(told);
  }
}

/** Starts a job and follows it to its end. */
export async function run(path, value, progress, signal) {
  const { job } = await post(path, value);
  return follow(job, progress, signal);
}
