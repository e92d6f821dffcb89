// Form of an endpoint, the same for the API and the office.
import { type Input, optional, type Reading } from '../../access/form.ts';
import { originError } from '../../http/conventions.ts';
import { changeActions, urlError } from './endpoints.ts';
import type { OutgoingConfig } from './outgoing-request.ts';

export function endpointForm(config: OutgoingConfig, resourceNames: readonly string[]) {
  return {
    url: urlInput(config),
    resources: optional(choicesInput(resourceNames)),
    actions: optional(choicesInput(changeActions)),
    excludeOrigin: optional(originInput),
  };
}

function urlInput(config: OutgoingConfig): Input<string> {
  return {
    isRequired: true,
    read(value): Reading<string> {
      if (typeof value !== 'string') return { code: 'type', params: { type: 'string' } };
      if (value.trim() === '') return { code: 'blank' };
      return urlError(config, value.trim()) ?? { value: value.trim() };
    },
  };
}

/** Null or nothing is everything. */
function choicesInput(choices: readonly string[]): Input<readonly string[] | null> {
  return {
    isRequired: true,
    read(value): Reading<readonly string[] | null> {
      if (value === null) return { value };
      const isKnown = Array.isArray(value) && value.every((one) => choices.includes(one));
      if (!isKnown) return { code: 'invalid_choice', params: { choices } };
      return { value: value.length > 0 ? [...new Set(value as string[])] : null };
    },
  };
}

/** Null or blank is nobody. */
const originInput: Input<string | null> = {
  isRequired: true,
  read(value): Reading<string | null> {
    if (value === null) return { value };
    if (typeof value !== 'string') return { code: 'type', params: { type: 'string' } };
    if (value.trim() === '') return { value: null };
    return originError(value) ?? { value };
  },
};
