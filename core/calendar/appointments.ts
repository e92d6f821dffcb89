// Appointments of a site, by the days that they are on and the planned days that they replace.

import type { Steps } from '../pace.ts';
import { type Span, toMinutes } from './open-windows.ts';

export const appointmentStatuses = ['PROPOSED', 'CONFIRMED', 'CANCELLED'] as const;

/** An appointment as the API returns it. */
export interface Appointment {
  readonly id: string;
  readonly date: string;
  readonly plannedDate?: string | undefined;
  readonly timeFrom?: string | undefined;
  readonly timeUntil?: string | undefined;
  readonly durationInMinutes?: number | undefined;
  readonly employeeId?: string | undefined;
  readonly status: (typeof appointmentStatuses)[number];
  readonly comment?: string | undefined;
}

export interface AppointmentDays {
  readonly on: ReadonlyMap<string, readonly Appointment[]>;
  /** Planned days whose visits an appointment replaces. */
  readonly replaced: ReadonlySet<string>;
}

const perStep = 10;

export function* indexAppointments(appointments: readonly Appointment[]): Steps<AppointmentDays> {
  const on = new Map<string, Appointment[]>();
  const replaced = new Set<string>();
  for (const [index, appointment] of appointments.entries()) {
    if (index % perStep === perStep - 1) yield;
    on.getOrInsertComputed(appointment.date, () => []).push(appointment);
    if (appointment.plannedDate !== undefined) replaced.add(appointment.plannedDate);
  }
  return { on, replaced };
}

const minutesPerDay = 1440;

/** The agreed times; undefined if none are agreed. Without an end, as long as the visit takes, or the rest of the day. */
export function agreedSpan(
  { timeFrom, timeUntil }: Appointment,
  durationInMinutes: number | undefined,
): Span | undefined {
  if (timeFrom === undefined && timeUntil === undefined) return undefined;
  const start = timeFrom === undefined ? 0 : toMinutes(timeFrom);
  if (timeUntil === undefined) return { start, end: start + (durationInMinutes ?? minutesPerDay - start) };
  const end = toMinutes(timeUntil);
  return { start, end: end > start ? end : end + minutesPerDay };
}
