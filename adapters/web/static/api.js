'use strict';

// The calls of the HTTP API that the page makes. A refusal is thrown as an
// APIError; a server that can't be reached as a TypeError, as fetch does.

export class APIError extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const base = '/api/v1/';
const sessionPath = (id, rest = '') => `sessions/${encodeURIComponent(id)}${rest}`;

async function call(method, path, body) {
  const options = { method, headers: {}, credentials: 'same-origin' };
  if (body !== undefined) {
    options.headers['Content-Type'] = 'application/json';
    options.body = JSON.stringify(body);
  }
  const response = await fetch(base + path, options);
  if (!response.ok) throw await refusal(response);
  return response;
}

async function refusal(response) {
  try {
    const { error } = await response.json();
    return new APIError(response.status, error.code, error.message);
  } catch {
    return new APIError(response.status, 'http', `the server answered ${response.status}`);
  }
}

const json = async (...args) => (await call(...args)).json();

export const listAdapters = () => json('GET', 'adapters');
export const listSessions = () => json('GET', 'sessions');
export const createSession = (body) => json('POST', 'sessions', body);
export const closeSession = (id) => call('DELETE', sessionPath(id, '?state=living'));
export const forgetSession = (id) => call('DELETE', sessionPath(id, '?state=ended'));
export const sendInput = (id, text) => json('POST', sessionPath(id, '/input'), { text, submit: true });
export const pressKeys = (id, keys) => call('POST', sessionPath(id, '/keys'), { keys });
export const getReceipt = (id) => json('GET', `receipts/${encodeURIComponent(id)}`);
export const cancelReceipt = (id) => json('DELETE', `receipts/${encodeURIComponent(id)}`);
export const getOutput = (id, from, limit) => json('GET', sessionPath(id, `/output?from=${from}&limit=${limit}`));
export const getScreen = async (id) => (await call('GET', sessionPath(id, '/screen?format=html'))).text();
export const eventsURL = (id, from) => `${base}events?session=${encodeURIComponent(id)}&from=${encodeURIComponent(from)}`;
