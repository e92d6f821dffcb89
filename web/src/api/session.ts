import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import { call } from './client.ts';

export const roles = ['VERWALTUNG', 'BUERO', 'PFLEGE'] as const;
export type Role = (typeof roles)[number];

export interface Me {
  person: { id: string; name: string; email: string; role: Role };
  /** The real business, even while the person works in its test business. */
  business: { id: string; name: string };
  hasTestBusiness?: boolean;
  isInTestBusiness?: boolean;
  /** The business requires a passkey and this person has none: nothing else is possible. */
  needsPasskey?: boolean;
}

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => call<Me>('GET', '/session', { signal }),
  staleTime: Number.POSITIVE_INFINITY,
  retry: false,
});

/** Call it only inside the office, where somebody is signed in. */
export function useMe(): Me {
  return useSuspenseQuery(sessionQuery).data;
}

/** Names what is kept in this browser: things of the test business are not offered in the real one. */
export function businessKeyOf({ business, isInTestBusiness }: Me): string {
  return isInTestBusiness ? `${business.id}-test` : business.id;
}

export function useBusinessKey(): string {
  return businessKeyOf(useMe());
}

/** Loads everything again: nothing of the other business may stay on the page. */
export async function enterTestBusiness(): Promise<void> {
  await call('POST', '/test-business/enter');
  window.location.assign('/');
}

export async function leaveTestBusiness(): Promise<void> {
  await call('POST', '/test-business/leave');
  window.location.assign('/');
}

/** Whether the person can change settings, people and interfaces. */
export function useIsAdministrator(): boolean {
  return useMe().person.role === 'VERWALTUNG';
}

/** Whether the person can edit all master data, imports and visits. */
export function useMayEdit(): boolean {
  return useMe().person.role !== 'PFLEGE';
}

/** Members of an account beside the session. */
export const profileQuery = queryOptions({
  queryKey: ['profile'],
  queryFn: ({ signal }) => call<{ employeeId: string | null }>('GET', '/profile', { signal }),
});

export interface State {
  hasPeople: boolean;
  /** Version of the service; absent before the sign-in. */
  version?: string;
  /** The address that the operator published, where one is set. */
  publicUrl?: string;
  /** Whether the service can send mail. */
  hasMail: boolean;
  /** Whether commands begin with "stamm" instead of npm's way to it. */
  isRelease: boolean;
  /** null where nobody is signed in. */
  me: Me | null;
}

export const stateQuery = queryOptions({
  queryKey: ['state'],
  queryFn: ({ signal }) => call<State>('GET', '/state', { signal }),
});
