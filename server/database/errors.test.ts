import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explainTimeout, isDatabaseAway, toApiError } from './errors.ts';

test('a mistake in the program is never called an outage, whatever words it uses', () => {
  for (const error of [
    new TypeError('socket.setTimeout is not a function'),
    new RangeError('Invalid timeout'),
    new ReferenceError('connection terminated is not defined'),
    Object.assign(new TypeError('Invalid URL'), { code: 'ERR_STREAM_WRAP' }),
  ]) {
    assert.equal(explainTimeout(error, false), error);
    assert.equal(isDatabaseAway(error), false, error.message);
    assert.equal(toApiError(error).code, 'internal_error', error.message);
  }
});

test('timeouts and broken connections of the driver are an outage', () => {
  for (const error of [
    new Error('timeout exceeded when trying to connect'),
    new Error('Connection terminated unexpectedly'),
    Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
    Object.assign(new Error('closed'), { code: 'ERR_STREAM_PREMATURE_CLOSE' }),
  ])
    assert.equal(toApiError(error).code, 'database_unavailable', error.message);
});
